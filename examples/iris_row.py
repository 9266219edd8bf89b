"""Answers an approval row of IRIS from Telegram; the row here is one of its documented kind."""
import os
import sys

import redis
from countersign import Client
from countersign.iris import ask_row

row = {
    "id": sys.argv[1], "tool": "trash_email", "arguments": {"ids": ["m1", "m2"]}, "effect": "destructive",
    "card": {
        "title": "Trash 2 emails, says IRIS", "lines": ["Big sale", "Last chance"],
        "undo_tool": "restore_email", "undo_window_days": 30, "request": "Delete my promo emails",
    },
}
client = Client(redis.Redis.from_url(os.environ["REDIS_URL"]), os.environ.get("NAMESPACE", "approvals"))
held = ask_row(client, row, expires_in=3600)  # IRIS keeps such a row for an hour
reply = held.wait()
print("respond_to_approval:", row["id"], reply)  # here IRIS runs the pinned call, or goes on without
if reply == "approve":
    held.report("executed")
