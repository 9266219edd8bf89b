// One event's fields, read one by one. The words for a rule broken are those of the bot.

import { Invalid } from "./errors.js";
import { type Members, type Node, Num, type Text, read } from "./ijson.js";

const maxIDScan = 8 << 20; // bytes in which the id of too large data is still looked for

export function validId(id: unknown): id is string {
  return typeof id === "string" && /^[A-Za-z0-9._:-]{1,128}$/.test(id) && !id.endsWith("\n");
}

/** Reads the fields of one event, and keeps the first rule broken. */
export class Fields {
  id = "";
  wrong: Invalid | undefined;
  faults = 0;
  readonly whole: Text | undefined;
  object: Members | undefined; // undefined where nothing in data can be used

  constructor(data: Uint8Array, most: number, depth: number, size = "256 KiB") {
    if (data.length > most) {
      if (data.length <= maxIDScan) {
        const whole = read(data, depth);
        if (!whole.fault?.broken) this.readId(whole);
      }
      this.wrong = new Invalid("data", `over ${size}`, "too_large");
      return;
    }
    this.whole = read(data, depth);
    this.open(this.whole);
  }

  private open(whole: Text): void {
    const fault = whole.fault;
    if (fault?.broken) return this.invalid("data", fault.rule);
    if (!(whole.value instanceof Map)) return this.invalid("data", "must be a JSON object");
    const wrong = this.readId(whole);
    if (wrong) this.invalid("approval_id", wrong);
    else if (fault) this.invalid(fault.path || "data", fault.rule);
    else this.object = whole.value;
  }

  /** Finds the approval_id, or says why there is none to use. */
  private readId(whole: Text): string {
    const o = whole.value;
    if (!(o instanceof Map) || !o.has("approval_id")) return "required";
    if (whole.twice.has("approval_id")) return "given twice";
    const found = o.get("approval_id");
    if (typeof found !== "string") return "must be a string";
    if (!validId(found)) return "must be 1-128 of A-Za-z0-9._:-";
    this.id = found;
    return "";
  }

  invalid(field: string, rule: string): void {
    this.faults++;
    this.wrong ??= new Invalid(field, rule);
  }

  finish(): void {
    if (this.wrong) throw this.wrong;
  }

  text(o: Members, path: string, name: string, most: number): string {
    const value = o.get(name);
    if (value == null) return "";
    const wrong = textRule(value, most);
    if (wrong) this.invalid(path + name, wrong);
    return typeof value === "string" ? value : "";
  }

  required(o: Members, path: string, name: string, most: number): void {
    if (!this.text(o, path, name, most)) this.invalid(path + name, "required");
  }

  /** Reads a word out of a closed list; absent is the first. */
  oneOf(o: Members, path: string, name: string, ...words: string[]): string {
    const value = o.get(name);
    if (value == null) return words[0]!;
    if (typeof value === "string" && value && words.includes(value)) return value;
    const listed = words.filter((w) => w);
    this.invalid(path + name, `must be ${listed.slice(0, -1).join(", ")} or ${listed.at(-1)}`);
    return "";
  }

  integer(o: Members, path: string, name: string, least: number, most: number): number | undefined {
    const value = o.get(name);
    if (value == null) return undefined;
    if (!(value instanceof Num) || !value.whole) {
      this.invalid(path + name, "must be an integer");
      return undefined;
    }
    if (value.value < least || value.value > most) {
      this.invalid(path + name, `must be from ${thousands(least)} to ${thousands(most)}`);
      return undefined;
    }
    return value.value;
  }

  boolean(o: Members, path: string, name: string): boolean | undefined {
    const value = o.get(name);
    if (value == null) return undefined;
    if (typeof value === "boolean") return value;
    this.invalid(path + name, "must be true or false");
    return undefined;
  }

  items(o: Members, path: string, name: string, most: number): Node[] {
    const value = o.get(name);
    if (value == null) return [];
    if (!Array.isArray(value)) this.invalid(path + name, "must be a list");
    else if (value.length > most) this.invalid(path + name, `over ${thousands(most)} items`);
    else return value;
    return [];
  }

  inner(o: Members, path: string, name: string): Members {
    const value = o.get(name);
    if (value instanceof Map) return value;
    if (value != null) this.invalid(path + name, "must be an object");
    return new Map();
  }

  moment(o: Members, name: string): void {
    const value = o.get(name);
    if (typeof value !== "string") return this.invalid(name, "must be a string");
    const wrong = timeRule(value);
    if (wrong) this.invalid(name, wrong);
  }

  seconds(o: Members, name: string): void {
    const value = o.get(name);
    if (!(value instanceof Num)) this.invalid(name, "must be a number of seconds");
    else if (value.value < 5) this.invalid(name, "must be at least 5 seconds");
    else if (value.value > 2 ** 63 / 2e9) this.invalid(name, "too far ahead");
  }
}

export function textRule(value: Node, most: number): string {
  if (typeof value !== "string") return "must be a string";
  if (value.length <= most) return "";
  let points = 0;
  for (const _ of value) points++;
  return points > most ? `over ${thousands(most)} characters` : "";
}

function thousands(n: number): string {
  return n.toLocaleString("en-US");
}

function timeRule(text: string): string {
  const shape = "must be RFC 3339 with an offset";
  const m = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/.exec(text.toUpperCase());
  if (!m) return shape;
  const [year, month, day, hour, minute, second] = m.slice(1, 7).map(Number) as [number, number, number, number, number, number];
  const t = new Date(0);
  t.setUTCFullYear(year, month - 1, day);
  if (t.getUTCMonth() !== month - 1 || t.getUTCDate() !== day || hour > 23 || minute > 59 || second > 59) return shape;
  const offset = m[7] ? (Number(m[8]) * 60 + Number(m[9])) * (m[7] === "+" ? 1 : -1) : 0;
  t.setUTCMinutes(hour * 60 + minute - offset);
  return t.getUTCFullYear() >= 1970 && t.getUTCFullYear() <= 9999 ? "" : "must be within the years 1970 to 9999";
}
