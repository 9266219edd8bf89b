"""What the adapters share: something that another system holds until its owner has
answered."""

from __future__ import annotations

import hashlib
import socket
from typing import Any, Mapping, Optional

from . import _fields
from .model import Answer, Pending
from .sync import Client


class Question:
    """An approval that was asked for another system, which runs it itself."""

    def __init__(self, client: Client, request: Mapping[str, Any], by: Optional[str]) -> None:
        self.pending: Pending = client.request(request)
        self.answer: Optional[Answer] = None
        self._client = client
        self._by = by or socket.gethostname()

    def decided(self, timeout: Optional[float]) -> Answer:
        """The answer; an approval is claimed first, so that of any number of askers one
        gets it, once, and the others ClaimRefused."""
        self.answer = self._client.await_answer(self.pending, timeout)
        if self.answer.approved:
            self._client.claim(self.pending.approval_id, self.pending.pin, self._by, self.pending.stream)
        return self.answer

    def report(self, outcome: str, message: Optional[str] = None) -> None:
        """Says what the other system made of an approved call: executed, failed, partial or
        undone."""
        self._client.report(self.pending.approval_id, outcome, message=message)


def approval_id(system: str, own: Any) -> str:
    """An id of another system's as an approval's: the same, or its digest where it has other
    characters or is too long."""
    text = str(own)
    return text if _fields.valid_id(text) else f"{system}:{hashlib.sha256(text.encode()).hexdigest()}"
