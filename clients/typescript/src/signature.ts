import { type KeyObject, createHash, createPublicKey, verify } from "node:crypto";
import { canonical } from "./digest.js";
import { BadSignature } from "./errors.js";
import { type Node, read } from "./ijson.js";

const depth = 34; // of an answer
const valueLength = 88; // characters of base64

/** Public keys of which one must have signed. */
export class Keys {
  private readonly byId = new Map<string, KeyObject>();

  constructor(pems: readonly string[]) {
    for (const pem of pems) {
      const key = createPublicKey(pem);
      if (key.asymmetricKeyType !== "ed25519") throw new TypeError("want Ed25519 public keys, as countersign keygen makes them");
      const raw = key.export({ format: "der", type: "spki" }).subarray(-32);
      this.byId.set(createHash("sha256").update(raw).digest("hex").slice(0, 16), key);
    }
    if (this.byId.size === 0) throw new TypeError("no keys were given");
  }

  /** Throws BadSignature unless one of the keys has signed data. */
  check(data: string): void {
    const { value, fault } = read(Buffer.from(data), depth);
    if (fault || !(value instanceof Map)) throw new BadSignature("the signature does not hold: it is over no JSON object");
    const signed = new Map<string, Node>(value);
    signed.delete("sig");
    const sig = value.get("sig");
    if (sig === undefined) throw new BadSignature("the signature does not hold: it bears none");
    const [alg, id, text] = sig instanceof Map ? ["alg", "key", "value"].map((name) => sig.get(name)) : [];
    if (alg !== "ed25519" || typeof id !== "string" || typeof text !== "string" || text.length !== valueLength) {
      throw new BadSignature("the signature does not hold: it is not of the form that it must have");
    }
    const key = this.byId.get(id);
    if (!key) throw new BadSignature(`the signature does not hold: key ${id} is not one that is trusted`);
    const bytes = Buffer.from(text, "base64");
    if (bytes.toString("base64") !== text || !verify(null, Buffer.from(canonical(signed)), key, bytes)) {
      throw new BadSignature("the signature does not hold");
    }
  }
}
