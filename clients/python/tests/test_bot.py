"""The verbs against the whole bot, with a runtime's rights, while Ann taps."""

import unittest
import uuid

import redis
from countersign import ClaimRefused, Client, NotMine, Pending, Taken, Unknown
from world import ADMIN, NAMESPACE, connect, new_title, owner, until


def request(title: str, **fields) -> dict:
    return {
        "approval_id": str(uuid.uuid4()), "runtime": "python", "tool": "trash_emails",
        "arguments": {"ids": ["m1", "m2"]}, "card": {"title": title, "lines": ["Big sale", "Last chance"]}, **fields,
    }


class Bot(unittest.TestCase):
    def setUp(self) -> None:
        self.connection = connect()
        self.client = Client(self.connection, NAMESPACE)
        self.title = new_title()

    def tearDown(self) -> None:
        self.connection.close()

    def row_is(self, approval_id: str, state: str) -> None:
        def shown() -> bool:
            try:
                return self.client.row(approval_id).state == state
            except Unknown:
                return False

        until(shown, f"{approval_id} is {state}")

    def test_the_whole_way(self) -> None:
        asked = request(self.title, context={"wait": "w-1"})
        asked["card"].update(undo_tool="restore_emails", undo_window_days=30)
        pending = self.client.request(asked)
        owner("approve", self.title)
        answer = self.client.await_answer(pending, 300)
        self.assertTrue(answer.approved)
        self.assertEqual((answer.by.name, answer.by.surface, answer.by.method), ("Ann", "telegram", "button"))
        self.assertEqual(answer.context, {"wait": "w-1"})
        self.assertEqual(answer.calls[0].arguments, {"ids": ["m1", "m2"]})
        other = self.client.request(request(new_title(), arguments={"ids": ["m3"]}))
        self.row_is(other.approval_id, "open")
        for approval_id, pin, status in (
            (pending.approval_id, other.pin, "pin_mismatch"),  # a changed argument
            (str(uuid.uuid4()), pending.pin, "unknown"),  # a forged id
            (other.approval_id, other.pin, "not_approved"),
        ):
            with self.assertRaises(ClaimRefused) as refused:
                self.client.claim(approval_id, pin, "worker")
            self.assertEqual(refused.exception.status, status)
        self.client.claim(pending.approval_id, pending.pin, "worker", pending.stream)
        with self.assertRaises(ClaimRefused) as refused:
            self.client.claim(pending.approval_id, pending.pin, "another")
        self.assertEqual(refused.exception.status, "already_claimed")
        self.assertEqual(self.client.claimant(pending.approval_id), "worker")
        results = [{"line": 1, "ok": True}, {"line": 2, "ok": False, "detail": "gone"}]
        self.client.report(pending.approval_id, "partial", results=results, message="one was gone")
        self.assertIn("one was gone", owner("card", self.title, says="Partly done"))
        owner("undo", self.title)
        undo = self.client.await_undo(pending.approval_id, 300)
        self.assertEqual((undo.undo_tool, undo.by.name), ("restore_emails", "Ann"))
        self.client.report(pending.approval_id, "undone")
        owner("card", self.title, says="Undone")
        self.client.withdraw(other.approval_id, "not needed")
        self.assertEqual(self.client.await_answer(other, 300).decision, "withdrawn")

    def test_a_no(self) -> None:
        pending = self.client.request(request(self.title))
        owner("reject", self.title)
        answer = self.client.await_answer(pending, 300)
        self.assertFalse(answer.approved)
        self.assertTrue(answer.observation.startswith(f"the owner rejected this: {self.title}"))
        with self.assertRaises(ClaimRefused) as refused:
            self.client.claim(pending.approval_id, pending.pin, "worker")
        self.assertEqual(refused.exception.status, "not_approved")

    def test_a_restart(self) -> None:
        kept = self.client.request(request(self.title)).to_json()
        owner("reject", self.title)
        with connect() as connection:
            answer = Client(connection, NAMESPACE).await_answer(Pending.from_json(kept), 300)
        self.assertEqual(answer.decision, "rejected")

    def test_anothers(self) -> None:
        first = request(self.title)
        pending = self.client.request(first)
        self.row_is(pending.approval_id, "open")
        second = {**first, "arguments": {"ids": ["all"]}}
        with self.assertRaises(Taken):
            self.client.request(second)
        mine = self.client.request(second, no_check=True)
        owner("approve", self.title)
        self.assertTrue(self.client.await_answer(pending, 300).approved)
        with self.assertRaises(NotMine):
            self.client.await_answer(mine, 300)
        with self.assertRaises(ClaimRefused) as refused:
            self.client.claim(mine.approval_id, mine.pin, "worker")
        self.assertEqual(refused.exception.status, "pin_mismatch")

    def test_anothers_halt(self) -> None:
        halt = {"approval_id": str(uuid.uuid4()), "kind": "halt", "card": {"title": self.title}}
        pending = self.client.request(halt)
        self.row_is(pending.approval_id, "open")
        mine = self.client.request({**halt, "card": {"title": "Another"}}, no_check=True)
        self.assertEqual(mine.pin, pending.pin)
        owner("reject", self.title)
        self.assertEqual(self.client.await_answer(pending, 300).decision, "rejected")
        with self.assertRaises(NotMine):
            self.client.await_answer(mine, 300)

    def test_a_refusal_is_an_answer(self) -> None:
        pending = self.client.request({**request(self.title), "expires_in": 10**7})
        answer = self.client.await_answer(pending, 300)
        self.assertEqual(answer.decision, "refused")
        self.assertIn("invalid: expires_in", answer.reason)

    def test_a_script_that_redis_forgot(self) -> None:
        pending = self.client.request(request(self.title))
        owner("approve", self.title)
        self.client.await_answer(pending, 300)
        with redis.Redis.from_url(ADMIN) as admin:
            admin.script_flush()
        self.client.claim(pending.approval_id, pending.pin, "worker")

    def test_no_other_rights(self) -> None:
        for command in (
            ("HSET", f"{{{NAMESPACE}}}:row:a1", "state", "approved"),
            ("DEL", f"{{{NAMESPACE}}}:claim:a1"),
            ("XADD", f"{{{NAMESPACE}}}:answers", "*", "a", "b"),
        ):
            with self.assertRaises(redis.exceptions.NoPermissionError):
                self.connection.execute_command(*command)


if __name__ == "__main__":
    unittest.main()
