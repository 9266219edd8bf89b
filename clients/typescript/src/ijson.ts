// JSON by the rules of I-JSON (RFC 7493), read strictly. JSON.parse takes keys
// twice, lone surrogates and integers that it rounds; two programs that read those
// differently would pin different calls.

import { pathOf } from "./write.js";

/** A number as it was read. */
export class Num {
  constructor(
    readonly value: number,
    readonly whole: boolean, // written without point and exponent
  ) {}
}

export type Node = null | boolean | string | Num | Node[] | Members;
/** The fields of an object; a Map, since in an object some names mean something. */
export type Members = Map<string, Node>;

/** The first rule that a text breaks. */
export interface Fault {
  path: string; // "" for the whole text
  rule: string;
  broken: boolean; // not JSON, or more than one value
}

/** A text that was read. */
export interface Text {
  value: Node;
  fault?: Fault;
  members: Map<string, string>; // the outer object's values as they were sent
  twice: Set<string>; // keys given twice in the outer object
}

interface Frame {
  into: Node[] | Members;
  key: string;
  start: number; // of the present value, in the outer object
}

class NotJSON extends Error {}

/** Reads one JSON value, nested at most depth. */
export function read(bytes: Uint8Array, depth: number): Text {
  return new Reader(bytes, depth).run();
}

/** Reads without recursion, so that no depth of nesting exhausts the stack. */
class Reader {
  private readonly text: string;
  private readonly bad: Set<number> | undefined; // where a byte was no UTF-8
  private pos = 0;
  private readonly frames: Frame[] = [];
  private readonly out: Text = { value: null, members: new Map(), twice: new Set() };

  constructor(
    bytes: Uint8Array,
    private readonly depth: number,
  ) {
    try {
      this.text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      [this.text, this.bad] = decodeBroken(bytes);
    }
  }

  run(): Text {
    try {
      while (this.value() || this.next());
    } catch (e) {
      if (!(e instanceof NotJSON)) throw e;
      const at = Buffer.byteLength(this.text.slice(0, this.pos));
      this.out.fault = { path: "", rule: `is not JSON at byte ${at}`, broken: true };
      return this.out;
    }
    if (this.peek() !== "") this.out.fault = { path: "", rule: "must be one JSON value", broken: true };
    return this.out;
  }

  private peek(): string {
    while (" \n\r\t".includes(this.text[this.pos] ?? "x")) this.pos++;
    return this.text[this.pos] ?? "";
  }

  /** Reads a scalar or an opening; true if the first value inside is due. */
  private value(): boolean {
    const c = this.peek();
    if (this.frames.length === 1) this.frames[0]!.start = this.pos;
    if (c === "{") {
      this.enter(new Map());
      if (this.peek() === "}") return false;
      this.key();
      return true;
    }
    if (c === "[") {
      this.enter([]);
      return this.peek() !== "]";
    }
    if (c === '"') {
      const [value, rule] = this.string();
      this.note(rule);
      this.put(value);
    } else if (c === "-" || isDigit(c)) {
      this.put(this.number());
    } else {
      this.put(this.literal());
    }
    return false;
  }

  /** Goes on after a value; true if another one is due. */
  private next(): boolean {
    for (let frame = this.frames.at(-1); frame; frame = this.frames.at(-1)) {
      const c = this.peek();
      const isList = Array.isArray(frame.into);
      if (c === (isList ? "]" : "}")) {
        this.pos++;
        this.frames.pop();
        this.put(frame.into);
      } else if (c === ",") {
        this.pos++;
        if (!isList) this.key();
        return true;
      } else {
        throw new NotJSON();
      }
    }
    return false;
  }

  private enter(into: Node[] | Members): void {
    this.pos++;
    if (this.frames.length === this.depth) this.note(`nested deeper than ${this.depth}`);
    this.frames.push({ into, key: "", start: 0 });
  }

  /** Takes a value that was read to its end. */
  private put(value: Node): void {
    const frame = this.frames.at(-1);
    if (!frame) {
      this.out.value = value;
    } else if (Array.isArray(frame.into)) {
      frame.into.push(value);
    } else {
      frame.into.set(frame.key, value);
      if (this.frames.length === 1) this.out.members.set(frame.key, this.text.slice(frame.start, this.pos));
    }
  }

  private key(): void {
    if (this.peek() !== '"') throw new NotJSON();
    const [key, rule] = this.string();
    const frame = this.frames.at(-1)!;
    frame.key = key.toWellFormed();
    this.note(rule);
    if ((frame.into as Members).has(frame.key)) {
      this.note("given twice");
      if (this.frames.length === 1) this.out.twice.add(frame.key);
    }
    if (this.peek() !== ":") throw new NotJSON();
    this.pos++;
  }

  /** Reads a string; returns it and the rule that it breaks, "" if none. */
  private string(): [string, string] {
    const start = ++this.pos;
    let rule = "";
    let escaped = false;
    for (;;) {
      const c = this.text[this.pos];
      if (c === '"') break;
      if (c === undefined || c < " ") throw new NotJSON();
      if (c === "\\") {
        escaped = true;
        if (this.escape()) rule = "holds a lone surrogate";
      } else {
        this.pos++;
      }
    }
    const raw = this.text.slice(start, this.pos++);
    if (this.bad) for (let i = start; i < this.pos; i++) if (this.bad.has(i)) rule = "is not UTF-8";
    return [escaped ? (JSON.parse(`"${raw}"`) as string) : raw, rule];
  }

  /** Reads an escape, or the two of a pair; true if it is half of one only. */
  private escape(): boolean {
    const c = this.text[this.pos + 1];
    if (c !== undefined && '"\\/bfnrt'.includes(c)) {
      this.pos += 2;
      return false;
    }
    const unit = this.unit();
    if (unit === undefined) throw new NotJSON();
    this.pos += 6;
    if (unit < 0xd800 || unit > 0xdfff) return false;
    if (unit > 0xdbff) return true;
    const low = this.unit();
    if (low === undefined || low < 0xdc00 || low > 0xdfff) return true;
    this.pos += 6;
    return false;
  }

  private unit(): number | undefined {
    const m = /^\\u([0-9a-fA-F]{4})$/.exec(this.text.slice(this.pos, this.pos + 6));
    return m ? parseInt(m[1]!, 16) : undefined;
  }

  private number(): Num {
    const start = this.pos;
    if (this.text[this.pos] === "-") this.pos++;
    const digits = this.digits();
    if (digits.length > 1 && digits[0] === "0") throw new NotJSON();
    let whole = true;
    if (this.text[this.pos] === ".") {
      whole = false;
      this.pos++;
      this.digits();
    }
    if (this.text[this.pos] === "e" || this.text[this.pos] === "E") {
      whole = false;
      this.pos++;
      if (this.text[this.pos] === "+" || this.text[this.pos] === "-") this.pos++;
      this.digits();
    }
    const value = Number(this.text.slice(start, this.pos));
    if (whole && !Number.isSafeInteger(value)) this.note("must be within ±(2^53-1)");
    else if (!Number.isFinite(value)) this.note("must be finite as a double");
    return new Num(value, whole);
  }

  private digits(): string {
    const start = this.pos;
    while (isDigit(this.text[this.pos] ?? "")) this.pos++;
    if (this.pos === start) throw new NotJSON();
    return this.text.slice(start, this.pos);
  }

  private literal(): boolean | null {
    for (const [word, value] of [["true", true], ["false", false], ["null", null]] as const) {
      if (this.text.startsWith(word, this.pos)) {
        this.pos += word.length;
        return value;
      }
    }
    throw new NotJSON();
  }

  private note(rule: string): void {
    if (rule === "" || this.out.fault) return;
    const steps = this.frames.map((f) => (Array.isArray(f.into) ? f.into.length : f.key));
    this.out.fault = { path: pathOf(steps), rule, broken: false };
  }
}

function isDigit(c: string): boolean {
  return c >= "0" && c <= "9" && c.length === 1;
}

/** Decodes what is no UTF-8, each wrong byte as U+FFFD, and says where those stand. */
function decodeBroken(bytes: Uint8Array): [string, Set<number>] {
  const bad = new Set<number>();
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  for (let i = 0; i < bytes.length; ) {
    const lead = bytes[i]!;
    const length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    try {
      text += strict.decode(bytes.subarray(i, i + length));
      i += length;
    } catch {
      bad.add(text.length);
      text += "\ufffd";
      i++;
    }
  }
  return [text, bad];
}

/** The value as plain JavaScript; objects have no prototype, so that no name in them means anything. */
export function plain(node: Node): unknown {
  if (node instanceof Num) return node.value;
  if (Array.isArray(node)) return node.map(plain);
  if (node instanceof Map) {
    const o: Record<string, unknown> = Object.create(null);
    for (const [key, value] of node) o[key] = plain(value);
    return o;
  }
  return node;
}
