"""Asks before it trashes an email, and trashes only what was approved."""
import os
import sys

import redis
from countersign import Client

client = Client(redis.Redis.from_url(os.environ["REDIS_URL"]), os.environ.get("NAMESPACE", "approvals"))
pending = client.request({
    "approval_id": sys.argv[1], "runtime": "mail-script", "tool": "trash_email", "arguments": {"id": "m7"},
    "card": {"title": "Trash 1 email, says Python", "lines": ["Big sale"]},
})
answer = client.await_answer(pending)
if not answer.approved:
    sys.exit(answer.observation)
client.claim(pending.approval_id, pending.pin, "worker-1", pending.stream)
print("running:", answer.calls[0].tool, answer.calls[0].arguments["id"])
client.report(pending.approval_id, "executed")
