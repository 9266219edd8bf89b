// The wrapper for tools: what is approved runs once, whatever dies in between.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  CallFailed, ClaimRefused, Client, type Connection, FileLedger, Invalid, type Ledger, Ran, type Step, Taken, Unavailable, requiresApproval,
} from "../src/index.js";
import { connect, namespace, newTitle, owner } from "./world.js";

let connection: Awaited<ReturnType<typeof connect>>;
let folder: string;

before(async () => {
  connection = await connect();
  folder = await mkdtemp(join(tmpdir(), "ledger-"));
});
after(async () => {
  connection.destroy();
  await rm(folder, { recursive: true });
});

class Crash extends Error {}

/** A ledger whose process dies before or after a note is written, once. */
class Dying implements Ledger {
  constructor(
    private readonly ledger: Ledger,
    private step: Step | undefined,
    private readonly after: boolean,
  ) {}

  read(id: string, step: Step) {
    return this.ledger.read(id, step);
  }

  async add(id: string, step: Step, note: string) {
    if (step !== this.step) return this.ledger.add(id, step, note);
    this.step = undefined;
    if (this.after) await this.ledger.add(id, step, note);
    throw new Crash();
  }
}

interface Args {
  ids: unknown[];
}

/** One call, and how it can be asked again. */
class Scene {
  readonly title = newTitle();
  readonly id = `call-${randomUUID()}`;
  readonly ledger = new FileLedger(join(folder, randomUUID()));
  readonly ran: unknown[][] = [];

  guard(over: { ledger?: Ledger; redis?: Connection; run?: (args: Args) => unknown } = {}) {
    const client = new Client(over.redis ?? connection, { namespace });
    const guarded = requiresApproval(client, {
      tool: "trash", describe: ({ ids }: Args) => ({ title: this.title, lines: ids.map((id) => `${typeof id}`) }),
      ledger: over.ledger ?? this.ledger, request: { runtime: "node" },
      run: (args: Args) => {
        this.ran.push(args.ids);
        return over.run ? over.run(args) : { trashed: args.ids.length };
      },
    });
    return (ids: unknown[]) => guarded({ ids }, { approvalId: this.id, timeout: 300_000 });
  }
}

test("yes", async () => {
  const s = new Scene();
  const trash = s.guard();
  const ids = ["m1", "m2"];
  const asking = trash(ids);
  ids.push("m3"); // what runs is what was asked
  await owner("approve", s.title);
  assert.deepEqual(await asking, { status: "ran", value: { trashed: 2 } });
  await owner("card", s.title, "Done");
  assert.deepEqual(await trash(["m1", "m2"]), { status: "ran", value: { trashed: 2 } }); // not run again
  assert.deepEqual(s.ran, [["m1", "m2"]]);
  await assert.rejects(trash(["m3"]), Taken);
});

test("no", async () => {
  const s = new Scene();
  const asking = s.guard()(["m1"]);
  await owner("reject", s.title);
  const outcome = await asking;
  assert.equal(outcome.status, "declined");
  assert.match(outcome.status === "declined" ? outcome.observation : "", /the owner rejected this/);
  assert.deepEqual(s.ran, []);
});

test("a tool that throws", async () => {
  const s = new Scene();
  const trash = s.guard({ run: () => { throw new Error("the mail server is away"); } });
  const asking = assert.rejects(trash(["m1"]), /the mail server is away/);
  await owner("approve", s.title);
  await asking;
  assert.match(await owner("card", s.title, "Failed"), /the mail server is away/);
  await assert.rejects(trash(["m1"]), CallFailed);
  assert.equal(s.ran.length, 1);
});

test("a tool that would run after its report", () => {
  const describe = () => ({ title: "Trash" });
  const client = new Client(connection as unknown as Connection, { namespace });
  const runs: (() => unknown)[] = [function* () { yield 1; }, async function* () { yield 1; }];
  for (const run of runs) {
    assert.throws(() => requiresApproval(client, { tool: "trash", describe, run }), /TypeError.*trash is a generator function/);
  }
});

test("a tool that says more", async () => {
  const s = new Scene();
  const report = { outcome: "partial" as const, message: "one was gone" };
  const asking = s.guard({ run: () => new Ran("half", report) })(["m1"]);
  await owner("approve", s.title);
  assert.deepEqual(await asking, { status: "ran", value: "half" });
  assert.match(await owner("card", s.title, "Partly done"), /one was gone/);
});

for (const [step, after, first, all, status] of [
  ["asked", false, 0, 1, "ran"],
  ["asked", true, 0, 1, "ran"],
  ["started", false, 0, 1, "ran"], // claimed, and then dead
  ["started", true, 0, 0, "unsure"],
  ["done", false, 1, 1, "unsure"],
  ["done", true, 1, 1, "ran"],
  ["reported", false, 1, 1, "ran"],
] as const) {
  test(`dead ${after ? "after" : "before"} the note ${step}`, async () => {
    const s = new Scene();
    const dying = assert.rejects(s.guard({ ledger: new Dying(s.ledger, step, after) })(["m1"]), Crash);
    await owner("approve", s.title);
    await dying;
    assert.equal(s.ran.length, first);
    for (let i = 0; i < 2; i++) assert.equal((await s.guard()(["m1"])).status, status);
    assert.equal(s.ran.length, all);
    await owner("card", s.title, status === "ran" ? "Done" : "Partly done");
  });
}

test("the reply to the claim is lost", async () => {
  const s = new Scene();
  let lost = false;
  const losing = new Proxy(connection, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name, target);
      if (typeof found !== "function") return found;
      return async (...args: unknown[]) => {
        const reply: unknown = await found.apply(target, args);
        if ((name === "eval" || name === "evalSha") && !lost) {
          lost = true;
          throw new Error("Socket closed unexpectedly");
        }
        return reply;
      };
    },
  });
  const redis = Object.assign(Object.create(losing) as Connection, { duplicate: () => connection.duplicate() });
  const asking = assert.rejects(s.guard({ redis })(["m1"]), Unavailable);
  await owner("approve", s.title);
  await asking;
  assert.equal(s.ran.length, 0);
  assert.equal((await s.guard()(["m1"])).status, "ran");
  assert.equal(s.ran.length, 1);
});

test("another call was faster", async () => {
  const s = new Scene();
  const dying = assert.rejects(s.guard({ ledger: new Dying(s.ledger, "started", false) })(["m1"]), Crash);
  await owner("approve", s.title);
  await dying;
  // Neither the row nor the note of the first call is seen yet, for one look.
  let blind = true;
  const redis = Object.assign(Object.create(connection) as Connection, {
    duplicate: () => connection.duplicate(),
    hmGet: async (key: string, fields: string[]) => {
      if (!blind) return connection.hmGet(key, fields);
      blind = false;
      return [null];
    },
  });
  let slow = true;
  const ledger: Ledger = {
    read: async (id, step) => {
      if (step !== "asked" || !slow) return s.ledger.read(id, step);
      slow = false;
      return undefined;
    },
    add: (id, step, note) => s.ledger.add(id, step, note),
  };
  await assert.rejects(s.guard({ ledger, redis })(["m2", "m3"]), Taken);
  assert.deepEqual(s.ran, []);
  assert.equal((await s.guard()(["m1"])).status, "ran");
  assert.deepEqual(s.ran, [["m1"]]);
});

test("still running", async () => {
  const s = new Scene();
  const asking = s.guard({
    run: async () => {
      for (let i = 0; i < 2; i++) assert.equal((await s.guard()(["m1"])).status, "unsure");
      assert.match(await owner("card", s.title, "Partly done"), /not known/);
      return 1;
    },
  })(["m1"]);
  await owner("approve", s.title);
  assert.deepEqual(await asking, { status: "ran", value: 1 });
  await owner("card", s.title, "Done"); // what it came to is reported all the same
  assert.equal(s.ran.length, 1);
});

test("another's claim", async () => {
  const s = new Scene();
  const asking = s.guard()(["m1"]);
  await owner("approve", s.title);
  await asking;
  await assert.rejects(s.guard({ ledger: new FileLedger(join(folder, "other")) })(["m1"]), ClaimRefused);
  assert.equal(s.ran.length, 1);
});

test("bad input", async () => {
  const s = new Scene();
  for (const bad of [NaN, 2 ** 53, undefined, new Date(0), new Map(), 1n, () => 1, "\ud800", Symbol("x")]) {
    await assert.rejects(s.guard()([bad]), Invalid, String(bad));
  }
  assert.deepEqual(s.ran, []);
});

test("notes are written once", async () => {
  const ledger = new FileLedger(join(folder, "notes"));
  assert.equal(await ledger.read("a:1", "started"), undefined);
  assert.equal(await ledger.add("a:1", "started", "x"), true);
  assert.equal(await ledger.add("a:1", "started", "y"), false);
  assert.equal(await ledger.read("a:1", "started"), "x");
  assert.equal(await ledger.read("a:1", "done"), undefined);
});
