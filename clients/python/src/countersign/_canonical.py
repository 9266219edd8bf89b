"""Canonical JSON (RFC 8785), and the digests made of it."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, Dict, List

_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def canonical(value: Any) -> str:
    """Returns the one way to write a value that was read by the rules of I-JSON."""
    if value is None or value is True or value is False:
        return json.dumps(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    keys = sorted(value, key=_units)
    return "{" + ",".join(f"{_text(key)}:{canonical(value[key])}" for key in keys) + "}"


def _units(key: str) -> bytes:
    """Keys stand in the order of their UTF-16 units."""
    return key.encode("utf-16-be")


def _text(value: str) -> str:
    return '"' + "".join(_SHORT.get(c) or (c if c >= " " else f"\\u{ord(c):04x}") for c in value) + '"'


def _number(value: float) -> str:
    """Writes a double as ECMAScript does."""
    if not math.isfinite(value):
        raise ValueError("no JSON number is infinite")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    # repr gives the shortest digits that are read back as the same double.
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, part = mantissa.partition(".")
    digits = (whole + part).lstrip("0")
    point = len(whole) + int(exponent or 0)  # where the point stands among all digits
    point -= len(whole + part) - len(digits)
    digits = digits.rstrip("0")
    n = len(digits)
    if n <= point <= 21:
        return sign + digits + "0" * (point - n)
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    e = point - 1
    return f"{sign}{digits[0]}{'.' + digits[1:] if n > 1 else ''}e{'+' if e > 0 else '-'}{abs(e)}"


def digest(text: bytes) -> str:
    return "sha256:" + hashlib.sha256(text).hexdigest()


def terms_of(request: Dict[str, Any]) -> str:
    """The digest of what is asked for: all of it but the deadline."""
    asked = {k: v for k, v in request.items() if k not in ("expires_in", "expires_at")}
    return digest(canonical(asked).encode())


def pin_of(calls: List[Dict[str, Any]]) -> str:
    """The digest of the calls alone, and what a claim must name. A halt has none: []."""
    pinned = [{"arguments": c["arguments"], "tool": c["tool"]} for c in calls]
    return digest(canonical({"calls": pinned}).encode())
