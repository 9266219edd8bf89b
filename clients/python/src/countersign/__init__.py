"""Approvals for what agents and scripts want to do, asked through Redis and answered in
Telegram.

    client = Client(redis.Redis())
    pending = client.request({
        "approval_id": "mail-1", "tool": "trash_email", "arguments": {"ids": ["m1"]},
        "card": {"title": "Trash 1 email"},
    })
    answer = client.await_answer(pending)
    if answer.approved:
        client.claim(pending.approval_id, pending.pin, "worker-1")
        ...  # run the call
        client.report(pending.approval_id, "executed")

AsyncClient has the same verbs for asyncio, and requires_approval wraps a tool so that it
does all of this by itself.
"""

from ._guarded import Declined, DoneBefore, Ran, Unsure
from ._steps import claim_script
from .aio import AsyncClient
from .errors import (
    BadSignature,
    CallFailed,
    ClaimRefused,
    CountersignError,
    Invalid,
    NotMine,
    Taken,
    TimedOut,
    Unavailable,
    Unknown,
)
from .guard import requires_approval
from .ledger import FileLedger, Ledger
from .model import Answer, By, Call, Pending, Row, Undo
from .sync import Client

__all__ = [
    "Answer", "AsyncClient", "BadSignature", "By", "Call", "CallFailed", "ClaimRefused", "Client", "CountersignError", "Declined",
    "DoneBefore", "FileLedger", "Invalid", "Ledger", "NotMine", "Pending", "Ran", "Row", "Taken", "TimedOut",
    "Unavailable", "Undo", "Unknown", "Unsure", "claim_script", "requires_approval",
]
