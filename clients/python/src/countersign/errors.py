"""What can go wrong. Nothing here ever means that a call may run."""

from __future__ import annotations


class CountersignError(Exception):
    """The base of every error of this package, beside those of redis-py."""


class Invalid(CountersignError, ValueError):
    """A field breaks a rule. Nothing was sent.

    ``str()`` is for example ``invalid: card.title: required``, word for word what
    the bot would answer.
    """

    def __init__(self, field: str, rule: str, code: str = "invalid") -> None:
        super().__init__(f"{code}: {field}: {rule}")
        self.field = field  # a path such as card.lines[3]; "data" for the whole
        self.rule = rule
        self.code = code  # invalid or too_large


class Unavailable(CountersignError, ConnectionError):
    """Nobody would be asked, or Redis cannot be reached.

    From a claim it leaves open whether the claim was made.
    """


class Unknown(CountersignError, LookupError):
    """There is no such approval, or none came of a request."""


class Taken(CountersignError):
    """Another request, with other terms, stands under this id."""


class NotMine(CountersignError):
    """The answer is to other terms or to another call under this id."""


class BadSignature(CountersignError):
    """Keys were given, and an answer or undo request bears no signature by one of them."""


class TimedOut(CountersignError, TimeoutError):
    """There was no answer in the time that the caller gave. It may still come."""


class ClaimRefused(CountersignError):
    """Redis took a claim and refused it."""

    def __init__(self, approval_id: str, status: str) -> None:
        super().__init__(f"claim of {approval_id}: {status}")
        self.approval_id = approval_id
        # unknown, wrong_stream, pin_mismatch, not_approved or already_claimed
        self.status = status


class CallFailed(CountersignError):
    """A guarded call that had raised when it ran; it is not run again."""
