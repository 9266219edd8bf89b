// The verbs against the whole bot, with a runtime's rights, while Ann taps.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { ClaimRefused, Client, NotMine, type Pending, type Request, Taken, TimedOut, Unknown } from "../src/index.js";
import { admin, connect, namespace, newTitle, owner } from "./world.js";

type Connected = Awaited<ReturnType<typeof connect>>;
let connection: Connected;
let client: Client;
const wait = { timeout: 300_000 };

before(async () => {
  connection = await connect();
  client = new Client(connection, { namespace });
});
after(() => connection.destroy());

function request(title: string, fields: Partial<Request> = {}): Request {
  return {
    approval_id: randomUUID(), runtime: "node", tool: "trash_emails", arguments: { ids: ["m1", "m2"] },
    card: { title, lines: ["Big sale", "Last chance"] }, ...fields,
  };
}

const refused = (status: string) => (e: unknown) => e instanceof ClaimRefused && e.status === status;

async function rowIs(id: string, state: string): Promise<void> {
  for (;;) {
    try {
      if ((await client.row(id)).state === state) return;
    } catch (e) {
      if (!(e instanceof Unknown)) throw e;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("the whole way", async () => {
  const title = newTitle();
  const asked = request(title, { context: { wait: "w-1" } });
  Object.assign(asked.card, { undo_tool: "restore_emails", undo_window_days: 30 });
  const pending = await client.request(asked);
  await owner("approve", title);
  const answer = await client.awaitAnswer(pending, wait);
  assert.equal(answer.decision, "approved");
  assert.deepEqual([answer.by.name, answer.by.surface, answer.by.method], ["Ann", "telegram", "button"]);
  assert.equal(JSON.stringify([answer.context, answer.calls![0]!.arguments]), '[{"wait":"w-1"},{"ids":["m1","m2"]}]');
  const other = await client.request(request(newTitle(), { arguments: { ids: ["m3"] } }));
  await rowIs(other.approval_id, "open");
  await assert.rejects(client.claim(pending.approval_id, other.pin, "worker"), refused("pin_mismatch")); // a changed argument
  await assert.rejects(client.claim(randomUUID(), pending.pin, "worker"), refused("unknown")); // a forged id
  await assert.rejects(client.claim(other.approval_id, other.pin, "worker"), refused("not_approved"));
  await client.claim(pending.approval_id, pending.pin, "worker", pending.stream);
  await assert.rejects(client.claim(pending.approval_id, pending.pin, "another"), refused("already_claimed"));
  assert.equal(await client.claimant(pending.approval_id), "worker");
  await client.report(pending.approval_id, {
    outcome: "partial", message: "one was gone", results: [{ line: 1, ok: true }, { line: 2, ok: false, detail: "gone" }],
  });
  assert.match(await owner("card", title, "Partly done"), /one was gone/);
  await owner("undo", title);
  const undo = await client.awaitUndo(pending.approval_id, wait);
  assert.deepEqual([undo.undo_tool, undo.by.name], ["restore_emails", "Ann"]);
  await client.report(pending.approval_id, { outcome: "undone" });
  await owner("card", title, "Undone");
  await client.withdraw(other.approval_id, "not needed");
  assert.equal((await client.awaitAnswer(other, wait)).decision, "withdrawn");
});

test("a no, and a restart", async () => {
  const title = newTitle();
  const kept = JSON.stringify(await client.request(request(title)));
  await owner("reject", title);
  const pending = JSON.parse(kept) as Pending;
  const answer = await new Client(connection, { namespace }).awaitAnswer(pending, wait);
  assert.ok(answer.observation.startsWith(`the owner rejected this: ${title}`));
  await assert.rejects(client.claim(pending.approval_id, pending.pin, "worker"), refused("not_approved"));
});

test("another's", async () => {
  const title = newTitle();
  const first = request(title);
  const pending = await client.request(first);
  await rowIs(pending.approval_id, "open");
  const second = { ...first, arguments: { ids: ["all"] } };
  await assert.rejects(client.request(second), Taken);
  const mine = await client.request(second, { noCheck: true });
  await owner("approve", title);
  assert.ok((await client.awaitAnswer(pending, wait)).approved);
  await assert.rejects(client.awaitAnswer(mine, wait), NotMine);
  await assert.rejects(client.claim(mine.approval_id, mine.pin, "worker"), refused("pin_mismatch"));
});

test("another's halt", async () => {
  const title = newTitle();
  const halt: Request = { approval_id: randomUUID(), kind: "halt", card: { title } };
  const pending = await client.request(halt);
  await rowIs(pending.approval_id, "open");
  const mine = await client.request({ ...halt, card: { title: "Another" } }, { noCheck: true });
  assert.equal(mine.pin, pending.pin);
  await owner("reject", title);
  assert.equal((await client.awaitAnswer(pending, wait)).decision, "rejected");
  await assert.rejects(client.awaitAnswer(mine, wait), NotMine);
});

test("a script that Redis forgot", async () => {
  const title = newTitle();
  const pending = await client.request(request(title));
  await owner("approve", title);
  await client.awaitAnswer(pending, wait);
  const all = await connect(admin);
  await all.scriptFlush();
  all.destroy();
  await client.claim(pending.approval_id, pending.pin, "worker");
});

test("a wait ends when it is told to", async () => {
  const pending = await client.request(request(newTitle()));
  await assert.rejects(client.awaitAnswer(pending, { timeout: 50 }), TimedOut);
  const stop = new AbortController();
  const waiting = client.awaitAnswer(pending, { signal: stop.signal });
  stop.abort(new Error("enough"));
  await assert.rejects(waiting, /enough/);
  await client.withdraw(pending.approval_id);
});
