import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Client } from "./client.js";
import { CallFailed, ClaimRefused, Taken } from "./errors.js";
import type { Ledger, Step } from "./ledger.js";
import type { Answer, Card, Pending, Report, Request } from "./model.js";
import { checkRequest, toBytes } from "./rules.js";

/** What a guarded call came to. */
export type Outcome<T> =
  /** It ran, now or before. Before, value is there as far as it is JSON. */
  | { status: "ran"; value: T; unreported?: unknown }
  /** The answer was a no: nothing was run. */
  | { status: "declined"; observation: string; answer: Answer }
  /** It was started and not finished: whether it took effect is not known, and it is not run again. */
  | { status: "unsure"; observation: string };

/** What a run function may return in place of its value where there is more to report than executed. */
export class Ran<T> {
  constructor(
    readonly value: T,
    readonly report: Report,
  ) {}
}

export interface GuardOptions<A extends object, T> {
  tool: string;
  /** Returns the card for a call. */
  describe: (args: A) => Card;
  run: (args: A) => Promise<T | Ran<T>> | T | Ran<T>;
  ledger?: Ledger;
  /** Further fields of the request, such as runtime, effect, context or expires_in. */
  request?: Partial<Omit<Request, "approval_id" | "tool" | "arguments" | "calls" | "card">>;
  /** Who claims. Default: host and process. */
  by?: string;
}

export interface CallOptions {
  /** Names the call, e.g. by the id that the model gave it. Default: a new one. */
  approvalId?: string;
  /** Milliseconds to wait for the answer. */
  timeout?: number;
  signal?: AbortSignal;
}

const unsure = "this was started and then broken off: whether it took effect is not known, so it is not run again";

/**
 * Makes a tool run only after an owner has approved the very call: it asks, waits, claims, runs
 * and reports. What prevents the question, the answer or the claim is thrown, and then nothing
 * was run. What run throws is reported as failed, and thrown. A run that is a generator function
 * throws TypeError here: its body would run when it is iterated, after it was reported.
 *
 * The arguments are pinned as JSON, and run is given what was pinned. What cannot be written as
 * JSON throws Invalid.
 *
 * After a crash: with an approvalId that lasts and a ledger, asking again goes on where it was. A
 * call that was approved but not started runs, one that ran gives its result (as far as that is
 * JSON) and is reported, and nothing runs twice. What no ledger can know is whether a call that
 * was started and not finished took effect: it is not run again, the outcome is unsure, and it is
 * reported as partly done. So it is with a call that is still running elsewhere. To find out,
 * ask the system that the call changes; best is a call that is given the approval's id as its
 * idempotency key. Without a ledger nothing runs twice either, but what was claimed by a process
 * that died is refused as already_claimed.
 */
export function requiresApproval<A extends object, T>(
  client: Client,
  options: GuardOptions<A, T>,
): (args: A, call?: CallOptions) => Promise<Outcome<T>> {
  const kind = Object.prototype.toString.call(options.run);
  if (kind === "[object GeneratorFunction]" || kind === "[object AsyncGeneratorFunction]") {
    throw new TypeError(`run of ${options.tool} is a generator function: it would run after it is reported as executed`);
  }
  return (args, call = {}) => new Guarded(client, options, args, call).outcome();
}

class Guarded<A extends object, T> {
  private readonly id: string;

  constructor(
    private readonly client: Client,
    private readonly options: GuardOptions<A, T>,
    private readonly args: A,
    private readonly call: CallOptions,
  ) {
    this.id = call.approvalId ?? randomUUID();
  }

  async outcome(): Promise<Outcome<T>> {
    const { tool, describe, request } = this.options;
    const data = toBytes({ ...request, approval_id: this.id, tool, arguments: this.args, card: describe(this.args) });
    // Frozen here: what is asked is what is run.
    const pinned = (JSON.parse(Buffer.from(data).toString()) as { arguments: A }).arguments;
    const { terms, pin, fault } = checkRequest(data);
    if (fault) throw fault;
    let pending: Pending | undefined;
    let asked = await this.read("asked");
    if (asked === undefined) {
      pending = await this.client.request(data);
      if (!(await this.add("asked", JSON.stringify(pending)))) asked = (await this.read("asked"))!; // another process was faster
    }
    if (asked !== undefined) {
      pending = JSON.parse(asked) as Pending;
      if (pending.terms !== terms || pending.pin !== pin) throw new Taken(`${this.id} was asked before, with other terms`);
      if ((await this.read("started")) !== undefined) return this.settled();
    }
    if (pending === undefined) throw new Error("unreachable: it was asked, now or before");
    const answer = await this.client.awaitAnswer(pending, this.call);
    if (!answer.approved) return { status: "declined", observation: answer.observation, answer };
    await this.claim(pending);
    if (!(await this.add("started", ""))) return this.settled();
    return this.run(pinned);
  }

  private async run(pinned: A): Promise<Outcome<T>> {
    let value: T | Ran<T>;
    try {
      value = await this.options.run(pinned);
    } catch (e) {
      await this.finish({ outcome: "failed", message: String(e).slice(0, 2000).toWellFormed() }, undefined, true);
      throw e;
    }
    const ran = value instanceof Ran ? value : new Ran(value, { outcome: "executed" });
    const unreported = await this.finish(ran.report, ran.value, false);
    return { status: "ran", value: ran.value, ...(unreported === undefined ? {} : { unreported }) };
  }

  /**
   * Claims the call, or finds that it was this very request that has claimed it. The entry's id is
   * nobody else's, so a claim in that name by a process that died, or whose reply was lost, is
   * known again. Only the ledger says that it was not started.
   */
  private async claim(pending: Pending): Promise<void> {
    const by = `${(this.options.by ?? `${hostname()}/${process.pid}`).slice(0, 150)} ${pending.entry}`;
    try {
      await this.client.claim(this.id, pending.pin, by, pending.stream);
    } catch (e) {
      if (!(e instanceof ClaimRefused) || e.status !== "already_claimed" || !this.options.ledger) throw e;
      const entry = (await this.client.claimant(this.id))?.split(" ").at(-1);
      if (entry !== pending.entry) throw e;
    }
  }

  /** What is known of a call that was started before. */
  private async settled(): Promise<Outcome<T>> {
    let done = await this.read("done");
    const broken = done === undefined;
    if (broken) {
      await this.report({ outcome: "partial", message: unsure }, "unsure");
      done = await this.read("done");
    }
    if (done === undefined) return { status: "unsure", observation: unsure };
    const { report, value, threw } = JSON.parse(done) as { report: Report; value: T; threw: boolean };
    // It was still running, and its own report may have gone before the other one: it is said
    // again, since the last one counts.
    if (broken) await this.send(report);
    const unreported = await this.report(report);
    if (threw) throw new CallFailed(report.message ?? "");
    return { status: "ran", value, ...(unreported === undefined ? {} : { unreported }) };
  }

  private async finish(report: Report, value: T | undefined, threw: boolean): Promise<unknown> {
    let note: string;
    try {
      note = JSON.stringify({ report, value, threw });
    } catch {
      note = JSON.stringify({ report, threw }); // the value is no JSON, and is not kept
    }
    await this.add("done", note);
    return this.report(report);
  }

  /**
   * Reports once, and returns why it could not. It is then reported when the call is asked again:
   * the call ran, and its result is worth more than an error.
   */
  private async report(report: Report, note: Step = "reported"): Promise<unknown> {
    if ((await this.read(note)) !== undefined) return undefined;
    const unreported = await this.send(report);
    if (unreported === undefined) await this.add(note, "");
    return unreported;
  }

  private async send(report: Report): Promise<unknown> {
    try {
      await this.client.report(this.id, report);
    } catch (e) {
      return e;
    }
    return undefined;
  }

  private async read(step: Step): Promise<string | undefined> {
    return this.options.ledger?.read(this.id, step);
  }

  private async add(step: Step, note: string): Promise<boolean> {
    return this.options.ledger?.add(this.id, step, note) ?? true;
  }
}
