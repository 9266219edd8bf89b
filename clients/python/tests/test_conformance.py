"""The table that the clients of all languages pass."""

import asyncio
import json
import unittest

import redis
import redis.asyncio
from countersign import (
    AsyncClient,
    BadSignature,
    ClaimRefused,
    Client,
    Invalid,
    NotMine,
    Pending,
    Taken,
    TimedOut,
    Unavailable,
    Unknown,
    claim_script,
)
from countersign._canonical import canonical
from countersign._ijson import read
from countersign._rules import check_request
from world import NOBODY, RUNTIME, TABLE, TABLE_NAMESPACE, Prepared, bytes_of, table

WORDS = {TimedOut: "timed_out", Unavailable: "unavailable", Unknown: "unknown", Taken: "taken", NotMine: "not_mine", BadSignature: "bad_signature"}


def word(error: Exception) -> str:
    if isinstance(error, Invalid):
        return str(error)
    if isinstance(error, ClaimRefused):
        return error.status
    return WORDS.get(type(error)) or repr(error)


async def act(do: dict, client, wait) -> str:
    """Does what a row says; wait makes a sync verb's result and an async one's alike."""
    try:
        verb = do["verb"]
        if verb == "request":
            await wait(client.request(bytes_of(do["data"]), no_check=do.get("no_check", False)))
        elif verb == "await":
            pending = Pending.from_json(json.dumps(do["pending"]))
            return (await wait(client.await_answer(pending, do.get("timeout")))).decision
        elif verb == "claim":
            await wait(client.claim(do["approval_id"], do["pin"], do["by"], *do.get("streams", [])))
        elif verb == "report":
            more = {k: do[k] for k in ("results", "message", "undo_until") if k in do}
            await wait(client.report(do["approval_id"], do["outcome"], **more))
        else:
            await wait(client.withdraw(do["approval_id"], do.get("reason")))
    except Exception as e:
        return word(e)
    return "ok"


def synchronous(do: dict, url: str, stream) -> str:
    class Bound:
        """Makes each verb a thunk, so that its error comes up where it is awaited."""

        def __getattr__(self, name):
            return lambda *args, **kwargs: (getattr(client, name), args, kwargs)

    async def wait(call):
        verb, args, kwargs = call
        return verb(*args, **kwargs)

    with redis.Redis.from_url(url) as connection:
        client = Client(connection, TABLE_NAMESPACE, stream=stream, keys=do.get("keys"))
        client._core.block = client._core.poll = 0.02
        return asyncio.run(act(do, Bound(), wait))


def asynchronous(do: dict, url: str, stream) -> str:
    async def run() -> str:
        async with redis.asyncio.Redis.from_url(url, decode_responses=True) as connection:
            client = AsyncClient(connection, TABLE_NAMESPACE, stream=stream, keys=do.get("keys"))
            client._core.block = client._core.poll = 0.02

            async def wait(call):
                return await call

            try:
                return await act(do, client, wait)
            finally:
                await connection.connection_pool.disconnect()

    return asyncio.run(run())


class Conformance(unittest.TestCase):
    def test_canonical(self) -> None:
        rows = table()["canonical"]
        self.assertTrue(rows)
        for row in rows:
            with self.subTest(row["name"]):
                self.assertEqual(canonical(read(row["json"], 32).value), row["canonical"])

    def test_requests(self) -> None:
        rows = table()["requests"]
        self.assertTrue(rows)
        for row in rows:
            with self.subTest(row["name"]):
                got = check_request(bytes_of(row["data"]))
                self.assertEqual(got.fault and str(got.fault), row.get("error"))
                self.assertEqual((got.terms, got.pin), (row["terms"], row["pin"]))

    def test_exchanges(self) -> None:
        rows = table()["exchanges"]
        self.assertTrue(rows)
        for kind in (synchronous, asynchronous):
            for row in rows:
                with self.subTest(row["name"], client=kind.__name__):
                    prepared = Prepared(row)
                    do = prepared.exchange["do"]
                    url = NOBODY if row.get("redis") == "away" else RUNTIME
                    self.assertEqual(kind(do, url, do.get("stream")), row["want"])
                    self.assertEqual(prepared.sent(), prepared.expected())
                    prepared.close()

    def test_the_claim_script_is_the_shared_one(self) -> None:
        shared = TABLE.parents[1] / "queue" / "claim.lua"
        self.assertEqual(claim_script(), shared.read_text("utf-8"))


if __name__ == "__main__":
    unittest.main()
