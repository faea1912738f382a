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


class ReadyAnswer(Answer):
    """Whether all parts are within reach; `down` names those that are not."""

    status: Literal["ready", "not ready"]
    down: list[str] | None = None
    parts: dict[str, PartAnswer]
    version: str
    commit: str
