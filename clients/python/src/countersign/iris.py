"""Asking an owner in Telegram for what IRIS holds: its approval rows, and the
pending_confirmation of a chat turn.

    held = ask_row(client, row)             # or ask_confirmation(client, pending_confirmation)
    reply = held.wait()                     # approve, reject or None; an approval is claimed
    if reply: respond_to_approval(row["id"], reply)
    held.report("executed")                 # once IRIS has run it

What IRIS cannot be told, or what cannot be asked:

- **Edits, and answers to single items.** A row is one call, approved or rejected whole.
- **No answer.** What lapsed, was withdrawn or was refused is no rejection by the owner, and
  IRIS can tell them apart: the reply is None. A row then lapses by its own deadline; a
  confirmation stays in the Action Center. Give the row's deadline as expires_in, or
  Countersign's own default counts beside it.
- **The owner's words.** IRIS takes approve or reject alone; they are in ``held.answer.reason``.
- **A confirmation's arguments.** IRIS keeps the stashed write to itself, so what is pinned
  is what it showed: the confirmation's id, kind, summary and detail.
- **Who runs it.** IRIS runs its own row, and checks that against the row; the claim keeps a
  second runner out, but cannot hold IRIS to the pin.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional

from ._held import Question, approval_id
from .sync import Client


class Held(Question):
    """What IRIS holds until its owner has answered."""

    def wait(self, timeout: Optional[float] = None) -> Optional[str]:
        """approve, reject, or None where no owner said either. An approved call is claimed
        first, so that approve is returned once; a second wait raises ClaimRefused."""
        decision = self.decided(timeout).decision
        return {"approved": "approve", "rejected": "reject"}.get(decision)


def ask_row(client: Client, row: Mapping[str, Any], *, by: Optional[str] = None, **more: Any) -> Held:
    """Asks for an approval row: id, tool and arguments as pinned, effect, and the frozen
    card. A row that pins no call is an evaluator's halt, and context_summary says why. more
    are further fields of the request, such as run_id or expires_in. Arguments without a tool
    are neither: ValueError."""
    request: Dict[str, Any] = {"approval_id": approval_id("iris", row["id"]), "runtime": "iris", "context": {"row": row["id"]}, **more}
    given = row.get("card") or {}
    if row.get("tool"):
        request.update(tool=row["tool"], arguments=row.get("arguments"), effect=row.get("effect") or "destructive")
        if request["effect"] == "write":
            request["approval"] = "pinned"  # a write that IRIS has a row for may not pass without
        fields = ("title", "lines", "undo_tool", "undo_window_days", "request")
        request["card"] = {field: given[field] for field in fields if given.get(field) is not None}
    elif row.get("arguments"):
        raise ValueError("the row has arguments, but no tool: it is neither a call nor a halt")
    else:
        request.update(kind="halt", card={
            "title": given.get("title") or "Go on with a halted run", "summary": row.get("context_summary"),
        })
    return Held(client, request, by)


def ask_confirmation(
    client: Client, confirmation: Mapping[str, Any], *, by: Optional[str] = None, **more: Any
) -> Held:
    """Asks for the pending_confirmation of a turn: id, kind, summary, detail, options. Its
    reply is the text of the next turn. One whose options are others than approve and reject
    cannot be asked: ValueError."""
    options = [str(o) for o in confirmation.get("options") or ["approve", "reject"]]
    if sorted(options) != ["approve", "reject"]:
        raise ValueError(f"a confirmation with the options {options} is no yes or no")
    shown = {field: confirmation.get(field) for field in ("id", "kind", "summary", "detail")}
    return Held(client, {
        "approval_id": approval_id("iris", confirmation["id"]), "runtime": "iris", "tool": str(confirmation["kind"]),
        "arguments": shown, "effect": "write", "approval": "pinned",
        "card": {"title": confirmation["summary"], "lines": _lines(confirmation.get("detail"))}, **more,
    }, by)


def _lines(detail: Any) -> List[str]:
    if not detail:
        return []
    if isinstance(detail, Mapping):
        return [f"{key}: {value}" for key, value in detail.items()]
    if isinstance(detail, str):
        return detail.splitlines()
    return [str(line) for line in detail]
