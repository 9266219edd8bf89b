"""The adapters against the whole bot, with a runtime's rights, while Ann taps. IRIS and
AbstractRuntime are here as the shapes of their rows and waits alone."""

import hashlib
import json
import unittest
import uuid

from countersign import ClaimRefused, Client, Invalid, Taken, Unavailable, abstractruntime, iris
from world import NAMESPACE, NOBODY, TABLE_NAMESPACE, connect, new_title, owner, until


class Adapter(unittest.TestCase):
    def setUp(self) -> None:
        self.connection = connect()
        self.client = Client(self.connection, NAMESPACE)
        self.title = new_title()
        self.own = str(uuid.uuid4())

    def tearDown(self) -> None:
        self.connection.close()

    def asked(self, held) -> dict:
        """The request as the bot took it."""
        until(lambda: self.connection.hmget(f"{{{NAMESPACE}}}:row:{held.pending.approval_id}", "state")[0], "it is taken")
        return json.loads(self.client.row(held.pending.approval_id).request)

    def withdraw(self, held) -> None:
        self.asked(held)
        self.client.withdraw(held.pending.approval_id)


class Iris(Adapter):
    def row(self, **fields) -> dict:
        return {
            "id": self.own, "tool": "trash_email", "arguments": {"ids": ["m1", "m2"]}, "effect": "destructive",
            "card": {"title": self.title, "lines": ["Big sale", "Last chance"], "undo_tool": "restore_email",
                     "undo_window_days": 30, "request": "Delete my promo emails"}, **fields,
        }

    def test_a_row(self) -> None:
        held = iris.ask_row(self.client, self.row(), run_id="run-1")
        asked = self.asked(held)
        self.assertEqual((asked["tool"], asked["arguments"]), ("trash_email", {"ids": ["m1", "m2"]}))
        self.assertEqual(asked["card"], self.row()["card"])
        self.assertEqual((asked["runtime"], asked["run_id"], asked["effect"]), ("iris", "run-1", "destructive"))
        owner("approve", self.title)
        self.assertEqual(held.wait(300), "approve")
        with self.assertRaises(ClaimRefused):
            held.wait(300)  # a yes is given once
        held.report("executed", "2 emails are in the bin")
        self.assertIn("2 emails are in the bin", owner("card", self.title, says="Done"))

    def test_the_same_row_again(self) -> None:
        first = iris.ask_row(self.client, self.row())
        again = iris.ask_row(self.client, self.row())
        self.assertEqual(first.pending.terms, again.pending.terms)
        self.asked(first)
        with self.assertRaises(Taken):
            iris.ask_row(self.client, self.row(arguments={"ids": ["all"]}))
        owner("approve", self.title)
        self.assertEqual(again.wait(300), "approve")
        with self.assertRaises(ClaimRefused):
            first.wait(300)

    def test_a_pinned_write(self) -> None:
        asked = self.asked(iris.ask_row(self.client, self.row(tool="send_email", effect="write")))
        self.assertEqual((asked["effect"], asked["approval"]), ("write", "pinned"))

    def test_a_no(self) -> None:
        held = iris.ask_row(self.client, self.row())
        owner("reject", self.title)
        self.assertEqual(held.wait(300), "reject")

    def test_no_answer_is_no_rejection(self) -> None:
        held = iris.ask_row(self.client, self.row())
        self.withdraw(held)
        self.assertIsNone(held.wait(300))
        self.assertEqual(held.answer.decision, "withdrawn")

    def test_a_halt(self) -> None:
        row = {"id": "halt " + self.own, "context_summary": "It was about to send money", "card": {"title": self.title}}
        held = iris.ask_row(self.client, row)
        self.assertEqual(held.pending.approval_id, "iris:" + hashlib.sha256(row["id"].encode()).hexdigest())
        asked = self.asked(held)
        self.assertEqual((asked["kind"], asked["card"]["summary"]), ("halt", "It was about to send money"))
        owner("halt", self.title)
        self.assertEqual(held.wait(300), "approve")

    def test_a_confirmation(self) -> None:
        confirmation = {"id": self.own, "kind": "calendar-approval", "summary": self.title,
                        "detail": {"when": "Friday", "who": "Ben"}, "options": ["approve", "reject"]}
        held = iris.ask_confirmation(self.client, confirmation, session="chat-1")
        asked = self.asked(held)
        self.assertEqual(asked["card"]["lines"], ["when: Friday", "who: Ben"])
        self.assertEqual(asked["arguments"], {k: confirmation[k] for k in ("id", "kind", "summary", "detail")})
        owner("approve", self.title)
        self.assertEqual(held.wait(300), "approve")
        held.report("failed", "the calendar is away")
        owner("card", self.title, says="the calendar is away")

    def test_what_cannot_be_asked(self) -> None:
        confirmation = {"id": self.own, "kind": "k", "summary": self.title, "options": ["approve", "edit", "reject"]}
        with self.assertRaises(ValueError):
            iris.ask_confirmation(self.client, confirmation)
        with self.assertRaises(Invalid):
            iris.ask_row(self.client, self.row(card={}))
        with self.assertRaises(ValueError):  # which one tap would let go on as a halt
            iris.ask_row(self.client, self.row(tool=""))
        with self.assertRaises(Unavailable):
            iris.ask_row(Client(self.connection, TABLE_NAMESPACE), self.row())
        with connect(NOBODY) as nobody, self.assertRaises(Unavailable):
            iris.ask_row(Client(nobody, NAMESPACE), self.row())
        self.assertFalse(self.connection.hmget(f"{{{NAMESPACE}}}:row:{self.own}", "state")[0])


class AbstractRuntime(Adapter):
    def wait_state(self, **details) -> dict:
        return {
            "reason": "user", "wait_key": f"tool_approval:run-1:node-1:{self.own}", "until": None, "details": {
                "mode": "approval_required", "executor": {"kind": "tool_approval"}, "tool_calls": [
                    {"name": "delete_files", "arguments": {"paths": ["a.txt"]}, "call_id": "c1", "runtime_call_id": "rc1"},
                    {"name": "send_sms", "arguments": {"to": "Ben"}, "call_id": "c2"},
                ], **details,
            },
        }

    def ask(self, **more):
        return abstractruntime.ask(self.client, "run-1", self.wait_state(**more), describe=lambda c: f"{self.title}: {c['name']}")

    def test_a_wait(self) -> None:
        held = self.ask(original_call_count=3)
        asked = self.asked(held)
        self.assertEqual(asked["calls"], [
            {"tool": "delete_files", "arguments": {"paths": ["a.txt"]}, "call_id": "rc1"},
            {"tool": "send_sms", "arguments": {"to": "Ben"}, "call_id": "c2"},
        ])
        self.assertEqual(asked["card"]["title"], "Run 2 calls of 3 in this turn")
        self.assertEqual(held.pending.approval_id, held.wait_key)
        owner("approve", self.title, says="Run 2 calls of 3 in this turn")
        payload = held.wait(300)
        self.assertIs(payload["approved"], True)
        self.assertEqual(held.command(payload), {
            "command_id": held.wait_key + ":approve", "run_id": "run-1", "type": "resume",
            "payload": {"wait_key": held.wait_key, "payload": {"approved": True}},
        })
        with self.assertRaises(ClaimRefused):
            held.wait(300)
        held.report("partial", "one number is unknown")
        owner("card", self.title, says="one number is unknown")

    def test_a_no(self) -> None:
        held = self.ask()
        owner("reject", self.title)
        payload = held.wait(300)
        self.assertIs(payload["approved"], False)
        self.assertTrue(payload["reason"].startswith("the owner rejected this"))

    def test_no_answer(self) -> None:
        held = self.ask()
        self.withdraw(held)
        payload = held.wait(300)
        self.assertIs(payload["approved"], False)
        self.assertTrue(payload["reason"].startswith("no owner answered (withdrawn)"))

    def test_a_card_shows_arguments_by_itself(self) -> None:
        calls = [{"name": "delete_files", "arguments": {"paths": ["é"]}}, {"name": "ping"}, {"name": "t", "arguments": {"a": "x" * 2000}}]
        lines = self.asked(abstractruntime.ask(self.client, "run-1", self.wait_state(tool_calls=calls)))["card"]["lines"]
        self.assertEqual(lines[:2], ['delete_files {"paths": ["é"]}', "ping {}"])
        self.assertEqual(len(lines[2]), 1000)
        self.assertTrue(lines[2].endswith("… (cut; the exact call is whole)"))

    def test_each_issuance_is_another_approval(self) -> None:
        first = self.ask()
        self.own = str(uuid.uuid4())
        self.assertNotEqual(first.pending.approval_id, self.ask().pending.approval_id)

    def test_what_cannot_be_asked(self) -> None:
        for wait in (
            {"reason": "event", "wait_key": "k"}, {**self.wait_state(), "reason": "until"}, self.wait_state(mode="other"),
            self.wait_state(tool_calls=[]),
        ):
            with self.assertRaises(ValueError):
                abstractruntime.ask(self.client, "run-1", wait)
        for arguments in ("{}", "", [], False):
            with self.assertRaises(Invalid):
                abstractruntime.ask(self.client, "run-1", self.wait_state(tool_calls=[{"name": "t", "arguments": arguments}]))
        with self.assertRaises(Unavailable):
            abstractruntime.ask(Client(self.connection, TABLE_NAMESPACE), "run-1", self.wait_state())
        with connect(NOBODY) as nobody, self.assertRaises(Unavailable):
            abstractruntime.ask(Client(nobody, NAMESPACE), "run-1", self.wait_state())


if __name__ == "__main__":
    unittest.main()
