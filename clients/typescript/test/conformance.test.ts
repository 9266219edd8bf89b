// The table that the clients of all languages pass.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as countersign from "../src/index.js";
import { canonical } from "../src/digest.js";
import { read } from "../src/ijson.js";
import { checkRequest } from "../src/rules.js";
import { type Event, type Exchange, admin, bytesOf, connect, nobody, root, runtime, table, tableNamespace } from "./world.js";

const words: [new (...args: any[]) => Error, string][] = [
  [countersign.TimedOut, "timed_out"],
  [countersign.Unavailable, "unavailable"],
  [countersign.Unknown, "unknown"],
  [countersign.Taken, "taken"],
  [countersign.NotMine, "not_mine"],
  [countersign.BadSignature, "bad_signature"],
];

function word(error: unknown): string {
  if (error instanceof countersign.Invalid) return error.message;
  if (error instanceof countersign.ClaimRefused) return error.status;
  return words.find(([kind]) => error instanceof kind)?.[1] ?? String(error);
}

async function act(client: countersign.Client, d: any): Promise<string> {
  try {
    switch (d.verb) {
      case "request":
        await client.request(bytesOf(d.data), { noCheck: d.no_check });
        return "ok";
      case "await":
        return (await client.awaitAnswer(d.pending, d.timeout ? { timeout: d.timeout * 1000 } : {})).decision;
      case "claim":
        await client.claim(d.approval_id, d.pin, d.by, ...(d.streams ?? []));
        return "ok";
      case "report":
        await client.report(d.approval_id, d);
        return "ok";
      default:
        await client.withdraw(d.approval_id, d.reason);
        return "ok";
    }
  } catch (e) {
    return word(e);
  }
}

type Admin = Awaited<ReturnType<typeof connect>>;
const tag = `{${tableNamespace}}`;

/** Puts Redis into the state before an exchange, and names keys and times as they are there. */
async function prepare(redis: Admin, exchange: Exchange): Promise<Exchange> {
  const text = JSON.stringify(exchange).replaceAll("{NS}", tag).replaceAll("NOW-", `${Number((await redis.time())[0]) * 1000}-`);
  const x = JSON.parse(text) as Exchange;
  for await (const keys of redis.scanIterator({ MATCH: `${tag}:*`, COUNT: 1000 })) if (keys.length > 0) await redis.del(keys);
  if (x.before?.alive) await redis.set(`${tag}:alive`, JSON.stringify(x.before.alive));
  for (const [id, fields] of Object.entries(x.before?.rows ?? {})) await redis.hSet(`${tag}:row:${id}`, fields);
  for (const [id, fields] of Object.entries(x.before?.claims ?? {})) await redis.hSet(`${tag}:claim:${id}`, fields);
  for (const [id, list] of Object.entries(x.before?.answers ?? {})) {
    for (const data of list) await redis.xAdd(`${tag}:answer:${id}`, "*", { type: "approval.answered", data });
  }
  return x;
}

async function sent(redis: Admin): Promise<Event[]> {
  const all: Event[] = [];
  for (const stream of [`${tag}:requests`, `${tag}:mail`]) {
    for (const { message } of (await redis.xRange(stream, "-", "+")) ?? []) {
      all.push({ stream, type: message.type!, id: message.id!, data: JSON.parse(message.data!) });
    }
  }
  return all;
}

test("canonical", async (t) => {
  for (const row of table().canonical) {
    await t.test(row.name, () => assert.equal(canonical(read(Buffer.from(row.json), 32).value), row.canonical));
  }
});

test("requests", async (t) => {
  for (const row of table().requests) {
    await t.test(row.name, () => {
      const { terms, pin, fault } = checkRequest(bytesOf(row.data));
      assert.deepEqual({ terms, pin, error: fault?.message }, { terms: row.terms, pin: row.pin, error: row.error });
    });
  }
});

test("exchanges", async (t) => {
  const redis = await connect(admin);
  const own = await connect(runtime);
  for (const row of table().exchanges) {
    await t.test(row.name, async () => {
      const x = await prepare(redis, row);
      const connection = row.redis === "away" ? await connect(nobody) : own;
      const options = { namespace: tableNamespace, stream: x.do.stream, keys: x.do.keys, block: 20, ...(row.redis ? { commandTimeout: 300 } : {}) };
      assert.equal(await act(new countersign.Client(connection, options), x.do), row.want);
      assert.deepEqual(await sent(redis), (x.sent ?? []).map((e) => ({ ...e, data: JSON.parse(e.data) })));
      if (row.redis) connection.destroy();
    });
  }
  own.destroy();
  redis.destroy();
});

test("the claim script is the shared one", () => {
  assert.equal(countersign.claimScript, readFileSync(new URL("queue/claim.lua", root), "utf8"));
});
