"""Resumes a run of AbstractRuntime from Telegram; the wait here is one of its documented kind."""
import json
import os
import sys

import redis
from countersign import Client
from countersign.abstractruntime import ask

wait = {
    "reason": "user", "wait_key": f"tool_approval:run-1:node-1:{sys.argv[1]}", "details": {
        "mode": "approval_required", "executor": {"kind": "tool_approval"},
        "tool_calls": [{"name": "delete_files", "arguments": {"paths": ["a.txt"]}, "call_id": "c1"}],
    },
}
client = Client(redis.Redis.from_url(os.environ["REDIS_URL"]), os.environ.get("NAMESPACE", "approvals"))
held = ask(client, "run-1", wait, describe=lambda call: ", ".join(call["arguments"]["paths"]))
payload = held.wait()
print("resume:", json.dumps(held.command(payload)["payload"]))  # here the run goes on
if payload["approved"] is True:
    held.report("executed")
