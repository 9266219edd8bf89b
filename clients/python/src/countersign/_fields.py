"""One event's fields, read one by one. The words for a rule broken are those of the bot."""

from __future__ import annotations

import calendar
import re
from typing import Any, Dict, List, Optional

from . import _ijson
from .errors import Invalid

MAX_ID_SCAN = 8 << 20  # bytes in which the id of too large data is still looked for

_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]{1,9})?"
    r"(?:Z|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))"
)

Object = Dict[str, Any]


def valid_id(text: object) -> bool:
    return isinstance(text, str) and _ID.fullmatch(text) is not None


class Fields:
    """Reads the fields of one event, and keeps the first rule broken."""

    def __init__(self, data: bytes, most: int, depth: int, size: str = "256 KiB") -> None:
        self.id = ""
        self.wrong: Optional[Invalid] = None
        self.faults = 0
        self.whole: Optional[_ijson.Text] = None
        self.object: Optional[Object] = None  # None where nothing in data can be used
        if len(data) > most:
            if len(data) <= MAX_ID_SCAN:
                whole = _ijson.read(data.decode("utf-8", "surrogateescape"), depth)
                if not (whole.fault and whole.fault.broken):
                    self._read_id(whole)
            self.wrong = Invalid("data", f"over {size}", "too_large")
            return
        self.whole = _ijson.read(data.decode("utf-8", "surrogateescape"), depth)
        self._open(self.whole)

    def _open(self, whole: _ijson.Text) -> None:
        fault = whole.fault
        if fault and fault.broken:
            self.invalid("data", fault.rule)
        elif not isinstance(whole.value, dict):
            self.invalid("data", "must be a JSON object")
        else:
            wrong = self._read_id(whole)
            if wrong:
                self.invalid("approval_id", wrong)
            elif fault:
                self.invalid(fault.path or "data", fault.rule)
            else:
                self.object = whole.value

    def _read_id(self, whole: _ijson.Text) -> str:
        """Finds the approval_id, or says why there is none to use."""
        if not isinstance(whole.value, dict) or "approval_id" not in whole.value:
            return "required"
        found = whole.value["approval_id"]
        if "approval_id" in whole.twice:
            return "given twice"
        if not isinstance(found, str):
            return "must be a string"
        if not valid_id(found):
            return "must be 1-128 of A-Za-z0-9._:-"
        self.id = found
        return ""

    def invalid(self, field: str, rule: str) -> None:
        self.faults += 1
        if self.wrong is None:
            self.wrong = Invalid(field, rule)

    def finish(self) -> None:
        if self.wrong:
            raise self.wrong

    def text(self, o: Object, path: str, name: str, most: int) -> str:
        value = o.get(name)
        if value is None:
            return ""
        wrong = text_rule(value, most)
        if wrong:
            self.invalid(path + name, wrong)
        return value if isinstance(value, str) else ""

    def required(self, o: Object, path: str, name: str, most: int) -> str:
        value = self.text(o, path, name, most)
        if not value:
            self.invalid(path + name, "required")
        return value

    def one_of(self, o: Object, path: str, name: str, *words: str) -> str:
        """Reads a word out of a closed list; absent is the first."""
        value = o.get(name)
        if value is None:
            return words[0]
        if isinstance(value, str) and value and value in words:
            return value
        listed = [w for w in words if w]
        self.invalid(path + name, f"must be {', '.join(listed[:-1])} or {listed[-1]}")
        return ""

    def integer(self, o: Object, path: str, name: str, least: int, most: int) -> Optional[int]:
        value = o.get(name)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool):
            self.invalid(path + name, "must be an integer")
            return None
        if not least <= value <= most:
            self.invalid(path + name, f"must be from {least:,} to {most:,}")
            return None
        return value

    def boolean(self, o: Object, path: str, name: str) -> Optional[bool]:
        value = o.get(name)
        if value is None or isinstance(value, bool):
            return value
        self.invalid(path + name, "must be true or false")
        return None

    def items(self, o: Object, path: str, name: str, most: int) -> List[Any]:
        value = o.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            self.invalid(path + name, "must be a list")
            return []
        if len(value) > most:
            self.invalid(path + name, f"over {most:,} items")
            return []
        return value

    def inner(self, o: Object, path: str, name: str) -> Object:
        value = o.get(name)
        if value is not None and not isinstance(value, dict):
            self.invalid(path + name, "must be an object")
        return value if isinstance(value, dict) else {}

    def moment(self, o: Object, name: str) -> None:
        value = o.get(name)
        if not isinstance(value, str):
            self.invalid(name, "must be a string")
            return
        wrong = time_rule(value)
        if wrong:
            self.invalid(name, wrong)

    def seconds(self, o: Object, name: str) -> None:
        value = o[name]
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.invalid(name, "must be a number of seconds")
        elif value < 5:
            self.invalid(name, "must be at least 5 seconds")
        elif value > (2**63 - 1) / 2e9:
            self.invalid(name, "too far ahead")


def text_rule(value: Any, most: int) -> str:
    if not isinstance(value, str):
        return "must be a string"
    return f"over {most:,} characters" if len(value) > most else ""


def time_rule(text: str) -> str:
    shape = "must be RFC 3339 with an offset"
    m = _TIME.fullmatch(text.upper())
    if not m:
        return shape
    year, month, day, hour, minute, second = (int(m[i]) for i in range(1, 7))
    if not 1 <= month <= 12 or hour > 23 or minute > 59 or second > 59:
        return shape
    if not 1 <= day <= (29 if month == 2 and calendar.isleap(year) else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]):
        return shape
    # Only the turn of a year can move the year in UTC.
    minutes = hour * 60 + minute
    if m[7]:
        offset = int(m[8]) * 60 + int(m[9])
        minutes -= offset if m[7] == "+" else -offset
    if minutes < 0 and (month, day) == (1, 1):
        year -= 1
    elif minutes >= 1440 and (month, day) == (12, 31):
        year += 1
    return "" if 1970 <= year <= 9999 else "must be within the years 1970 to 9999"
