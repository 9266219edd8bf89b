"""The client for programs without an event loop."""

from __future__ import annotations

import time
from typing import Any, Callable, Mapping, Optional, Protocol, Sequence, TypeVar, Union

from ._replies import AWAY, denied, unreachable
from ._steps import Ask, Core, Pause, Steps
from .model import Answer, Pending, Row, Undo

T = TypeVar("T")


class Connection(Protocol):
    """What is needed of redis.Redis or redis.RedisCluster."""

    def execute_command(self, *args: Any, **options: Any) -> Any: ...


class Client:
    """A runtime's side of the queue.

    It keeps nothing: what it needs to go on after a restart is in Pending. It may be
    shared between threads, as the connection may be; that is lent, and never closed here.

    Every verb raises Invalid before anything is sent if what it is given breaks a rule,
    and Unavailable if Redis cannot be reached.
    """

    def __init__(
        self, connection: Connection, namespace: str = "approvals", *,
        stream: Optional[str] = None, away: float = 300.0, keys: Optional[Sequence[Union[str, bytes]]] = None,
    ) -> None:
        """stream is the inbound stream by which this runtime asks, if it has one of its
        own. away is for how many seconds a wait goes on while Redis cannot be reached.
        keys are public keys, as PEM, of which one must have signed an answer or an undo
        request, else BadSignature is raised; they need countersign[verify]."""
        self._redis = connection
        self._core = Core(namespace, stream, block_of(connection), away, keys)

    def request(
        self, data: Union[str, bytes, Mapping[str, Any]], *, stream: Optional[str] = None, no_check: bool = False
    ) -> Pending:
        """Publishes a request: the data of approval.requested, as JSON text or as a mapping.

        Raises Unavailable where nobody would read it and Taken where another request
        has its id. The same request published twice is one approval. no_check publishes
        whatever it is.
        """
        return self._run(self._core.request(data, stream, no_check))

    def await_answer(self, pending: Pending, timeout: Optional[float] = None) -> Answer:
        """Waits for the answer to a request, for at most timeout seconds (TimedOut).

        It may be called again at any time, by whoever has the Pending. The answer is
        believed only if it is to the very terms and call that were asked, else NotMine.
        Raises Unknown if half a minute after publishing there is no row, and Unavailable
        if half a minute after its deadline the row is still open.
        """
        return self._run(self._core.await_answer(pending, timeout))

    def claim(self, approval_id: str, pin: str, by: str, *streams: str) -> None:
        """Takes the right to run an approved call, once.

        The pin is the caller's own, that of the call it is about to run. Where streams
        are given, an approval that came by another one is refused. Raises ClaimRefused;
        any other error leaves open whether the claim was made. Run the call only if
        nothing was raised.
        """
        self._run(self._core.claim(approval_id, pin, by, streams))

    def claimant(self, approval_id: str) -> Optional[str]:
        """Who has claimed an approval, None if nobody has."""
        return self._run(self._core.claimant(approval_id))

    def report(
        self, approval_id: str, outcome: str, *, results: Optional[Sequence[Mapping[str, Any]]] = None,
        message: Optional[str] = None, undo_until: Optional[str] = None,
    ) -> None:
        """Says what happened to an approved call: executed, failed, partial or undone.

        results are {line, ok, detail?}. It may be said again; the last report counts.
        """
        self._run(self._core.report(approval_id, outcome, results, message, undo_until))

    def withdraw(self, approval_id: str, reason: Optional[str] = None) -> None:
        """Takes a request back.

        Before there is a row it is remembered on this client's own stream, if one was
        given, else Unknown is raised.
        """
        self._run(self._core.withdraw(approval_id, reason))

    def await_undo(self, approval_id: str, timeout: Optional[float] = None) -> Undo:
        """Waits until an owner asks for the undo. When the row is gone it raises Unknown."""
        return self._run(self._core.await_undo(approval_id, timeout))

    def row(self, approval_id: str) -> Row:
        """Reads an approval; raises Unknown."""
        return self._run(self._core.read_row(approval_id))

    def _run(self, steps: Steps[T], run: Optional[Callable[..., Any]] = None) -> T:
        refused: Optional[Exception] = None
        try:
            step = next(steps)
            while True:
                try:
                    if isinstance(step, Ask):
                        reply = self._redis.execute_command(*step.words)
                    elif isinstance(step, Pause):
                        reply = None
                        time.sleep(step.seconds)
                    else:
                        assert run is not None
                        reply = run(**step.arguments)
                except Exception as e:
                    refused = e if isinstance(step, Ask) else None  # of Redis, not of a tool
                    step = steps.throw(e)
                else:
                    step = steps.send(reply)
        except StopIteration as end:
            result: T = end.value
            return result
        except AWAY as e:
            if e is not refused or denied(e):
                raise
            raise unreachable(e) from e


def block_of(connection: Any) -> float:
    """How long a read may block: less than the connection waits for a reply."""
    pool = getattr(connection, "connection_pool", None)
    limit = getattr(pool, "connection_kwargs", {}).get("socket_timeout")
    return min(2.0, float(limit) / 2) if limit else 2.0
