// A LangChain agent whose calls an owner approves in Telegram; the model is played.
import { MemorySaver } from "@langchain/langgraph";
import { createClient } from "@redis/client";
import { Client } from "countersign";
import { invokeWithApproval } from "countersign-langchain";
import { AIMessage, createAgent, fakeModel, humanInTheLoopMiddleware, tool } from "langchain";

const trash = tool(({ id }) => console.log("running: trash_email", id), {
  name: "trash_email", description: "Trashes an email", schema: { type: "object", properties: { id: { type: "string" } } },
});
const call = { name: "trash_email", args: { id: "m7" }, id: process.argv[2] };
const agent = createAgent({
  model: fakeModel().respond(new AIMessage({ content: "", tool_calls: [call] })).respond(new AIMessage("It is in the bin.")),
  tools: [trash], checkpointer: new MemorySaver(),
  middleware: [humanInTheLoopMiddleware({ interruptOn: { trash_email: { allowedDecisions: ["approve", "reject"] } } })],
});
const redis = await createClient({ url: process.env.REDIS_URL }).connect();
const client = new Client(redis, { namespace: process.env.NAMESPACE ?? "approvals" });
const result = await invokeWithApproval(agent, { messages: "Trash m7" }, { configurable: { thread_id: "t-1" } }, client, {
  request: { card: { title: "Trash 1 email, says LangChain" } },
});
console.log(result.messages.at(-1).content);
redis.destroy();
