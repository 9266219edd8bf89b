// What an event must be, checked before anything is sent. The checks, their order and their
// words are those of the bot, so that what passes here is refused by it only for reasons that
// it alone knows: routes, streams, the longest time allowed.

import { digest, pinOf, termsOf } from "./digest.js";
import { Invalid } from "./errors.js";
import { Fields, textRule } from "./fields.js";
import { type Members, type Node, Num } from "./ijson.js";
import { write } from "./write.js";

const maxData = 256 << 10; // bytes
const maxNesting = 32;
const maxContext = 16 << 10; // bytes
const maxAnswer = 1 << 20; // bytes
const maxName = 200;
const maxText = 2000;
const maxLine = 1000;
const maxItems = 5000;

const blank = /^[\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/;

/** A request that was read: its digests, and the first rule it breaks. */
export interface Checked {
  approvalId: string;
  terms: string; // the digest of the bytes where there are no terms
  pin: string; // "" where the calls could not be read
  fault: Invalid | undefined;
}

/** Takes JSON text as it is, and writes anything else as JSON. */
export function toBytes(data: string | Uint8Array | object): Uint8Array {
  if (data instanceof Uint8Array) return data;
  return Buffer.from(typeof data === "string" ? data : write(data));
}

/** Reads the data of approval.requested. */
export function checkRequest(data: Uint8Array): Checked {
  const f = new Fields(data, maxData, maxNesting);
  let terms = digest(data);
  let pin = "";
  if (f.whole && !f.whole.fault && f.whole.value instanceof Map) terms = termsOf(f.whole.value);
  if (f.object) {
    const calls = request(f, f.object);
    if (calls) pin = pinOf(calls);
  }
  return { approvalId: f.id, terms, pin, fault: f.wrong };
}

export function checkWithdrawal(data: Uint8Array): void {
  const f = new Fields(data, maxData, maxNesting);
  if (f.object) f.text(f.object, "", "reason", maxText);
  f.finish();
}

export function checkClaim(data: Uint8Array): void {
  const f = new Fields(data, maxData, maxNesting);
  if (f.object) {
    f.required(f.object, "", "pin", maxName);
    f.required(f.object, "", "by", maxName);
  }
  f.finish();
}

export function checkReport(data: Uint8Array): void {
  const f = new Fields(data, maxData, maxNesting);
  const o = f.object;
  if (o) {
    if (!f.oneOf(o, "", "outcome", "", "executed", "failed", "partial", "undone")) f.invalid("outcome", "required");
    f.text(o, "", "message", maxText);
    f.items(o, "", "results", maxItems).forEach((item, i) => {
      const path = `results[${i}]`;
      if (!(item instanceof Map)) return f.invalid(path, "must be an object");
      if (f.integer(item, `${path}.`, "line", 1, Number.MAX_SAFE_INTEGER) === undefined) f.invalid(`${path}.line`, "required");
      if (f.boolean(item, `${path}.`, "ok") === undefined) f.invalid(`${path}.ok`, "required");
      f.text(item, `${path}.`, "detail", maxLine);
    });
    if (o.get("undo_until") != null) f.moment(o, "undo_until");
  }
  f.finish();
}

/** Reads the data of approval.answered. It believes nothing beyond the form. */
export function checkAnswer(data: Uint8Array): Members {
  // The arguments of a single call stand two levels deeper than in the request.
  const f = new Fields(data, maxAnswer, maxNesting + 2, "1 MiB");
  const o = f.object;
  if (o) {
    f.text(o, "", "runtime", maxName);
    f.text(o, "", "run_id", maxName);
    const decision = f.oneOf(o, "", "decision", "", "approved", "rejected", "lapsed", "withdrawn", "refused");
    f.text(o, "", "terms", maxName);
    f.text(o, "", "pin", maxName);
    f.items(o, "", "calls", 50).forEach((item, i) => listedCall(f, item, `calls[${i}]`));
    f.text(o, "", "reason", maxAnswer);
    f.text(o, "", "observation", maxAnswer);
    by(f, f.inner(o, "", "by"), "by.");
    const shown = f.inner(o, "", "shown");
    for (const name of ["lines", "of"]) f.integer(shown, "shown.", name, 0, maxItems);
    f.moment(o, "at");
    f.items(o, "", "approvals", maxAnswer).forEach((item, i) => {
      if (item instanceof Map) by(f, item, `approvals[${i}].`);
      else f.invalid(`approvals[${i}]`, "must be an object");
    });
    if (!decision) f.invalid("decision", "required");
    if (o.get("approved") == null || f.boolean(o, "", "approved") !== (decision === "approved")) {
      f.invalid("approved", "must be true for approved, else false");
    }
  }
  f.finish();
  return o!;
}

function by(f: Fields, o: Members, path: string): void {
  const surface = f.oneOf(o, path, "surface", "", "telegram", "cli", "policy", "sweeper", "runtime", "intake");
  f.required(o, path, "id", maxName);
  f.text(o, path, "name", maxAnswer);
  f.oneOf(o, path, "method", "", "button", "typed");
  if (!surface) f.invalid(`${path}surface`, "required");
  f.integer(o, path, "chat_id", Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  f.integer(o, path, "message_id", 0, Number.MAX_SAFE_INTEGER);
}

/** Checks a request; returns its calls, undefined unless all of them are good. */
function request(f: Fields, o: Members): Members[] | undefined {
  const kind = f.oneOf(o, "", "kind", "tool_call", "halt");
  for (const name of ["runtime", "run_id", "session"]) f.text(o, "", name, maxName);
  const found = calls(f, o, kind);
  f.oneOf(o, "", "effect", "destructive", "write");
  if (o.has("approval") && o.get("approval") !== "pinned") f.invalid("approval", "must be pinned or absent");
  if (Buffer.byteLength(f.whole!.members.get("context") ?? "") > maxContext) f.invalid("context", "over 16 KiB");
  card(f, f.inner(o, "", "card"));
  if (o.has("expires_in") && o.has("expires_at")) f.invalid("expires_at", "not allowed beside expires_in");
  else if (o.has("expires_in")) f.seconds(o, "expires_in");
  else if (o.has("expires_at")) f.moment(o, "expires_at");
  return found;
}

function calls(f: Fields, o: Members, kind: string): Members[] | undefined {
  if (kind === "halt") {
    for (const name of ["tool", "arguments", "calls"]) {
      if (o.get(name) != null) {
        f.invalid(name, "not allowed: a halt pins no call");
        return undefined;
      }
    }
    return [];
  }
  const before = f.faults;
  if (o.get("calls") == null) {
    call(f, o, "");
    return f.faults > before ? undefined : [o];
  }
  for (const name of ["tool", "arguments"]) {
    if (o.get(name) != null) {
      f.invalid("calls", `not allowed beside ${name}`);
      return undefined;
    }
  }
  const list = f.items(o, "", "calls", 50);
  if (list.length === 0 && f.faults === before) f.invalid("calls", "must have at least 1 item");
  list.forEach((item, i) => listedCall(f, item, `calls[${i}]`));
  return f.faults > before ? undefined : (list as Members[]);
}

function call(f: Fields, o: Members, path: string): void {
  f.required(o, path, "tool", maxName);
  if (!o.has("arguments")) f.invalid(`${path}arguments`, "required");
  else if (!(o.get("arguments") instanceof Map)) f.invalid(`${path}arguments`, "must be an object");
}

function listedCall(f: Fields, item: Node, path: string): void {
  if (!(item instanceof Map)) return f.invalid(path, "must be an object");
  call(f, item, `${path}.`);
  f.text(item, `${path}.`, "call_id", maxName);
}

function card(f: Fields, o: Members): void {
  const title = f.text(o, "card.", "title", 200);
  f.text(o, "card.", "action", 60);
  if (blank.test(title)) f.invalid("card.title", "required");
  f.items(o, "card.", "lines", maxItems).forEach((line, i) => {
    const wrong = textRule(line, maxLine);
    if (wrong) f.invalid(`card.lines[${i}]`, wrong);
  });
  f.text(o, "card.", "undo_tool", maxName);
  f.integer(o, "card.", "undo_window_days", 1, 3650);
  f.text(o, "card.", "request", maxText);
  f.text(o, "card.", "summary", maxText);
}
