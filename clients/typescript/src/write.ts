// JSON written by the rules of I-JSON (RFC 7493), and the names of places in it.

import { Invalid } from "./errors.js";

/** Names a place, as in arguments.ids[3]. */
export function pathOf(steps: (string | number)[]): string {
  let path = "";
  for (const step of steps) {
    if (typeof step === "number") path += `[${step}]`;
    else if (/^[A-Za-z0-9_-]{1,40}$/.test(step)) path += path ? `.${step}` : step;
    else path += `[${quoted(step)}]`;
  }
  return path.length <= 200 ? path : path.slice(0, 200) + "...";
}

function quoted(key: string): string {
  const raw = Buffer.from(key);
  if (raw.length > 40) key = raw.subarray(0, 40).toString() + "...";
  const short: Record<string, string> = {
    '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\x07": "\\a", "\b": "\\b", "\f": "\\f", "\v": "\\v",
  };
  let out = "";
  for (const c of key) {
    const n = c.codePointAt(0)!;
    if (short[c]) out += short[c];
    else if (n >= 0x20 && n < 0x7f) out += c;
    else if (n < 0x80) out += "\\x" + n.toString(16).padStart(2, "0");
    else out += n < 0x10000 ? "\\u" + n.toString(16).padStart(4, "0") : "\\U" + n.toString(16).padStart(8, "0");
  }
  return `"${out}"`;
}

/**
 * Writes a value as JSON, and refuses what would not be read as itself: NaN, an integer that
 * was rounded, a Date, a Map, undefined in a list. A field that is undefined is left out.
 */
export function write(value: unknown, at: (string | number)[] = []): string {
  const refuse = (rule: string): never => {
    throw new Invalid(pathOf(at) || "data", rule);
  };
  if (at.length > 1000) refuse("nested too deep");
  switch (typeof value) {
    case "boolean":
      return String(value);
    case "string":
      if (!value.isWellFormed()) refuse("holds a lone surrogate");
      return JSON.stringify(value);
    case "number":
      if (!Number.isFinite(value)) refuse("must be finite as a double");
      if (Number.isInteger(value) && !Number.isSafeInteger(value)) refuse("must be within ±(2^53-1)");
      return JSON.stringify(value);
    case "object":
      break;
    default:
      refuse(`cannot be written as JSON: ${typeof value}`);
  }
  if (value === null) return "null";
  if (Array.isArray(value)) return `[${Array.from(value, (item, i) => write(item, [...at, i])).join(",")}]`;
  const proto: unknown = Object.getPrototypeOf(value);
  if (proto !== Object.prototype && proto !== null) refuse(`cannot be written as JSON: ${value!.constructor?.name ?? "an object"}`);
  const fields = Object.entries(value as object).filter(([, item]) => item !== undefined);
  return `{${fields.map(([key, item]) => {
    if (!key.isWellFormed()) throw new Invalid(pathOf([...at, key.toWellFormed()]), "holds a lone surrogate");
    return `${JSON.stringify(key)}:${write(item, [...at, key])}`;
  }).join(",")}}`;
}
