"""One guarded call as steps: ask, wait, claim, run, report, each at most once."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional

from redis.exceptions import RedisError

from ._rules import check_request, to_bytes
from ._steps import Core, Run, Steps
from .errors import CallFailed, ClaimRefused, CountersignError, Taken
from .ledger import Ledger
from .model import Answer, Pending

log = logging.getLogger("countersign")

UNSURE = "this was started and then broken off: whether it took effect is not known, so it is not run again"


class Declined(str):
    """The observation for the model where the answer was a no: nothing was run."""

    answer: Answer


class Unsure(str):
    """The observation where it is not known whether the call took effect."""


class DoneBefore(str):
    """The observation where the call ran before and its result was not kept."""


@dataclass(frozen=True)
class Ran:
    """What a call came to, for the ones whose report has more to say than executed."""

    value: Any = None
    outcome: str = "executed"  # executed, partial or failed
    message: Optional[str] = None
    results: Optional[List[Dict[str, Any]]] = None  # {line, ok, detail?}


def guarded(core: Core, ledger: Optional[Ledger], by: str, request: Mapping[str, Any], timeout: Optional[float]) -> Steps[Any]:
    data = to_bytes(request)
    arguments = json.loads(data)["arguments"]  # frozen here: what is asked is what is run
    checked = check_request(data)
    if checked.fault:
        raise checked.fault
    approval_id = checked.approval_id
    notes = _Notes(ledger, approval_id)
    asked = notes.read("asked")
    if asked is None:
        pending = yield from core.request(data, None, False)
        if not notes.add("asked", pending.to_json()):
            asked = notes.read("asked") or ""  # another process was faster
    if asked is not None:
        pending = Pending.from_json(asked)
        if (pending.terms, pending.pin) != (checked.terms, checked.pin):
            raise Taken(f"{approval_id!r} was asked before, with other terms")
        if notes.read("started") is not None:
            return (yield from _settled(core, notes))
    answer = yield from core.await_answer(pending, timeout)
    if not answer.approved:
        declined = Declined(answer.observation)
        declined.answer = answer
        return declined
    yield from _claim(core, ledger, pending, by)
    if not notes.add("started", ""):
        return (yield from _settled(core, notes))
    try:
        value = yield Run(arguments)
    except Exception as e:
        ran = Ran(None, "failed", f"{type(e).__name__}: {e}"[:2000])
        yield from _finish(core, notes, ran)
        raise
    ran = value if isinstance(value, Ran) else Ran(value)
    yield from _finish(core, notes, ran)
    return ran.value


def _claim(core: Core, ledger: Optional[Ledger], pending: Pending, by: str) -> Steps[Any]:
    """Claims the call, or finds that it was this very request that has claimed it.

    The entry's id is nobody else's, so a claim in that name by a process that died, or
    whose reply was lost, is known again. Only the ledger says that it was not started.
    """
    name = f"{by[:150]} {pending.entry}"
    try:
        yield from core.claim(pending.approval_id, pending.pin, name, (pending.stream,))
    except ClaimRefused as e:
        if ledger is None or e.status != "already_claimed":
            raise
        claimant = yield from core.claimant(pending.approval_id)
        if (claimant or "").split(" ")[-1] != pending.entry:  # a process before this one had another name
            raise


def _settled(core: Core, notes: _Notes) -> Steps[Any]:
    """What is known of a call that was started before."""
    done = notes.read("done")
    if done is None:
        yield from _report(core, notes, Ran(None, "partial", UNSURE), "unsure")
        done = notes.read("done")
        if done is None:
            return Unsure(UNSURE)
        # It was still running, and its own report may have gone before the other one: it
        # is said again, since the last one counts.
        yield from _send(core, notes, _kept(done))
    kept, ran = json.loads(done), _kept(done)
    yield from _report(core, notes, ran)
    if ran.outcome == "failed" and kept["raised"]:
        raise CallFailed(ran.message or "")
    return ran.value if "value" in kept else DoneBefore("this was done before; its result was not kept")


def _kept(done: str) -> Ran:
    kept = json.loads(done)
    return Ran(kept.get("value"), kept["outcome"], kept.get("message"), kept.get("results"))


def _finish(core: Core, notes: _Notes, ran: Ran) -> Steps[Any]:
    note: Dict[str, Any] = {"outcome": ran.outcome, "message": ran.message, "results": ran.results}
    note["raised"] = ran.outcome == "failed" and ran.value is None
    try:
        note["value"] = json.loads(json.dumps(ran.value, allow_nan=False))
    except (TypeError, ValueError):
        pass  # it is no JSON, and is not kept
    notes.add("done", json.dumps(note))
    yield from _report(core, notes, ran)


def _report(core: Core, notes: _Notes, ran: Ran, note: str = "reported") -> Steps[Any]:
    """Reports once. What cannot be reported now is reported when the call is asked again:
    the call ran, and its result is worth more than an error."""
    if notes.read(note) is None and (yield from _send(core, notes, ran)):
        notes.add(note, "")


def _send(core: Core, notes: _Notes, ran: Ran) -> Steps[bool]:
    try:
        yield from core.report(notes.approval_id, ran.outcome, ran.results, ran.message, None)
    except (RedisError, CountersignError) as e:
        log.warning("countersign: %s was not reported: %s", notes.approval_id, e)
        return False
    return True


class _Notes:
    """The ledger's notes on one approval; without a ledger, none."""

    def __init__(self, ledger: Optional[Ledger], approval_id: str) -> None:
        self.ledger = ledger
        self.approval_id = approval_id

    def read(self, step: str) -> Optional[str]:
        return self.ledger.read(self.approval_id, step) if self.ledger else None

    def add(self, step: str, note: str) -> bool:
        return self.ledger.add(self.approval_id, step, note) if self.ledger else True
