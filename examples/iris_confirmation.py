"""Answers a pending_confirmation of IRIS from Telegram; it is one of the documented kind."""
import os
import sys

import redis
from countersign import Client
from countersign.iris import ask_confirmation

confirmation = {
    "id": sys.argv[1], "kind": "calendar-approval", "summary": "Invite Ben to lunch, says IRIS",
    "detail": "Friday 12:30\nben@example.com", "options": ["approve", "reject"],
}
client = Client(redis.Redis.from_url(os.environ["REDIS_URL"]), os.environ.get("NAMESPACE", "approvals"))
held = ask_confirmation(client, confirmation, session="chat-1")
reply = held.wait()
print("next turn:", reply)  # the text by which IRIS runs the stashed write, or drops it
if reply == "approve":
    held.report("executed")
