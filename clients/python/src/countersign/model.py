"""What passes between a runtime and the queue."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Dict, List, Mapping, Optional

from . import _rules

PATIENCE = 30.0
"""How many seconds after it was published a request must have a row, and after its
deadline an answer."""


@dataclass(frozen=True)
class Pending:
    """A request that was published. Keep it, as JSON, to await the answer after a restart."""

    approval_id: str
    stream: str
    entry: str  # the stream entry's id; its time is when Redis took it
    terms: str
    pin: str  # "" where the calls could not be read

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Pending:
        fields = json.loads(text)
        return cls(**{name: str(fields[name]) for name in ("approval_id", "stream", "entry", "terms", "pin")})


@dataclass(frozen=True)
class Call:
    """One pinned call."""

    tool: str
    arguments: Dict[str, Any]
    call_id: str = ""


@dataclass(frozen=True)
class By:
    """Who answered, or what did."""

    surface: str  # telegram, cli, policy, sweeper, runtime or intake
    id: str
    name: str = ""
    chat_id: int = 0
    message_id: int = 0
    method: str = ""  # button, typed or ""


@dataclass(frozen=True)
class Answer:
    """The one answer to a request, and the text it came in, signature included."""

    approval_id: str
    decision: str  # approved, rejected, lapsed, withdrawn or refused
    observation: str  # one plain sentence for the model
    by: By
    at: str  # RFC 3339
    data: str
    calls: Optional[List[Call]] = None  # empty for a halt, None where they could not be read
    context: Any = None
    terms: str = ""
    pin: str = ""
    reason: str = ""
    runtime: str = ""
    run_id: str = ""
    approvals: Optional[List[By]] = None  # under a quorum, all that approved
    shown: Optional[Dict[str, int]] = None  # {lines, of}

    @property
    def approved(self) -> bool:
        return self.decision == "approved"

    @classmethod
    def read(cls, data: str) -> Answer:
        """Reads the data of approval.answered; raises Invalid."""
        o: Dict[str, Any] = _rules.check_answer(_rules.to_bytes(data)).value
        calls = o.get("calls")
        approvals = o.get("approvals")
        texts = {name: o.get(name) or "" for name in ("terms", "pin", "reason", "runtime", "run_id")}
        return cls(
            approval_id=o["approval_id"], decision=o["decision"], observation=o.get("observation") or "",
            by=_by(o["by"]), at=o["at"], data=data,
            calls=None if calls is None else [Call(c["tool"], c["arguments"], c.get("call_id") or "") for c in calls],
            context=o.get("context"), approvals=None if approvals is None else [_by(b) for b in approvals],
            shown=o.get("shown"), **texts,
        )


def _by(o: Mapping[str, Any]) -> By:
    return By(
        o["surface"], o["id"], o.get("name") or "", o.get("chat_id") or 0, o.get("message_id") or 0, o.get("method") or ""
    )


@dataclass(frozen=True)
class Undo:
    """An owner's wish to have an executed call undone: run undo_tool for what calls did,
    and report the outcome undone."""

    approval_id: str
    undo_tool: str
    calls: List[Call]
    context: Any
    by: By
    data: str  # signature included

    @classmethod
    def read(cls, data: str) -> Undo:
        o = json.loads(data)
        calls = [Call(c["tool"], c["arguments"], c.get("call_id") or "") for c in o.get("calls") or []]
        return cls(o["approval_id"], o["undo_tool"], calls, o.get("context"), _by(o["by"]), data)


@dataclass(frozen=True)
class Row:
    """What a runtime may know of an approval. JSON is as it stands in Redis, "" where
    there is none; times are Unix milliseconds."""

    approval_id: str
    state: str
    ref: str  # what an owner may answer by text
    stream: str
    terms: str
    pin: str
    opened_at: int
    expires_at: int
    request: str
    answer: str
    report: str
    undo: str
