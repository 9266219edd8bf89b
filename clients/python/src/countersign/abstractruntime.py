"""Asking an owner in Telegram for a run of AbstractRuntime that waits for a tool approval.

    held = ask(client, run_id, wait)        # wait: the run's WaitState, as a mapping
    payload = held.wait()                   # {"approved": True}, or False with a reason
    runtime.resume(run_id, wait_key=held.wait_key, payload=payload)
    held.report("executed")                 # once the run's ledger shows the results

``held.command(payload)`` is the same for the gateway: the body of POST
/api/gateway/commands.

What the runtime cannot be told, or what cannot be asked:

- **Single calls.** The calls of a wait are answered as one: all run, or none.
- **Edits.** There are none; the stored calls run.
- **Time.** A wait never expires, an approval always does: what lapsed, was withdrawn or was
  refused goes back as not approved, with a reason that says that no owner answered.
- **Recorded is not resumed.** A command to the gateway is applied later, and may come to
  nothing (a paused run, a stale wait_key). The approval then stays claimed, and its card
  says after some minutes that nothing was reported.
- **The rest of the turn.** Calls that the runtime has blocked or run already are not
  in the wait; the card says how many there were in all.
- **Policy lists and sticky answers.** What the executor's lists say is the runtime's own and
  is not asked again; "always" does not exist.
"""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, List, Mapping, Optional

from ._held import Question, approval_id
from ._rules import MAX_LINE
from .sync import Client


class Held(Question):
    """A run that waits until its owner has answered."""

    def __init__(
        self, client: Client, request: Mapping[str, Any], by: Optional[str], run_id: str, wait_key: str
    ) -> None:
        super().__init__(client, request, by)
        self.run_id = run_id
        self.wait_key = wait_key

    def wait(self, timeout: Optional[float] = None) -> Dict[str, Any]:
        """What to resume the run with. approved is a boolean, always: the runtime takes any
        text for a yes. An approval is claimed first, so that a yes is returned once; a
        second wait raises ClaimRefused."""
        answer = self.decided(timeout)
        if answer.approved:
            return {"approved": True}
        if answer.decision == "rejected":
            return {"approved": False, "reason": answer.reason or answer.observation}
        return {"approved": False, "reason": f"no owner answered ({answer.decision}): {answer.observation}"}

    def command(self, payload: Mapping[str, Any]) -> Dict[str, Any]:
        """The gateway's command; the same answer has the same command_id, so that sending it
        again changes nothing."""
        return {
            "command_id": f"{self.pending.approval_id}:{'approve' if payload['approved'] is True else 'deny'}",
            "run_id": self.run_id, "type": "resume",
            "payload": {"wait_key": self.wait_key, "payload": dict(payload)},
        }


def ask(
    client: Client, run_id: str, wait: Mapping[str, Any], *, by: Optional[str] = None,
    describe: Optional[Callable[[Mapping[str, Any]], str]] = None, **more: Any,
) -> Held:
    """Asks for the tool calls of a wait. describe makes a card's line of a call; more are
    further fields of the request, such as effect, risk or expires_in. Without describe a line
    is the tool and its arguments, cut at 1,000 characters, which the line then says. A wait that is no tool
    approval raises ValueError."""
    details = wait.get("details") or {}
    calls: List[Mapping[str, Any]] = details.get("tool_calls") or []
    if wait.get("reason") != "user" or details.get("mode") != "approval_required" or not calls:
        raise ValueError("the run does not wait for a tool approval")
    key = str(wait["wait_key"])
    tools = [str(call["name"]) for call in calls]
    in_all = details.get("original_call_count") or len(calls)
    title = f"Run {tools[0]}" if len(calls) == 1 else f"Run {len(calls)} calls"
    if in_all > len(calls):
        title += f" of {in_all} in this turn"
    request = {
        "approval_id": approval_id("wait", key), "runtime": "abstractruntime", "run_id": run_id,
        "calls": [_call(call) for call in calls], "context": {"wait_key": key},
        "card": {"title": title, "lines": [(describe or _line)(call) for call in calls]}, **more,
    }
    return Held(client, request, by, run_id, key)


def _call(call: Mapping[str, Any]) -> Dict[str, Any]:
    pinned = {"tool": call["name"], "arguments": {} if call.get("arguments") is None else call["arguments"]}
    own = call.get("runtime_call_id") or call.get("call_id")
    return {**pinned, "call_id": own} if own else pinned


def _line(call: Mapping[str, Any]) -> str:
    text = f"{call['name']} {json.dumps(call.get('arguments') or {}, ensure_ascii=False, default=str)}"
    if len(text) <= MAX_LINE:
        return text
    rest = "… (cut; the exact call is whole)"
    return text[:MAX_LINE - len(rest)] + rest
