"""The client for asyncio."""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable, Mapping, Optional, Protocol, Sequence, TypeVar, Union

from ._replies import AWAY, denied, unreachable
from ._steps import Ask, Core, Pause, Steps
from .model import Answer, Pending, Row, Undo
from .sync import block_of

T = TypeVar("T")


class AsyncConnection(Protocol):
    """What is needed of redis.asyncio.Redis or redis.asyncio.RedisCluster."""

    def execute_command(self, *args: Any, **options: Any) -> Awaitable[Any]: ...


class AsyncClient:
    """A runtime's side of the queue.

    The verbs are those of Client, where they are described. It may be shared between
    the tasks of one loop; the connection is lent, and never closed here.
    """

    def __init__(
        self, connection: AsyncConnection, namespace: str = "approvals", *,
        stream: Optional[str] = None, away: float = 300.0, keys: Optional[Sequence[Union[str, bytes]]] = None,
    ) -> None:
        """stream is the inbound stream by which this runtime asks, if it has one of its
        own. away is for how many seconds a wait goes on while Redis cannot be reached.
        keys are public keys, as PEM, of which one must have signed an answer or an undo
        request, else BadSignature is raised; they need countersign[verify]."""
        self._redis = connection
        self._core = Core(namespace, stream, block_of(connection), away, keys)

    async def request(
        self, data: Union[str, bytes, Mapping[str, Any]], *, stream: Optional[str] = None, no_check: bool = False
    ) -> Pending:
        return await self._run(self._core.request(data, stream, no_check))

    async def await_answer(self, pending: Pending, timeout: Optional[float] = None) -> Answer:
        return await self._run(self._core.await_answer(pending, timeout))

    async def claim(self, approval_id: str, pin: str, by: str, *streams: str) -> None:
        await self._run(self._core.claim(approval_id, pin, by, streams))

    async def claimant(self, approval_id: str) -> Optional[str]:
        return await self._run(self._core.claimant(approval_id))

    async def report(
        self, approval_id: str, outcome: str, *, results: Optional[Sequence[Mapping[str, Any]]] = None,
        message: Optional[str] = None, undo_until: Optional[str] = None,
    ) -> None:
        await self._run(self._core.report(approval_id, outcome, results, message, undo_until))

    async def withdraw(self, approval_id: str, reason: Optional[str] = None) -> None:
        await self._run(self._core.withdraw(approval_id, reason))

    async def await_undo(self, approval_id: str, timeout: Optional[float] = None) -> Undo:
        return await self._run(self._core.await_undo(approval_id, timeout))

    async def row(self, approval_id: str) -> Row:
        return await self._run(self._core.read_row(approval_id))

    async def _run(self, steps: Steps[T], run: Optional[Callable[..., Awaitable[Any]]] = None) -> T:
        refused: Optional[Exception] = None
        try:
            step = next(steps)
            while True:
                try:
                    if isinstance(step, Ask):
                        reply = await self._redis.execute_command(*step.words)
                    elif isinstance(step, Pause):
                        reply = None
                        await asyncio.sleep(step.seconds)
                    else:
                        assert run is not None
                        reply = await run(**step.arguments)
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
