"""JSON written by the rules of I-JSON (RFC 7493), and the names of places in it."""

from __future__ import annotations

import json
import math
import re
from typing import Any, List, Mapping, Union

from .errors import Invalid

MAX_INTEGER = 2**53 - 1

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]{1,40}")
_SURROGATE = re.compile("[\ud800-\udfff]")


def path_of(steps: List[Union[str, int]]) -> str:
    """Names a place, as in arguments.ids[3]."""
    path = ""
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif _PLAIN_KEY.fullmatch(step):
            path += "." + step if path else step
        else:
            path += f"[{_quoted(step)}]"
    return path if len(path) <= 200 else path[:200] + "..."


def _quoted(key: str) -> str:
    raw = key.encode("utf-8", "replace")
    if len(raw) > 40:
        key = raw[:40].decode("utf-8", "replace") + "..."
    short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\v": "\\v"}
    out = ""
    for c in key:
        n = ord(c)
        if c in short:
            out += short[c]
        elif 0x20 <= n < 0x7F:
            out += c
        elif n < 0x80:
            out += f"\\x{n:02x}"
        else:
            out += f"\\u{n:04x}" if n < 0x10000 else f"\\U{n:08x}"
    return f'"{out}"'


def write(value: Any) -> str:
    """Writes a value as JSON, and refuses what would not be read as itself."""
    return _write(value, [])


def _write(value: Any, at: List[Union[str, int]]) -> str:
    if len(at) > 1000:
        raise Invalid("data", "nested too deep")
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return _write_text(value, at)
    if isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise Invalid(path_of(at) or "data", "must be within ±(2^53-1)")
        return str(int(value))
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Invalid(path_of(at) or "data", "must be finite as a double")
        return repr(float(value))
    if isinstance(value, Mapping):
        parts = []
        for key, item in value.items():
            if not isinstance(key, str):
                raise Invalid(path_of(at) or "data", f"has a key that is no text but {type(key).__name__}")
            parts.append(f"{_write_text(key, at + [key])}:{_write(item, at + [key])}")
        return "{" + ",".join(parts) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_write(item, at + [i]) for i, item in enumerate(value)) + "]"
    raise Invalid(path_of(at) or "data", f"cannot be written as JSON: {type(value).__name__}")


def _write_text(value: str, at: List[Union[str, int]]) -> str:
    if _SURROGATE.search(value):
        raise Invalid(path_of([_SURROGATE.sub("\ufffd", s) if isinstance(s, str) else s for s in at]) or "data", "holds a lone surrogate")
    return json.dumps(str(value), ensure_ascii=False)
