"""The verbs as steps: generators that yield what Redis is to be asked and are sent the
reply. The clients of sync.py and aio.py drive the same steps."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass
from importlib import resources
from typing import Any, Callable, Dict, Generator, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union

from redis.exceptions import NoScriptError, RedisError

from . import _fields, _rules
from ._replies import denied, entries_of, seconds_of, text_of
from ._signature import Keys
from .errors import ClaimRefused, NotMine, Taken, TimedOut, Unavailable, Unknown
from .model import PATIENCE, Answer, Pending, Row, Undo

T = TypeVar("T")


@dataclass(frozen=True)
class Ask:
    """One command for Redis."""

    words: Tuple[Any, ...]


@dataclass(frozen=True)
class Pause:
    """A wait, in seconds."""

    seconds: float


@dataclass(frozen=True)
class Run:
    """The guarded call itself."""

    arguments: Dict[str, Any]


Steps = Generator[Union[Ask, Pause, Run], Any, T]


def claim_script() -> str:
    """The script by which a call is claimed, for whoever claims by EVAL."""
    return resources.files(__package__).joinpath("claim.lua").read_text("utf-8")


class Core:
    """The verbs of one namespace. It keeps nothing between calls."""

    def __init__(
        self, namespace: str, stream: Optional[str], block: float, away: float,
        keys: Optional[Sequence[Union[str, bytes]]] = None,
    ) -> None:
        self.keys = None if keys is None else Keys(keys)
        self.prefix = f"{{{namespace}}}:"
        self.own = stream is not None
        self.stream = stream or self.prefix + "requests"
        self.block = block  # seconds that one read of an answer blocks
        self.poll = min(1.0, block)  # seconds between two tries while Redis is away
        self.away = away  # seconds after which Redis is given up
        self.script = claim_script()
        self.sha = hashlib.sha1(self.script.encode()).hexdigest()

    def key(self, kind: str, approval_id: str) -> str:
        return f"{self.prefix}{kind}:{approval_id}"

    def request(self, data: Any, stream: Optional[str], no_check: bool) -> Steps[Pending]:
        raw = _rules.to_bytes(data)
        checked = _rules.check_request(raw)
        stream = stream or self.stream
        if not no_check:
            if checked.fault:
                raise checked.fault
            yield from self.served(stream)
            terms = (yield from self.row(checked.approval_id, "terms"))[0]
            if terms is not None and terms != checked.terms:
                raise Taken(f"request {checked.approval_id!r}: this id is taken by another request")
        entry = yield from self.publish(stream, "approval.requested", checked.approval_id + "/requested", raw)
        return Pending(checked.approval_id, stream, entry, checked.terms, checked.pin)

    def served(self, stream: str) -> Steps[None]:
        key = self.prefix + "alive"
        alive = text_of((yield Ask(("GET", key))))
        if alive is None:
            raise Unavailable("no bot is serving this queue")
        try:
            streams = json.loads(alive)
        except ValueError:
            raise Unavailable(f"{key} is no list of streams") from None
        if not isinstance(streams, list) or stream not in streams:
            raise Unavailable(f"no bot is reading the stream {stream}")

    def await_answer(self, pending: Pending, timeout: Optional[float]) -> Steps[Answer]:
        if not _fields.valid_id(pending.approval_id):
            raise Unknown(f"await {pending.approval_id!r}: no such approval")
        return (yield from self.follow(
            pending.approval_id, timeout, "approval.answered",
            lambda data: judge(pending, data), lambda: self.look(pending),
        ))

    def await_undo(self, approval_id: str, timeout: Optional[float]) -> Steps[Undo]:
        return (yield from self.follow(
            approval_id, timeout, "approval.undo_requested", Undo.read, lambda: self.must_live(approval_id),
        ))

    def must_live(self, approval_id: str) -> Steps[Optional[str]]:
        yield from self.read_row(approval_id)
        return None

    def follow(
        self, approval_id: str, timeout: Optional[float], kind: str,
        read: Callable[[str], T], look: Callable[[], Steps[Optional[str]]],
    ) -> Steps[T]:
        """Reads the approval's own stream until it has an event of a kind."""
        believed = read

        def read_signed(data: str) -> T:
            if self.keys is not None:
                self.keys.check(data)
            return believed(data)

        read = read_signed
        key, last = self.key("answer", approval_id), "0"
        began = time.monotonic()
        away_since: Optional[float] = None
        while True:
            block = self.block
            if timeout is not None:
                left = timeout - (time.monotonic() - began)
                if left <= 0:
                    raise TimedOut(f"await {approval_id!r}: nothing within {timeout:g} seconds")
                block = min(block, left)
            try:
                words = ("XREAD", "BLOCK", max(1, int(block * 1000)), "STREAMS", key, last)
                entries = entries_of((yield Ask(words)))
                for last, fields in entries:
                    if fields.get("type") == kind:
                        return read(fields.get("data", ""))
                if not entries:
                    found = yield from look()
                    if found is not None:
                        return read(found)
                away_since = None
            except RedisError as e:
                if denied(e):
                    raise
                now = time.monotonic()
                away_since = now if away_since is None else away_since
                if now - away_since >= self.away:
                    raise Unavailable(f"await {approval_id!r}: Redis cannot be reached: {e}") from e
                yield Pause(self.poll)

    def look(self, pending: Pending) -> Steps[Optional[str]]:
        """Reads the row, where the answer stands too, and decides whether there is
        something to wait for."""
        who = f"await {pending.approval_id!r}"
        state, answer, expires, terms = yield from self.row(
            pending.approval_id, "state", "answer", "expires_at", "terms"
        )
        now = seconds_of((yield Ask(("TIME",))))
        if state is None:
            asked = pending.entry.split("-")[0]
            if now - (int(asked) / 1000 if asked.isdecimal() else 0.0) >= PATIENCE:
                raise Unknown(f"{who}: no such approval")
            return None
        if answer:
            return answer
        if terms != pending.terms:
            raise NotMine(f"{who}: another request stands under this id")
        if expires and expires.isdecimal() and now - int(expires) / 1000 >= PATIENCE:
            raise Unavailable(f"{who}: still open half a minute after its deadline, so no bot is there")
        return None

    def claim(self, approval_id: str, pin: str, by: str, streams: Sequence[str]) -> Steps[None]:
        data = _rules.to_bytes({"approval_id": approval_id, "pin": pin, "by": by})
        _rules.check_claim(data)
        key = self.key("claim", approval_id)
        rest = ("1", key, self.key("row", approval_id), pin, by, approval_id + "/claimed", data, *streams)
        try:
            status = text_of((yield Ask(("EVALSHA", self.sha, *rest))))
        except NoScriptError:
            status = text_of((yield Ask(("EVAL", self.script, *rest))))
        if status != "ok":
            raise ClaimRefused(approval_id, status or "unknown")

    def claimant(self, approval_id: str) -> Steps[Optional[str]]:
        key = self.key("claim", approval_id)
        return text_of((yield Ask(("HMGET", key, "by")))[0])

    def report(
        self, approval_id: str, outcome: str, results: Optional[Sequence[Mapping[str, Any]]],
        message: Optional[str], undo_until: Optional[str],
    ) -> Steps[None]:
        event: Dict[str, Any] = {"approval_id": approval_id, "outcome": outcome}
        extra = {"results": results, "message": message, "undo_until": undo_until}
        event.update({name: value for name, value in extra.items() if value is not None})
        data = _rules.to_bytes(event)
        _rules.check_report(data)
        stream = yield from self.stream_of(approval_id)
        yield from self.publish(stream, "approval.reported", approval_id + "/reported", data)

    def withdraw(self, approval_id: str, reason: Optional[str]) -> Steps[None]:
        event = {"approval_id": approval_id}
        if reason:
            event["reason"] = reason
        data = _rules.to_bytes(event)
        _rules.check_withdrawal(data)
        try:
            stream = yield from self.stream_of(approval_id)
        except Unknown:
            if not self.own:
                raise
            stream = self.stream  # not read yet: it is remembered there
        yield from self.publish(stream, "approval.withdrawn", approval_id + "/withdrawn", data)

    def read_row(self, approval_id: str) -> Steps[Row]:
        names = ("state", "ref", "stream", "terms", "pin", "opened_at", "expires_at", "request", "answer", "report", "undo")
        found = yield from self.row(approval_id, *names)
        if not found[0]:
            raise Unknown(f"row {approval_id!r}: no such approval")
        fields: Dict[str, Any] = {name: value or "" for name, value in zip(names, found)}
        for name in ("opened_at", "expires_at"):
            fields[name] = int(fields[name]) if fields[name].isdecimal() else 0
        return Row(approval_id=approval_id, **fields)

    def row(self, approval_id: str, *names: str) -> Steps[List[Optional[str]]]:
        key = self.key("row", approval_id)
        return [text_of(value) for value in (yield Ask(("HMGET", key, *names)))]

    def stream_of(self, approval_id: str) -> Steps[str]:
        stream = (yield from self.row(approval_id, "stream"))[0]
        if not stream:
            raise Unknown(f"{approval_id!r}: no such approval")
        return stream

    def publish(self, stream: str, kind: str, event: str, data: bytes) -> Steps[str]:
        entry = yield Ask((
            "XADD", stream, "*", "specversion", "1.0", "type", kind, "id", event,
            "source", "countersign-client", "data", data,
        ))
        return text_of(entry) or ""


def judge(pending: Pending, data: str) -> Answer:
    """Reads an answer and believes it only if it is to what was asked."""
    answer = Answer.read(data)
    same = answer.terms == pending.terms and answer.pin == pending.pin
    if answer.decision == "refused":
        same = answer.terms in ("", pending.terms) and answer.pin in ("", pending.pin)
    if answer.approval_id != pending.approval_id or not same:
        raise NotMine(f"answer to {pending.approval_id!r}: the answer is not to this request")
    return answer
