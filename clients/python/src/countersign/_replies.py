"""What Redis replies, in any of the shapes in which redis-py gives it, and what it fails with."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from redis.exceptions import AuthenticationError, AuthorizationError, NoPermissionError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from .errors import Unavailable

AWAY = (RedisConnectionError, RedisTimeoutError)


def text_of(value: Any) -> Optional[str]:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def seconds_of(reply: Any) -> float:
    return int(reply[0]) + int(reply[1]) / 1e6


def entries_of(reply: Any) -> List[Tuple[str, Dict[str, str]]]:
    """The entries of one stream in any of the shapes in which redis-py gives them."""
    if not reply:
        return []
    streams = list(reply.values()) if isinstance(reply, dict) else [s[1] for s in reply]
    entries: List[Tuple[str, Dict[str, str]]] = []
    for batch in streams[0]:
        if isinstance(batch, list) and batch and isinstance(batch[0], (list, tuple)):
            entries += [_entry(e) for e in batch]  # RESP3 has one list more
        else:
            entries.append(_entry(batch))
    return entries


def _entry(raw: Any) -> Tuple[str, Dict[str, str]]:
    fields = raw[1] or {}
    if not isinstance(fields, dict):
        fields = dict(zip(fields[::2], fields[1::2]))
    return text_of(raw[0]) or "", {text_of(k) or "": text_of(v) or "" for k, v in fields.items()}


def denied(e: Exception) -> bool:
    """Whether asking again would be refused again."""
    if isinstance(e, (AuthenticationError, AuthorizationError, NoPermissionError)):
        return True
    return isinstance(e, ResponseError) and str(e).startswith(("WRONGTYPE", "NOPERM", "NOAUTH", "WRONGPASS"))


def unreachable(e: Exception) -> Unavailable:
    return Unavailable(f"Redis cannot be reached: {e}")
