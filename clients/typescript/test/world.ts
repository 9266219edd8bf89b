// Where the tests' Redis and bot are. They are started by TestClients in clients, which runs
// these tests; the environment says where.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createClient } from "@redis/client";

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: go test ./clients -run TestClients sets it`);
  return value;
}

export const admin = setting("COUNTERSIGN_TEST_ADMIN"); // a Redis user who may do everything
export const runtime = setting("COUNTERSIGN_TEST_RUNTIME"); // one with a runtime's rights alone
export const namespace = setting("COUNTERSIGN_TEST_NAMESPACE"); // served by a bot
export const tableNamespace = setting("COUNTERSIGN_TEST_TABLE_NAMESPACE"); // served by nobody
const control = setting("COUNTERSIGN_TEST_CONTROL"); // plays the owner

export const nobody = "redis://127.0.0.1:1"; // nothing listens there

/** Has Ann do something with a card: approve, reject, undo; or reads what it shows. */
export async function owner(act: string, title: string, says = ""): Promise<string> {
  const reply = await fetch(`${control}/${act}?${new URLSearchParams({ title, says })}`, { method: "POST" });
  const text = await reply.text();
  if (!reply.ok) throw new Error(text);
  return text;
}

/** A title of letters alone: a card guards digits against becoming a link. */
export function newTitle(): string {
  return "Trash " + Array.from(randomBytes(12), (b) => String.fromCharCode(97 + (b % 26))).join("");
}

/** A connection; one that cannot be made is left to try. */
export async function connect(url = runtime) {
  const connection = createClient({ url });
  connection.on("error", () => undefined);
  const connected = connection.connect();
  if (url === nobody) connected.catch(() => undefined);
  else await connected;
  return connection;
}

export type Parts = string | (string | [string, number] | { hex: string })[];

export function bytesOf(text: Parts): Buffer {
  return Buffer.concat(
    (typeof text === "string" ? [text] : text).map((part) => {
      if (typeof part === "string") return Buffer.from(part);
      if (Array.isArray(part)) return Buffer.from(part[0].repeat(part[1]));
      return Buffer.from(part.hex, "hex");
    }),
  );
}

export interface Event {
  stream: string;
  type: string;
  id: string;
  data: string;
}

export interface Exchange {
  name: string;
  redis?: "away";
  before?: {
    alive?: string[];
    rows?: Record<string, Record<string, string>>;
    claims?: Record<string, Record<string, string>>;
    answers?: Record<string, string[]>;
  };
  do: any;
  want: string;
  sent?: Event[];
}

export interface Table {
  canonical: { name: string; json: string; canonical: string }[];
  requests: { name: string; data: Parts; terms: string; pin: string; error?: string }[];
  exchanges: Exchange[];
}

export const root = new URL("../../../../", import.meta.url);

export function table(): Table {
  return JSON.parse(readFileSync(new URL("clients/conformance.json", root), "utf8")) as Table;
}
