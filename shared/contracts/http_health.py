"""What the health endpoints answer. No address, key or text of an error is in it."""

from typing import Literal

from shared.contracts.http_answers import Answer, Timestamp


class LiveAnswer(Answer):
    """The app runs, and this is what runs."""

    status: Literal["live"] = "live"
    version: str
    commit: str


class PartAnswer(Answer):
    """One part that the service needs."""

    state: Literal["up", "down"]
    lastSuccess: Timestamp | None = None


class MendedAnswer(Answer):
    """How many of a kind were mended since counting began, and when the last one was."""

    count: int
    last: Timestamp


class ReconciliationAnswer(Answer):
    """What reconciliation has found and mended, on all hosts together."""

    passes: int
    lastPass: Timestamp
    mended: dict[str, MendedAnswer]


class ReadyAnswer(Answer):
    """Whether all parts are within reach; `down` names those that are not.

    `reconciliation` is left out before its first pass, and while the database is down.
    """

    status: Literal["ready", "not ready"]
    down: list[str] | None = None
    parts: dict[str, PartAnswer]
    reconciliation: ReconciliationAnswer | None = None
    version: str
    commit: str
