"""The wrapper for tools: what is approved runs once, whatever dies in between."""

import asyncio
import tempfile
import threading
import unittest
import uuid

import redis
import redis.asyncio
from countersign import (
    AsyncClient,
    CallFailed,
    ClaimRefused,
    Client,
    Declined,
    DoneBefore,
    FileLedger,
    Invalid,
    Ran,
    Taken,
    Unavailable,
    Unsure,
    requires_approval,
)
from world import NAMESPACE, RUNTIME, connect, new_title, owner


class Crash(BaseException):
    """The process dies here."""


class Dying:
    """A ledger whose process dies before or after a note is written, once."""

    def __init__(self, ledger, step: str, after: bool) -> None:
        self.ledger, self.step, self.after = ledger, step, after

    def read(self, approval_id, step):
        return self.ledger.read(approval_id, step)

    def add(self, approval_id, step, note):
        dies, self.step = step == self.step, None if step == self.step else self.step
        if dies and not self.after:
            raise Crash
        added = self.ledger.add(approval_id, step, note)
        if dies:
            raise Crash
        return added


class Guard(unittest.TestCase):
    def setUp(self) -> None:
        self.connection = connect()
        self.client = Client(self.connection, NAMESPACE)
        self.title = new_title()
        self.id = f"call-{uuid.uuid4()}"
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(self.connection.close)
        self.ledger = FileLedger(folder.name)
        self.ran = []

    def guard(self, run, ledger=None, client=None, **more):
        return requires_approval(
            client or self.client, describe=lambda ids: {"title": self.title, "lines": list(map(str, ids))},
            ledger=ledger or self.ledger, approval_id=lambda: self.id, runtime="python", tool="trash", **{"timeout": 300, **more},
        )(run)

    def trash(self, ids):
        self.ran.append(ids)
        return {"trashed": len(ids)}

    def tapping(self, act: str = "approve") -> None:
        thread = threading.Thread(target=owner, args=(act, self.title))
        thread.start()
        self.addCleanup(thread.join)

    def test_yes(self) -> None:
        self.tapping()
        trash = self.guard(self.trash)
        self.assertEqual(trash(ids=("m1", "m2")), {"trashed": 2})
        self.assertEqual(self.ran, [["m1", "m2"]])
        owner("card", self.title, says="Done")
        self.assertEqual(trash(["m1", "m2"]), {"trashed": 2})  # asked again: not run again
        self.assertEqual(len(self.ran), 1)
        with self.assertRaises(Taken):
            trash(["m3"])
        self.assertEqual(trash.__name__, "trash")

    def test_no(self) -> None:
        self.tapping("reject")
        said = self.guard(self.trash)(ids=["m1"])
        self.assertIsInstance(said, Declined)
        self.assertIn("the owner rejected this", said)
        self.assertEqual(said.answer.decision, "rejected")
        self.assertEqual(self.ran, [])

    def test_what_runs_is_what_was_asked(self) -> None:
        ids = ["m1"]
        guarded = self.guard(self.trash)
        result = []
        thread = threading.Thread(target=lambda: result.append(guarded(ids)))
        thread.start()
        owner("card", self.title, says="m1")
        ids.append("m2")
        owner("approve", self.title)
        thread.join()
        self.assertEqual((self.ran, result), ([["m1"]], [{"trashed": 1}]))

    def test_a_tool_that_raises(self) -> None:
        def fails(ids):
            self.ran.append(ids)
            raise redis.exceptions.ConnectionError("the mail server is away")  # its own, not the queue's

        self.tapping()
        guarded = self.guard(fails)
        with self.assertRaises(redis.exceptions.ConnectionError):
            guarded(["m1"])
        self.assertIn("the mail server is away", owner("card", self.title, says="Failed"))
        with self.assertRaises(CallFailed):
            guarded(["m1"])
        self.assertEqual(len(self.ran), 1)

    def test_a_tool_that_says_more(self) -> None:
        def partly(ids):
            return Ran(ids[:1], "partial", "one was gone", [{"line": 1, "ok": True}, {"line": 2, "ok": False}])

        self.tapping()
        self.assertEqual(self.guard(partly)(["m1", "m2"]), ["m1"])
        self.assertIn("one was gone", owner("card", self.title, says="Partly done"))

    def test_a_value_that_is_no_json(self) -> None:
        self.tapping()
        guarded = self.guard(lambda ids: {1, 2})
        self.assertEqual(guarded(["m1"]), {1, 2})
        self.assertIsInstance(guarded(["m1"]), DoneBefore)

    def test_dead_before_the_call(self) -> None:
        """It was approved and not started: it runs once, when it is asked again."""
        for step, after in (("asked", False), ("asked", True), ("started", False)):
            with self.subTest(step, after=after):
                self.setUp()
                with self.assertRaises(Crash):
                    self.tapping()
                    self.guard(self.trash, Dying(self.ledger, step, after))(["m1"])
                self.assertEqual(self.ran, [])
                self.assertEqual(self.guard(self.trash)(["m1"]), {"trashed": 1})
                self.assertEqual(len(self.ran), 1)
                owner("card", self.title, says="Done")

    def test_dead_during_the_call(self) -> None:
        """It was started: whether it took effect nobody knows, so it is not run again."""

        def dies(ids):
            self.ran.append(ids)
            raise Crash

        self.tapping()
        with self.assertRaises(Crash):
            self.guard(dies)(["m1"])
        for _ in range(2):
            self.assertIsInstance(self.guard(self.trash)(["m1"]), Unsure)
        self.assertEqual(len(self.ran), 1)
        self.assertIn("not known", owner("card", self.title, says="Partly done"))

    def test_dead_after_the_call(self) -> None:
        """It ran: it is reported when it is asked again, and not run again."""
        self.tapping()
        with self.assertRaises(Crash):
            self.guard(self.trash, Dying(self.ledger, "done", True))(["m1"])
        self.assertEqual(self.client.row(self.id).report, "")
        self.assertEqual(self.guard(self.trash)(["m1"]), {"trashed": 1})
        self.assertEqual(len(self.ran), 1)
        owner("card", self.title, says="Done")

    def test_the_reply_to_the_claim_is_lost(self) -> None:
        class Losing:
            """A connection that breaks once after a claim has arrived."""

            connection, lost = self.connection, False

            def execute_command(self, *words, **options):
                reply = self.connection.execute_command(*words, **options)
                if words[0] in ("EVAL", "EVALSHA") and not self.lost:
                    self.lost = True
                    raise redis.exceptions.ConnectionError("Connection closed by server.")
                return reply

        self.tapping()
        guarded = self.guard(self.trash, client=Client(Losing(), NAMESPACE))
        with self.assertRaises(Unavailable):
            guarded(["m1"])
        self.assertEqual(self.ran, [])
        self.assertEqual(guarded(["m1"]), {"trashed": 1})
        self.assertEqual(len(self.ran), 1)

    def test_anothers_claim(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.tapping()
            self.guard(self.trash)(["m1"])
            with self.assertRaises(ClaimRefused):
                self.guard(self.trash, FileLedger(folder))(["m1"])
        self.assertEqual(len(self.ran), 1)

    def test_another_call_was_faster(self) -> None:
        """Two calls under one id at once: the one whose question was noted second is not run."""

        class Blind:
            """A connection that does not see the row yet, for one question."""

            connection, asked = self.connection, False

            def execute_command(self, *words, **options):
                reply = self.connection.execute_command(*words, **options)
                if words[0] == "HMGET" and not self.asked:
                    self.asked = True
                    return [None]
                return reply

        class Slow:
            """A ledger that does not have the question yet, for one look."""

            ledger, looked = self.ledger, False

            def read(self, approval_id, step):
                if step == "asked" and not self.looked:
                    self.looked = True
                    return None
                return self.ledger.read(approval_id, step)

            def add(self, approval_id, step, note):
                return self.ledger.add(approval_id, step, note)

        self.tapping()
        with self.assertRaises(Crash):
            self.guard(self.trash, Dying(self.ledger, "started", False))(["m1"])
        with self.assertRaises(Taken):
            self.guard(self.trash, Slow(), Client(Blind(), NAMESPACE))(["m2"])
        self.assertEqual(self.ran, [])
        self.assertEqual(self.guard(self.trash)(["m1"]), {"trashed": 1})
        self.assertEqual(self.ran, [["m1"]])

    def test_still_running(self) -> None:
        """Who asks meanwhile does not know how it ends; what it came to is reported all the same."""

        def slow(ids):
            for _ in range(2):
                self.assertIsInstance(self.guard(self.trash)(["m1"]), Unsure)
            self.assertIn("not known", owner("card", self.title, says="Partly done"))
            return len(ids)

        self.tapping()
        self.assertEqual(self.guard(slow)(["m1"]), 1)
        owner("card", self.title, says="Done")
        self.assertEqual(self.ran, [])

    def test_many_at_once(self) -> None:
        """Of several that share a ledger one runs; the others do not know how it ends."""
        got = []

        def ask() -> None:
            with connect() as connection:
                try:
                    got.append(self.guard(self.trash, client=Client(connection, NAMESPACE))(["m1"]))
                except ClaimRefused as e:
                    got.append(e)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        self.tapping()
        for thread in threads:
            thread.join()
        self.assertEqual((len(self.ran), len(got)), (1, 4))

    def test_bad_input(self) -> None:
        def positional(ids, /):
            return ids

        with self.assertRaises(TypeError):
            self.guard(positional)
        with self.assertRaises(TypeError):
            self.guard(lambda *ids: ids)

        def generator(ids):
            yield from ids

        async def async_generator(ids):
            for i in ids:
                yield i

        for late in (generator, async_generator):
            with self.subTest(late.__name__), self.assertRaisesRegex(TypeError, "generator"):
                self.guard(late, client=AsyncClient(self.connection, NAMESPACE) if late is async_generator else self.client)
        for bad in ({1}, float("nan"), 2**53, b"x", {1: 2}, "\ud800"):
            with self.subTest(repr(bad)), self.assertRaises(Invalid):
                self.guard(self.trash)([bad])
        self.assertEqual(self.ran, [])

    def test_asyncio(self) -> None:
        async def trash(ids):
            self.ran.append(ids)
            return len(ids)

        async def main():
            async with redis.asyncio.Redis.from_url(RUNTIME) as connection:
                guarded = self.guard(trash, client=AsyncClient(connection, NAMESPACE))
                asking = asyncio.create_task(guarded(["m1"]))
                await asyncio.to_thread(owner, "approve", self.title)
                got = await asking, await guarded(["m1"])
                await connection.connection_pool.disconnect()
                return got

        self.assertEqual(asyncio.run(main()), (1, 1))
        self.assertEqual(self.ran, [["m1"]])
        with self.assertRaises(TypeError):
            self.guard(trash)


class Ledger(unittest.TestCase):
    def test_notes_are_written_once(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            ledger = FileLedger(folder)
            self.assertIsNone(ledger.read("a:1", "started"))
            self.assertTrue(ledger.add("a:1", "started", "x"))
            self.assertFalse(ledger.add("a:1", "started", "y"))
            self.assertEqual(FileLedger(folder).read("a:1", "started"), "x")
            self.assertIsNone(ledger.read("a:1", "done"))
            self.assertTrue(ledger.add("..", "done", "z"))
            self.assertEqual(ledger.read("..", "done"), "z")


if __name__ == "__main__":
    unittest.main()
