"""The wrapper for tools: a call waits for its answer and runs once, as it was approved."""

from __future__ import annotations

import functools
import inspect
import os
import socket
import uuid
from typing import Any, Callable, Dict, Mapping, Optional, TypeVar, Union, cast

from ._guarded import Declined, DoneBefore, Unsure, guarded
from .aio import AsyncClient
from .ledger import Ledger
from .sync import Client

F = TypeVar("F", bound=Callable[..., Any])


def requires_approval(
    client: Union[Client, AsyncClient], *, describe: Callable[..., Mapping[str, Any]],
    ledger: Optional[Ledger] = None, approval_id: Optional[Callable[[], str]] = None,
    tool: Optional[str] = None, by: Optional[str] = None, timeout: Optional[float] = None, **request: Any,
) -> Callable[[F], F]:
    """Makes a function run only after an owner has approved the very call.

    ``describe`` is called with the function's arguments and returns the card: title, lines,
    undo_tool and so on. ``request`` are further fields of approval.requested, such as
    runtime, effect, context or expires_in. A coroutine function takes an AsyncClient, a
    plain one a Client. A generator function raises TypeError: it would run when it is
    iterated, after it was reported as done.

    A call asks, waits, claims, runs and reports. It returns what the function returns (or
    the value of the Ran that it returns, whose outcome, message and results are then
    reported); on a no a Declined, which is the observation for the model. What prevents
    the question, the answer or the claim is raised, and then nothing was run. What the
    function raises is reported as failed, and raised.

    The arguments are pinned as JSON, by name, and the function is given what was pinned: a
    tuple arrives as a list. What cannot be written as JSON raises Invalid.

    **After a crash.** ``approval_id`` names the call, e.g. by the id that the model gave it;
    the default is a new one each time, which no later process knows. With a name that lasts
    and a ``ledger``, asking again goes on where it was: a call that was approved but not
    started runs, one that ran gives its result (as far as that is JSON) and is reported, and
    nothing runs twice. What no ledger can know is whether a call that was started and not
    finished took effect. Such a call is not run again; it returns an Unsure, and is reported
    as partly done. So does a call that is still running elsewhere. To find out, ask
    the system that the call changes; best is a call that is given the approval's id as its
    idempotency key. Without a ledger nothing runs twice either, but what was claimed by a
    process that died is refused as already_claimed.
    """
    name = by or f"{socket.gethostname()}/{os.getpid()}"

    def decorate(run: F) -> F:
        if inspect.isgeneratorfunction(run) or inspect.isasyncgenfunction(run):
            raise TypeError(f"{run.__name__} is a generator function: it would run after it is reported as done")
        bind = _Binding(run, tool, describe, request, approval_id)
        if inspect.iscoroutinefunction(run):
            if not isinstance(client, AsyncClient):
                raise TypeError("a coroutine function needs an AsyncClient")
            aio = client

            @functools.wraps(run)
            async def guarded_async(*args: Any, **kwargs: Any) -> Any:
                steps = guarded(aio._core, ledger, name, bind.request(args, kwargs), timeout)
                return await aio._run(steps, run)

            return cast(F, guarded_async)
        if not isinstance(client, Client):
            raise TypeError("a plain function needs a Client")
        sync = client

        @functools.wraps(run)
        def guarded_sync(*args: Any, **kwargs: Any) -> Any:
            return sync._run(guarded(sync._core, ledger, name, bind.request(args, kwargs), timeout), run)

        return cast(F, guarded_sync)

    return decorate


class _Binding:
    """How a function's arguments become a request."""

    def __init__(
        self, run: Callable[..., Any], tool: Optional[str], describe: Callable[..., Mapping[str, Any]],
        fields: Dict[str, Any], approval_id: Optional[Callable[[], str]],
    ) -> None:
        self.signature = inspect.signature(run)
        for p in self.signature.parameters.values():
            if p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL):
                raise TypeError(f"the parameter {p.name} has no name to be pinned by")
        self.tool = tool or run.__name__
        self.describe = describe
        self.fields = fields
        self.approval_id = approval_id or (lambda: str(uuid.uuid4()))

    def request(self, args: Any, kwargs: Any) -> Dict[str, Any]:
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = dict(bound.arguments)
        for p in self.signature.parameters.values():
            if p.kind is p.VAR_KEYWORD:
                arguments.update(arguments.pop(p.name))
        return {
            **self.fields, "approval_id": self.approval_id(), "tool": self.tool,
            "arguments": arguments, "card": dict(self.describe(**arguments)),
        }
