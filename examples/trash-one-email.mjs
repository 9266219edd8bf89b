// Asks before it trashes an email, and trashes only what was approved.
import { createClient } from "@redis/client";
import { Client } from "countersign";

const redis = await createClient({ url: process.env.REDIS_URL }).connect();
const client = new Client(redis, { namespace: process.env.NAMESPACE ?? "approvals" });
const pending = await client.request({
  approval_id: process.argv[2], runtime: "mail-script", tool: "trash_email", arguments: { id: "m7" },
  card: { title: "Trash 1 email, says Node", lines: ["Big sale"] },
});
const answer = await client.awaitAnswer(pending);
if (answer.approved) {
  await client.claim(pending.approval_id, pending.pin, "worker-1", pending.stream);
  console.log("running:", answer.calls[0].tool, answer.calls[0].arguments.id);
  await client.report(pending.approval_id, { outcome: "executed" });
} else {
  console.error(answer.observation);
  process.exitCode = 1;
}
redis.destroy();
