"""JSON by the rules of I-JSON (RFC 7493), read strictly.

The standard library takes keys twice, NaN, lone surrogates and integers of any
size; two programs that read those differently would pin different calls.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple, Union

from ._write import MAX_INTEGER, path_of

_SPACE = re.compile(r"[ \n\r\t]*")
_PLAIN_TEXT = re.compile(r'[^"\\\x00-\x1f]*')
_DIGITS = re.compile(r"[0-9]*")
_UNICODE = re.compile(r"\\u([0-9a-fA-F]{4})")
_SURROGATE = re.compile("[\ud800-\udfff]")


class _NotJSON(Exception):
    """The text stops being JSON at the reader's position."""


@dataclass
class Fault:
    """The first rule that a text breaks."""

    path: str  # "" for the whole text
    rule: str
    broken: bool = False  # not JSON, or more than one value


@dataclass
class Text:
    """A text that was read: its value, and the first rule broken, if any."""

    value: Any = None
    fault: Optional[Fault] = None
    # Where the values of the outer object stand, as they were sent.
    members: Dict[str, str] = field(default_factory=dict)
    twice: set[str] = field(default_factory=set)  # keys given twice in the outer object


@dataclass
class _Frame:
    into: Union[Dict[str, Any], List[Any]]
    key: str = ""
    start: int = 0  # of the present value, in the outer object


def read(text: str, depth: int) -> Text:
    """Reads one JSON value, nested at most depth."""
    return _Reader(text, depth).run()


class _Reader:
    """Reads without recursion, so that no depth of nesting exhausts the stack."""

    def __init__(self, text: str, depth: int) -> None:
        self.text = text
        self.pos = 0
        self.depth = depth
        self.frames: List[_Frame] = []
        self.out = Text()

    def run(self) -> Text:
        try:
            while self.value() or self.next():
                pass
        except _NotJSON:
            at = len(self.text[: self.pos].encode("utf-8", "surrogatepass"))
            self.out.fault = Fault("", f"is not JSON at byte {at}", broken=True)
            return self.out
        if self.peek():
            self.out.fault = Fault("", "must be one JSON value", broken=True)
        return self.out

    def peek(self) -> str:
        self.pos = _SPACE.match(self.text, self.pos).end()  # type: ignore[union-attr]
        return self.text[self.pos : self.pos + 1]

    def value(self) -> bool:
        """Reads a scalar or an opening; True if the first value inside is due."""
        c = self.peek()
        if len(self.frames) == 1:
            self.frames[0].start = self.pos
        if c == "{":
            self.enter({})
            if self.peek() == "}":
                return False
            self.key()
            return True
        if c == "[":
            self.enter([])
            return self.peek() != "]"
        if c == '"':
            value, rule = self.string()
            self.note(rule)
            self.put(value)
        elif c == "-" or "0" <= c <= "9":
            self.put(self.number())
        else:
            self.put(self.literal())
        return False

    def next(self) -> bool:
        """Goes on after a value; True if another one is due."""
        while self.frames:
            frame = self.frames[-1]
            c = self.peek()
            is_object = isinstance(frame.into, dict)
            if c == ("}" if is_object else "]"):
                self.pos += 1
                self.frames.pop()
                self.put(frame.into)
            elif c == ",":
                self.pos += 1
                if is_object:
                    self.key()
                return True
            else:
                raise _NotJSON
        return False

    def enter(self, into: Union[Dict[str, Any], List[Any]]) -> None:
        self.pos += 1
        if len(self.frames) == self.depth:
            self.note(f"nested deeper than {self.depth}")
        self.frames.append(_Frame(into))

    def put(self, value: Any) -> None:
        """Takes a value that was read to its end."""
        if not self.frames:
            self.out.value = value
            return
        frame = self.frames[-1]
        if isinstance(frame.into, dict):
            frame.into[frame.key] = value
            if len(self.frames) == 1:
                self.out.members[frame.key] = self.text[frame.start : self.pos]
        else:
            frame.into.append(value)

    def key(self) -> None:
        if self.peek() != '"':
            raise _NotJSON
        key, rule = self.string()
        frame = self.frames[-1]
        frame.key = _SURROGATE.sub("\ufffd", key)
        self.note(rule)
        if frame.key in frame.into:
            self.note("given twice")
            if len(self.frames) == 1:
                self.out.twice.add(frame.key)
        if self.peek() != ":":
            raise _NotJSON
        self.pos += 1

    def string(self) -> Tuple[str, str]:
        """Reads a string; returns it and the rule that it breaks, "" if none."""
        self.pos += 1
        start, rule = self.pos, ""
        while True:
            self.pos = _PLAIN_TEXT.match(self.text, self.pos).end()  # type: ignore[union-attr]
            c = self.text[self.pos : self.pos + 1]
            if c == '"':
                break
            if c != "\\":
                raise _NotJSON
            if self.escape():
                rule = "holds a lone surrogate"
        raw = self.text[start : self.pos]
        self.pos += 1
        if _SURROGATE.search(raw):  # as itself, not as an escape
            rule = "is not UTF-8"
        return (json.loads(f'"{raw}"') if "\\" in raw else raw), rule

    def escape(self) -> bool:
        """Reads an escape, or the two of a pair; True if it is half of one only."""
        c = self.text[self.pos + 1 : self.pos + 2]
        if c and c in '"\\/bfnrt':
            self.pos += 2
            return False
        first = _UNICODE.match(self.text, self.pos)
        if not first:
            raise _NotJSON
        self.pos = first.end()
        unit = int(first[1], 16)
        if not 0xD800 <= unit <= 0xDFFF:
            return False
        second = _UNICODE.match(self.text, self.pos)
        if unit <= 0xDBFF and second and 0xDC00 <= int(second[1], 16) <= 0xDFFF:
            self.pos = second.end()
            return False
        return True

    def number(self) -> Union[int, float]:
        start = self.pos
        if self.text[self.pos] == "-":
            self.pos += 1
        digits = self.digits()
        if len(digits) > 1 and digits[0] == "0":
            raise _NotJSON
        whole = True
        if self.text[self.pos : self.pos + 1] == ".":
            whole = False
            self.pos += 1
            self.digits()
        if self.text[self.pos : self.pos + 1] in ("e", "E"):
            whole = False
            self.pos += 1
            if self.text[self.pos : self.pos + 1] in ("+", "-"):
                self.pos += 1
            self.digits()
        raw = self.text[start : self.pos]
        if not whole:
            f = float(raw)
            if math.isinf(f):
                self.note("must be finite as a double")
            return f
        if len(digits) > 16 or int(digits) > MAX_INTEGER:
            self.note("must be within ±(2^53-1)")
            return 0
        return int(raw)

    def digits(self) -> str:
        found = _DIGITS.match(self.text, self.pos)[0]  # type: ignore[index]
        self.pos += len(found)
        if not found:
            raise _NotJSON
        return found

    def literal(self) -> Optional[bool]:
        for word, value in (("true", True), ("false", False), ("null", None)):
            if self.text.startswith(word, self.pos):
                self.pos += len(word)
                return value
        raise _NotJSON

    def note(self, rule: str) -> None:
        if rule and self.out.fault is None:
            self.out.fault = Fault(path_of([f.key if isinstance(f.into, dict) else len(f.into) for f in self.frames]), rule)
