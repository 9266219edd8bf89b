import { Unavailable } from "./errors.js";

/** What is needed of a client of node-redis (packages redis and @redis/client). */
export interface Connection {
  get(key: string): Promise<unknown>;
  hmGet(key: string, fields: string[]): Promise<unknown>;
  xAdd(key: string, id: string, fields: Record<string, string>): Promise<unknown>;
  xRead(streams: { key: string; id: string }, options: { BLOCK: number }): Promise<unknown>;
  time(): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  duplicate(): Connection;
  connect(): Promise<unknown>;
  destroy(): void;
  on(event: "error", listener: (error: unknown) => void): unknown;
}

/** Gives one command, for a bounded time: a node-redis client that has no connection holds commands back for ever. */
export async function bounded<T>(command: () => Promise<T>, within: number, signal?: AbortSignal): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let abort: (() => void) | undefined;
  const bound = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Away(`Redis did not answer within ${Math.round(within)} milliseconds`)), within);
    abort = () => reject(signal!.reason);
    signal?.addEventListener("abort", abort, { once: true });
  });
  try {
    return await Promise.race([command(), bound]);
  } catch (e) {
    throw isAway(e) ? new Away(`Redis cannot be reached: ${(e as Error).message}`, { cause: e }) : e;
  } finally {
    clearTimeout(timer);
    if (abort) signal?.removeEventListener("abort", abort);
  }
}

/** Redis cannot be reached just now. */
export class Away extends Unavailable {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "Unavailable";
  }
}

/** Whether a command failed for want of a connection: a refusal by Redis itself begins with a code in capitals. */
function isAway(e: unknown): boolean {
  if (e instanceof Away || !(e instanceof Error)) return false;
  if (e instanceof DOMException || e instanceof TypeError) return false;
  return !/^[A-Z]{3,} /.test(e.message) || /^(LOADING|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|UNBLOCKED|READONLY) /.test(e.message);
}

export interface Entry {
  id: string;
  message: Record<string, string>;
}

/** The entries of one stream that was read. */
export function entriesOf(reply: unknown): Entry[] {
  return ((reply as { messages: Entry[] }[] | null)?.[0]?.messages ?? []) as Entry[];
}

/** The time that Redis tells, in milliseconds. */
export function millis(reply: unknown): number {
  if (reply instanceof Date) return reply.getTime();
  const [seconds, micros] = reply as [string, string];
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}
