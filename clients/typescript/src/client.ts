import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { claimScript } from "./claim-script.js";
import { Away, type Connection, bounded, entriesOf, millis } from "./connection.js";
import { ClaimRefused, type ClaimStatus, NotMine, Taken, TimedOut, Unavailable, Unknown } from "./errors.js";
import { type Answer, type Pending, type Report, type Request, type Row, type Undo, readAnswer, readUndo } from "./model.js";
import { Keys } from "./signature.js";
import { validId } from "./fields.js";
import { checkClaim, checkReport, checkRequest, checkWithdrawal, toBytes } from "./rules.js";

export interface ClientOptions {
  /** Default: approvals. */
  namespace?: string;
  /** The inbound stream by which this runtime asks, if it has one of its own. */
  stream?: string;
  /** For how many milliseconds a wait goes on while Redis cannot be reached. Default: 300,000. */
  away?: number;
  /** How many milliseconds one command may take. Default: 10,000. */
  commandTimeout?: number;
  /** How many milliseconds one read of an answer blocks. Default: 2,000. */
  block?: number;
  /** Public keys, as PEM, of which one must have signed an answer or undo request, else BadSignature is thrown. */
  keys?: readonly string[];
}

export interface WaitOptions {
  /** Milliseconds, after which TimedOut is thrown. Default: none. */
  timeout?: number;
  signal?: AbortSignal;
}

/** How many milliseconds after it was published a request must have a row, and after its deadline an answer. */
const patience = 30_000;
const scriptSha = createHash("sha1").update(claimScript).digest("hex");

/**
 * A runtime's side of the queue.
 *
 * It keeps nothing: what it needs to go on after a restart is in Pending. The connection is
 * lent, and never closed; each wait has one of its own, made by `duplicate`, since a read that
 * blocks holds up all that comes after it.
 *
 * Every verb throws Invalid before anything is sent if what it is given breaks a rule, and
 * Unavailable if Redis cannot be reached.
 */
export class Client {
  private readonly prefix: string;
  private readonly stream: string;
  private readonly own: boolean;
  private readonly away: number;
  private readonly commandTimeout: number;
  private readonly block: number;
  private readonly keys: Keys | undefined;

  constructor(
    private readonly redis: Connection,
    options: ClientOptions = {},
  ) {
    this.prefix = `{${options.namespace ?? "approvals"}}:`;
    this.own = options.stream !== undefined;
    this.stream = options.stream ?? `${this.prefix}requests`;
    this.away = options.away ?? 300_000;
    this.commandTimeout = options.commandTimeout ?? 10_000;
    this.block = options.block ?? 2_000;
    this.keys = options.keys && new Keys(options.keys);
  }

  /**
   * Publishes a request, as JSON text or as an object. Throws Unavailable where nobody would
   * read it and Taken where another request has its id. The same request published twice is
   * one approval. noCheck publishes whatever it is.
   */
  async request(data: Request | string | Uint8Array, options: { stream?: string; noCheck?: boolean } = {}): Promise<Pending> {
    const raw = toBytes(data);
    const { approvalId, terms, pin, fault } = checkRequest(raw);
    const stream = options.stream ?? this.stream;
    if (!options.noCheck) {
      if (fault) throw fault;
      await this.served(stream);
      const [taken] = await this.fields(approvalId, "terms");
      if (taken != null && taken !== terms) throw new Taken(`request ${approvalId}: this id is taken by another request`);
    }
    const text = typeof data === "string" ? data : Buffer.from(raw).toString();
    const entry = await this.publish(stream, "approval.requested", `${approvalId}/requested`, text);
    return { approval_id: approvalId, stream, entry, terms, pin };
  }

  /**
   * Waits for the answer to a request. It may be called again at any time, by whoever has the
   * Pending. The answer is believed only if it is to the very terms and call that were asked,
   * else NotMine. Throws Unknown if half a minute after publishing there is no row, and
   * Unavailable if half a minute after its deadline the row is still open.
   */
  async awaitAnswer(pending: Pending, options: WaitOptions = {}): Promise<Answer> {
    if (!validId(pending.approval_id)) throw new Unknown(`await ${pending.approval_id}: no such approval`);
    return this.follow(pending.approval_id, "approval.answered", options, (data) => judge(pending, data), () => this.look(pending));
  }

  /** Waits until an owner asks for the undo. When the row is gone it throws Unknown. */
  async awaitUndo(approvalId: string, options: WaitOptions = {}): Promise<Undo> {
    return this.follow(approvalId, "approval.undo_requested", options, readUndo, async () => {
      await this.row(approvalId);
      return undefined;
    });
  }

  /**
   * Takes the right to run an approved call, once. The pin is the caller's own, that of the call
   * it is about to run. Where streams are given, an approval that came by another one is
   * refused. Throws ClaimRefused; any other error leaves open whether the claim was made. Run
   * the call only if nothing was thrown.
   */
  async claim(approvalId: string, pin: string, by: string, ...streams: string[]): Promise<void> {
    const data = toBytes({ approval_id: approvalId, pin, by });
    checkClaim(data);
    const options = {
      keys: [this.key("claim", approvalId)],
      arguments: [this.key("row", approvalId), pin, by, `${approvalId}/claimed`, Buffer.from(data).toString(), ...streams],
    };
    let status: unknown;
    try {
      status = await this.ask(() => this.redis.evalSha(scriptSha, options));
    } catch (e) {
      if (!(e instanceof Error) || !e.message.startsWith("NOSCRIPT")) throw e;
      status = await this.ask(() => this.redis.eval(claimScript, options));
    }
    if (status !== "ok") throw new ClaimRefused(approvalId, status as ClaimStatus);
  }

  /** Who has claimed an approval, undefined if nobody has. */
  async claimant(approvalId: string): Promise<string | undefined> {
    const found = (await this.ask(() => this.redis.hmGet(this.key("claim", approvalId), ["by"]))) as (string | null)[];
    return found[0] ?? undefined;
  }

  /** Says what happened to an approved call. It may be said again; the last report counts. */
  async report(approvalId: string, report: Report): Promise<void> {
    const { outcome, results, message, undo_until } = report;
    const data = toBytes({ approval_id: approvalId, outcome, results, message, undo_until });
    checkReport(data);
    const stream = await this.streamOf(approvalId);
    await this.publish(stream, "approval.reported", `${approvalId}/reported`, Buffer.from(data).toString());
  }

  /**
   * Takes a request back. Before there is a row it is remembered on this client's own stream, if
   * one was given, else Unknown is thrown.
   */
  async withdraw(approvalId: string, reason?: string): Promise<void> {
    const data = toBytes({ approval_id: approvalId, reason: reason || undefined });
    checkWithdrawal(data);
    let stream: string;
    try {
      stream = await this.streamOf(approvalId);
    } catch (e) {
      if (!(e instanceof Unknown) || !this.own) throw e;
      stream = this.stream;
    }
    await this.publish(stream, "approval.withdrawn", `${approvalId}/withdrawn`, Buffer.from(data).toString());
  }

  /** Reads an approval; throws Unknown. */
  async row(approvalId: string): Promise<Row> {
    const names = ["state", "ref", "stream", "terms", "pin", "opened_at", "expires_at", "request", "answer", "report", "undo"];
    const found = await this.fields(approvalId, ...names);
    if (!found[0]) throw new Unknown(`row ${approvalId}: no such approval`);
    const o: Record<string, string | number> = { approval_id: approvalId };
    names.forEach((name, i) => (o[name] = found[i] ?? ""));
    for (const name of ["opened_at", "expires_at"]) o[name] = Number(o[name]) || 0;
    return o as unknown as Row;
  }

  private key(kind: string, approvalId: string): string {
    return `${this.prefix}${kind}:${approvalId}`;
  }

  private async served(stream: string): Promise<void> {
    const alive = (await this.ask(() => this.redis.get(`${this.prefix}alive`))) as string | null;
    if (alive == null) throw new Unavailable("no bot is serving this queue");
    let streams: unknown;
    try {
      streams = JSON.parse(alive);
    } catch {
      throw new Unavailable(`${this.prefix}alive is no list of streams`);
    }
    if (!Array.isArray(streams) || !streams.includes(stream)) throw new Unavailable(`no bot is reading the stream ${stream}`);
  }

  /** Reads the approval's own stream until it has an event of a kind. */
  private async follow<T>(
    approvalId: string, kind: string, options: WaitOptions, take: (data: string) => T, look: () => Promise<string | undefined>,
  ): Promise<T> {
    const believed = take;
    take = (data) => {
      this.keys?.check(data);
      return believed(data);
    };
    const began = performance.now();
    const end = options.timeout === undefined ? Infinity : began + options.timeout;
    let own: Connection | undefined;
    let awaySince: number | undefined;
    let id = "0";
    try {
      for (;;) {
        options.signal?.throwIfAborted();
        const left = end - performance.now();
        if (left <= 0) throw new TimedOut(`await ${approvalId}: nothing within ${options.timeout} milliseconds`);
        try {
          own ??= await this.connect(Math.min(left, this.commandTimeout));
          const reading = own;
          const BLOCK = Math.max(1, Math.floor(Math.min(left, this.block)));
          const entries = entriesOf(await this.ask(
            () => reading.xRead({ key: this.key("answer", approvalId), id }, { BLOCK }), BLOCK + this.commandTimeout, options.signal,
          ));
          for (const entry of entries) {
            id = entry.id;
            if (entry.message.type === kind) return take(entry.message.data ?? "");
          }
          if (entries.length === 0) {
            const found = await look();
            if (found !== undefined) return take(found);
          }
          awaySince = undefined;
        } catch (e) {
          if (!(e instanceof Away)) throw e;
          own?.destroy();
          own = undefined;
          const now = performance.now();
          awaySince ??= now;
          if (now - awaySince >= this.away) throw new Unavailable(`await ${approvalId}: ${e.message}`, { cause: e });
          await sleep(Math.max(1, Math.min(1000, this.block, end - now)), undefined, { signal: options.signal }).catch(() => undefined);
        }
      }
    } finally {
      own?.destroy();
    }
  }

  private async connect(within: number): Promise<Connection> {
    const own = this.redis.duplicate();
    own.on("error", () => undefined); // it comes up in the command
    try {
      await this.ask(() => own.connect(), within);
    } catch (e) {
      own.destroy();
      throw e;
    }
    return own;
  }

  /** Reads the row, where the answer stands too, and decides whether there is something to wait for. */
  private async look(pending: Pending): Promise<string | undefined> {
    const who = `await ${pending.approval_id}`;
    const [state, answer, expires, terms] = await this.fields(pending.approval_id, "state", "answer", "expires_at", "terms");
    const now = millis(await this.ask(() => this.redis.time()));
    if (state == null) {
      if (now - (Number(pending.entry.split("-")[0]) || 0) >= patience) throw new Unknown(`${who}: no such approval`);
      return undefined;
    }
    if (answer) return answer;
    if (terms !== pending.terms) throw new NotMine(`${who}: another request stands under this id`);
    if (expires && now - Number(expires) >= patience) {
      throw new Unavailable(`${who}: still open half a minute after its deadline, so no bot is there`);
    }
    return undefined;
  }

  private async fields(approvalId: string, ...names: string[]): Promise<(string | null)[]> {
    return (await this.ask(() => this.redis.hmGet(this.key("row", approvalId), names))) as (string | null)[];
  }

  private async streamOf(approvalId: string): Promise<string> {
    const [stream] = await this.fields(approvalId, "stream");
    if (!stream) throw new Unknown(`${approvalId}: no such approval`);
    return stream;
  }

  private async publish(stream: string, type: string, id: string, data: string): Promise<string> {
    const fields = { specversion: "1.0", type, id, source: "countersign-client", data };
    return (await this.ask(() => this.redis.xAdd(stream, "*", fields))) as string;
  }

  private ask<T>(command: () => Promise<T>, within = this.commandTimeout, signal?: AbortSignal): Promise<T> {
    return bounded(command, within, signal);
  }
}

/** Reads an answer and believes it only if it is to what was asked. */
export function judge(pending: Pending, data: string): Answer {
  const answer = readAnswer(data);
  const { terms = "", pin = "" } = answer;
  let mine = terms === pending.terms && pin === pending.pin;
  if (answer.decision === "refused") mine = ["", pending.terms].includes(terms) && ["", pending.pin].includes(pin);
  if (answer.approval_id !== pending.approval_id || !mine) {
    throw new NotMine(`answer to ${pending.approval_id}: the answer is not to this request`);
  }
  return answer;
}
