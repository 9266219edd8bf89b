"""Where the tests' Redis and bot are. They are started by TestClients in clients, which
runs these tests; the environment says where."""

import json
import os
import time
import urllib.parse
import urllib.request
from pathlib import Path

import redis
import redis.asyncio

TABLE = Path(__file__).parents[2] / "conformance.json"

ADMIN = os.environ["COUNTERSIGN_TEST_ADMIN"]  # a Redis user who may do everything
RUNTIME = os.environ["COUNTERSIGN_TEST_RUNTIME"]  # one with a runtime's rights alone
NAMESPACE = os.environ["COUNTERSIGN_TEST_NAMESPACE"]  # served by a bot
TABLE_NAMESPACE = os.environ["COUNTERSIGN_TEST_TABLE_NAMESPACE"]  # served by nobody
CONTROL = os.environ["COUNTERSIGN_TEST_CONTROL"]  # plays the owner

NOBODY = "redis://127.0.0.1:1"  # nothing listens there


def owner(act: str, title: str, **more: str) -> str:
    """Has Ann do something with a card: approve, reject, undo; or reads what it shows."""
    query = urllib.parse.urlencode({"title": title, **more})
    request = urllib.request.Request(f"{CONTROL}/{act}?{query}", method="POST")
    with urllib.request.urlopen(request, timeout=300) as reply:
        return reply.read().decode()


def new_title() -> str:
    """A title of letters alone: a card guards digits against becoming a link."""
    return "Trash " + "".join(chr(ord("a") + b % 26) for b in os.urandom(12))


def connect(url: str = RUNTIME) -> "redis.Redis":
    return redis.Redis.from_url(url)


def table() -> dict:
    return json.loads(TABLE.read_text("utf-8"))


def bytes_of(text) -> bytes:
    """Puts the parts of a text together."""
    out = b""
    for part in [text] if isinstance(text, str) else text:
        if isinstance(part, str):
            out += part.encode()
        elif isinstance(part, list):
            out += part[0].encode() * part[1]
        else:
            out += bytes.fromhex(part["hex"])
    return out


class Prepared:
    """The state of Redis before an exchange, and what was sent after it."""

    def __init__(self, exchange: dict) -> None:
        self.admin = redis.Redis.from_url(ADMIN, decode_responses=True)
        tag = "{" + TABLE_NAMESPACE + "}"
        seconds, micros = self.admin.time()
        text = json.dumps(exchange).replace("{NS}", tag).replace("NOW-", f"{seconds * 1000 + micros // 1000}-")
        self.exchange = json.loads(text)
        self.tag = tag
        for key in self.admin.scan_iter(tag.replace("{", r"\{") + ":*"):
            self.admin.delete(key)
        before = self.exchange.get("before", {})
        if "alive" in before:
            self.admin.set(f"{tag}:alive", json.dumps(before["alive"]))
        for kind, field in (("row", "rows"), ("claim", "claims")):
            for name, fields in before.get(field, {}).items():
                self.admin.hset(f"{tag}:{kind}:{name}", mapping=fields)
        for name, answers in before.get("answers", {}).items():
            for data in answers:
                self.admin.xadd(f"{tag}:answer:{name}", {"type": "approval.answered", "data": data})

    def sent(self) -> list:
        found = []
        for stream in (f"{self.tag}:requests", f"{self.tag}:mail"):
            for _, fields in self.admin.xrange(stream):
                found.append((stream, fields["type"], fields["id"], json.loads(fields["data"])))
        return found

    def expected(self) -> list:
        return [(e["stream"], e["type"], e["id"], json.loads(e["data"])) for e in self.exchange.get("sent", [])]

    def close(self) -> None:
        self.admin.close()


def until(condition, what: str) -> None:
    """Waits for what the bot does in its own time."""
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"gave up waiting until {what}")
        time.sleep(0.02)
