import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { type Members, type Node, plain } from "./ijson.js";

/** The RFC 8785 form of a value that was read by the rules of I-JSON. */
export function canonical(node: Node): string {
  return canonicalize(plain(node)) as string;
}

export function digest(data: string | Uint8Array): string {
  return "sha256:" + createHash("sha256").update(data).digest("hex");
}

/** The digest of what is asked for: all of it but the deadline. */
export function termsOf(request: Members): string {
  const asked = new Map(request);
  asked.delete("expires_in");
  asked.delete("expires_at");
  return digest(canonical(asked));
}

/** The digest of the calls alone, and what a claim must name. A halt has none: []. */
export function pinOf(calls: Members[]): string {
  const pinned = calls.map((c): Node => new Map([["arguments", c.get("arguments")!], ["tool", c.get("tool")!]]));
  return digest(canonical(new Map([["calls", pinned]])));
}
