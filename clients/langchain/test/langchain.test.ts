// The adapter against the whole bot, with a runtime's rights, while Ann taps; the agent and its
// middleware are LangChain's own, and only the model is played.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { MemorySaver } from "@langchain/langgraph";
import { createClient } from "@redis/client";
import { ClaimRefused, Client, Unavailable } from "countersign";
import { AIMessage, createAgent, fakeModel, humanInTheLoopMiddleware, tool } from "langchain";
import { CannotAsk, invokeWithApproval, type Result, settle } from "../src/index.js";

const { COUNTERSIGN_TEST_RUNTIME: url, COUNTERSIGN_TEST_NAMESPACE: namespace, COUNTERSIGN_TEST_CONTROL: control } = process.env;
const connection = createClient({ url });
const client = new Client(connection, { namespace });
const wait = { timeout: 300_000 };
let n = 0;

before(async () => void (await connection.connect()));
after(() => connection.destroy());

async function owner(act: string, title: string, says = ""): Promise<string> {
  const reply = await fetch(`${control}/${act}?${new URLSearchParams({ title, says })}`, { method: "POST" });
  const text = await reply.text();
  if (!reply.ok) throw new Error(text);
  return text;
}

const newTitle = () => "Run " + Array.from(randomBytes(12), (b) => String.fromCharCode(97 + (b % 26))).join("");
const schema = { type: "object", properties: { ids: { type: "array", items: { type: "string" } } } } as const;

/** An agent whose model first calls a tool for each of some lists of ids, and then says that it is done. */
function agent(lists: string[][], allowedDecisions: ("approve" | "edit" | "reject")[] = ["approve", "reject"]) {
  const ran: string[][] = [];
  const trash = tool(async ({ ids }: { ids: string[] }) => {
    if (ids.includes("gone")) throw new Error("gone is gone");
    ran.push(ids);
    return `trashed ${ids.join()}`;
  }, { name: "trash", description: "trashes", schema });
  const model = fakeModel()
    .respond(new AIMessage({ content: "", tool_calls: lists.map((ids, i) => ({ name: "trash", args: { ids }, id: `call-${n}-${i}` })) }))
    .respond(new AIMessage("done"));
  const made = createAgent({
    model, tools: [trash], checkpointer: new MemorySaver(),
    middleware: [humanInTheLoopMiddleware({ interruptOn: { trash: { allowedDecisions } } })],
  });
  return { agent: made, ran, config: { configurable: { thread_id: `t-${n++}` } } };
}

const input = { messages: [{ role: "user", content: "trash them" }] };
const options = (title: string) => ({ ...wait, describe: (a: { args: Record<string, unknown> }) => String(a.args.ids), request: { card: { title } } });

test("approved", async () => {
  const title = newTitle();
  const a = agent([["m1"], ["m2", "m3"]]);
  const running = invokeWithApproval(a.agent, input, a.config, client, options(title));
  await owner("approve", title);
  const result = await running;
  assert.deepEqual(a.ran, [["m1"], ["m2", "m3"]]);
  assert.equal(result.messages.at(-1)!.content, "done");
  assert.match(await owner("card", title, "Done"), /m2,m3/);
});

test("rejected", async () => {
  const title = newTitle();
  const a = agent([["m1"], ["m2"]]);
  const running = invokeWithApproval(a.agent, input, a.config, client, options(title));
  await owner("reject", title);
  const result = await running;
  assert.deepEqual(a.ran, []);
  const told = result.messages.filter((m) => m.tool_call_id).map((m) => [m.status, String(m.content).startsWith("the owner rejected this")]);
  assert.deepEqual(told, [["error", true], ["error", true]]);
});

test("no answer is a rejection that says so", async () => {
  const a = agent([["m1"]]);
  const result = (await a.agent.invoke(input, a.config)) as unknown as Result;
  const asked = settle(client, result, options(newTitle()));
  const id = `langchain.${result.__interrupt__![0]!.id}`;
  while (!(await client.withdraw(id).then(() => true, () => false))) await new Promise((resolve) => setTimeout(resolve, 20));
  const { resume } = await asked;
  assert.match((resume.decisions[0] as { message: string }).message, /^no owner answered \(withdrawn\): .*nothing was changed, sent or deleted$/);
});

test("an interrupt is claimed once, by whoever asks", async () => {
  const title = newTitle();
  const a = agent([["m1"]]);
  const result = (await a.agent.invoke(input, a.config)) as unknown as Result;
  // Settled from the start: one may be refused before the owner's tap is known to have counted.
  const both = Promise.allSettled([settle(client, result, options(title)), settle(client, result, options(title))]);
  await owner("approve", title);
  const ended = await both;
  assert.deepEqual(ended.map((e) => e.status).sort(), ["fulfilled", "rejected"]);
  const refused = ended.find((e) => e.status === "rejected") as PromiseRejectedResult;
  assert.ok(refused.reason instanceof ClaimRefused && refused.reason.status === "already_claimed");
});

test("a tool that fails", async () => {
  const title = newTitle();
  const a = agent([["gone"]]);
  const running = invokeWithApproval(a.agent, input, a.config, client, options(title)).catch((e: unknown) => e);
  await owner("approve", title);
  await running;
  assert.deepEqual(a.ran, []);
  assert.match(await owner("card", title, "gone is gone"), /[Ff]ailed/);
});

test("what cannot be reported takes no result away", async () => {
  class Unheard extends Client {
    override async report(): Promise<void> {
      throw new Unavailable("Redis is away");
    }
  }
  const title = newTitle();
  const a = agent([["m1"]]);
  const told: unknown[] = [];
  const running = invokeWithApproval(a.agent, input, a.config, new Unheard(connection, { namespace }), {
    ...options(title), unreported: (report, _, error) => told.push(report.outcome, error instanceof Unavailable),
  });
  await owner("approve", title);
  assert.equal((await running).messages.at(-1)!.content, "done");
  assert.deepEqual(a.ran, [["m1"]]);
  assert.deepEqual(told, ["executed", true]);
  const broken = newTitle();
  const b = agent([["gone"]]);
  const failing = invokeWithApproval(b.agent, input, b.config, new Unheard(connection, { namespace }), options(broken)).catch((e: unknown) => e);
  await owner("approve", broken);
  assert.ok(!((await failing) instanceof Unavailable));
});

test("a card shows arguments by itself", async () => {
  const title = newTitle();
  const a = agent([["m1"], ["x".repeat(2000)]]);
  const running = invokeWithApproval(a.agent, input, a.config, client, { ...wait, request: { card: { title } } });
  const text = await owner("card", title, "cut; the exact call is whole");
  assert.match(text, /trash \{"ids":\["m1"\]\}/);
  await owner("reject", title);
  await running;
});

test("what cannot be asked is not sent", async () => {
  const edits = agent([["m1"]], ["approve", "edit"]);
  const { config } = edits;
  await assert.rejects(invokeWithApproval(edits.agent, input, config, client), CannotAsk);
  const a = agent([["m1"]]);
  const result = (await a.agent.invoke(input, a.config)) as unknown as Result;
  const other = structuredClone(result.__interrupt__![0]!) as { id: string; value: { actionRequests: { args: object }[] } };
  other.value.actionRequests[0]!.args = { ids: ["all"] };
  await assert.rejects(settle(client, { ...result, __interrupt__: [other] }), CannotAsk);
  await assert.rejects(settle(client, { ...result, __interrupt__: [] }), CannotAsk);
  await assert.rejects(settle(new Client(connection, { namespace: process.env.COUNTERSIGN_TEST_TABLE_NAMESPACE }), result), Unavailable);
  const away = createClient({ url: "redis://127.0.0.1:1" });
  away.on("error", () => undefined);
  away.connect().catch(() => undefined);
  await assert.rejects(settle(new Client(away, { namespace, commandTimeout: 300 }), result), Unavailable);
  away.destroy();
  const sent = await connection.hmGet(`{${namespace}}:row:langchain.${other.id}`, ["state"]);
  assert.deepEqual(sent, [null]);
});
