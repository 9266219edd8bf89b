"""What an event must be, checked before anything is sent.

The checks, their order and their words are those of the bot, so that what passes
here is refused by it only for reasons that it alone knows: routes, streams, the
longest time allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Union

from . import _ijson, _write
from ._canonical import digest, pin_of, terms_of
from ._fields import Fields, Object, text_rule
from .errors import Invalid

MAX_DATA = 256 << 10  # bytes
MAX_NESTING = 32
MAX_CONTEXT = 16 << 10  # bytes
MAX_ANSWER = 1 << 20  # bytes
MAX_NAME = 200
MAX_TEXT = 2000
MAX_LINE = 1000
MAX_ITEMS = 5000

_BLANK = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"


@dataclass(frozen=True)
class Checked:
    """A request that was read: its digests, and the first rule it breaks."""

    approval_id: str
    terms: str  # the digest of the bytes where there are no terms
    pin: str  # "" where the calls could not be read
    fault: Optional[Invalid]


def check_request(data: bytes) -> Checked:
    """Reads the data of approval.requested."""
    f = Fields(data, MAX_DATA, MAX_NESTING)
    terms, pin = digest(data), ""
    if f.whole is not None and f.whole.fault is None and isinstance(f.whole.value, dict):
        terms = terms_of(f.whole.value)
    if f.object is not None:
        calls = _request(f, f.object)
        if calls is not None:
            pin = pin_of(calls)
    return Checked(f.id, terms, pin, f.wrong)


def check_withdrawal(data: bytes) -> None:
    f = Fields(data, MAX_DATA, MAX_NESTING)
    if f.object is not None:
        f.text(f.object, "", "reason", MAX_TEXT)
    f.finish()


def check_claim(data: bytes) -> None:
    f = Fields(data, MAX_DATA, MAX_NESTING)
    if f.object is not None:
        f.required(f.object, "", "pin", MAX_NAME)
        f.required(f.object, "", "by", MAX_NAME)
    f.finish()


def check_report(data: bytes) -> None:
    f = Fields(data, MAX_DATA, MAX_NESTING)
    o = f.object
    if o is not None:
        if not f.one_of(o, "", "outcome", "", "executed", "failed", "partial", "undone"):
            f.invalid("outcome", "required")
        f.text(o, "", "message", MAX_TEXT)
        for i, item in enumerate(f.items(o, "", "results", MAX_ITEMS)):
            path = f"results[{i}]"
            if not isinstance(item, dict):
                f.invalid(path, "must be an object")
                continue
            if f.integer(item, path + ".", "line", 1, _ijson.MAX_INTEGER) is None:
                f.invalid(path + ".line", "required")
            if f.boolean(item, path + ".", "ok") is None:
                f.invalid(path + ".ok", "required")
            f.text(item, path + ".", "detail", MAX_LINE)
        if o.get("undo_until") is not None:
            f.moment(o, "undo_until")
    f.finish()


def check_answer(data: bytes) -> _ijson.Text:
    """Reads the data of approval.answered. It believes nothing beyond the form."""
    # The arguments of a single call stand two levels deeper than in the request.
    f = Fields(data, MAX_ANSWER, MAX_NESTING + 2, "1 MiB")
    o = f.object
    if o is not None:
        for name, most in (("runtime", MAX_NAME), ("run_id", MAX_NAME)):
            f.text(o, "", name, most)
        decision = f.one_of(o, "", "decision", "", "approved", "rejected", "lapsed", "withdrawn", "refused")
        f.text(o, "", "terms", MAX_NAME)
        f.text(o, "", "pin", MAX_NAME)
        for i, item in enumerate(f.items(o, "", "calls", 50)):
            _listed_call(f, item, f"calls[{i}]")
        f.text(o, "", "reason", MAX_ANSWER)
        f.text(o, "", "observation", MAX_ANSWER)
        _by(f, f.inner(o, "", "by"), "by.")
        shown = f.inner(o, "", "shown")
        for name in ("lines", "of"):
            f.integer(shown, "shown.", name, 0, MAX_ITEMS)
        f.moment(o, "at")
        for i, item in enumerate(f.items(o, "", "approvals", MAX_ANSWER)):
            if isinstance(item, dict):
                _by(f, item, f"approvals[{i}].")
            else:
                f.invalid(f"approvals[{i}]", "must be an object")
        if not decision:
            f.invalid("decision", "required")
        if o.get("approved") is None or f.boolean(o, "", "approved") != (decision == "approved"):
            f.invalid("approved", "must be true for approved, else false")
    f.finish()
    assert f.whole is not None
    return f.whole


def _by(f: Fields, o: Object, path: str) -> None:
    surface = f.one_of(o, path, "surface", "", "telegram", "cli", "policy", "sweeper", "runtime", "intake")
    f.required(o, path, "id", MAX_NAME)
    f.text(o, path, "name", MAX_ANSWER)
    f.one_of(o, path, "method", "", "button", "typed")
    if not surface:
        f.invalid(path + "surface", "required")
    f.integer(o, path, "chat_id", -_ijson.MAX_INTEGER, _ijson.MAX_INTEGER)
    f.integer(o, path, "message_id", 0, _ijson.MAX_INTEGER)


def _request(f: Fields, o: Object) -> Optional[List[Object]]:
    """Checks a request; returns its calls, None unless all of them are good."""
    kind = f.one_of(o, "", "kind", "tool_call", "halt")
    for name in ("runtime", "run_id", "session"):
        f.text(o, "", name, MAX_NAME)
    calls = _calls(f, o, kind)
    f.one_of(o, "", "effect", "destructive", "write")
    if "approval" in o and o["approval"] != "pinned":
        f.invalid("approval", "must be pinned or absent")
    assert f.whole is not None
    if len(f.whole.members.get("context", "").encode()) > MAX_CONTEXT:
        f.invalid("context", "over 16 KiB")
    _card(f, f.inner(o, "", "card"))
    if "expires_in" in o and "expires_at" in o:
        f.invalid("expires_at", "not allowed beside expires_in")
    elif "expires_in" in o:
        f.seconds(o, "expires_in")
    elif "expires_at" in o:
        f.moment(o, "expires_at")
    return calls


def _calls(f: Fields, o: Object, kind: str) -> Optional[List[Object]]:
    if kind == "halt":
        for name in ("tool", "arguments", "calls"):
            if o.get(name) is not None:
                f.invalid(name, "not allowed: a halt pins no call")
                return None
        return []
    before = f.faults
    if o.get("calls") is None:
        _call(f, o, "")
        return None if f.faults > before else [o]
    for name in ("tool", "arguments"):
        if o.get(name) is not None:
            f.invalid("calls", f"not allowed beside {name}")
            return None
    calls = f.items(o, "", "calls", 50)
    if not calls and f.faults == before:
        f.invalid("calls", "must have at least 1 item")
    for i, item in enumerate(calls):
        _listed_call(f, item, f"calls[{i}]")
    return None if f.faults > before else calls


def _call(f: Fields, o: Object, path: str) -> None:
    f.required(o, path, "tool", MAX_NAME)
    if "arguments" not in o:
        f.invalid(path + "arguments", "required")
    elif not isinstance(o["arguments"], dict):
        f.invalid(path + "arguments", "must be an object")


def _listed_call(f: Fields, item: Any, path: str) -> None:
    if not isinstance(item, dict):
        f.invalid(path, "must be an object")
        return
    _call(f, item, path + ".")
    f.text(item, path + ".", "call_id", MAX_NAME)


def _card(f: Fields, card: Object) -> None:
    title = f.text(card, "card.", "title", 200)
    f.text(card, "card.", "action", 60)
    if not title.strip(_BLANK):
        f.invalid("card.title", "required")
    for i, line in enumerate(f.items(card, "card.", "lines", MAX_ITEMS)):
        wrong = text_rule(line, MAX_LINE)
        if wrong:
            f.invalid(f"card.lines[{i}]", wrong)
    f.text(card, "card.", "undo_tool", MAX_NAME)
    f.integer(card, "card.", "undo_window_days", 1, 3650)
    f.text(card, "card.", "request", MAX_TEXT)
    f.text(card, "card.", "summary", MAX_TEXT)


def to_bytes(data: Union[str, bytes, Any]) -> bytes:
    """Takes JSON text as it is, and writes anything else as JSON."""
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)
    if isinstance(data, str):
        return data.encode("utf-8", "surrogatepass")
    return _write.write(data).encode()
