"""What is said of dead letters, and what became of them."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class DeadLetterOutcome(StrEnum):
    """What became of a dead letter, or would: the first two are the answers of a dry run."""

    WOULD_BE_HANDLED = "wouldBeHandled"
    WOULD_BE_KEPT = "wouldBeKept"
    HANDLED = "handled"
    KEPT = "kept"
    DISCARDED = "discarded"
    NOT_FOUND = "notFound"


@dataclass(frozen=True)
class Explanation:
    """Why a message may lie here. `code` is stable, `text` for people.

    The ids are those of what the message names, where that is known.
    """

    code: str
    text: str
    can_be_handled: bool = False
    file_ids: tuple[UUID, ...] = ()
    job_id: UUID | None = None
    request_id: str | None = None


@dataclass(frozen=True)
class Verdict:
    """What became of one dead letter, and why."""

    sequence_number: int
    outcome: DeadLetterOutcome
    code: str
    text: str


@dataclass(frozen=True)
class DeadLetterCount:
    """How many lie in a queue; `more` when they were not counted to the end."""

    subscription: str
    topic: str
    count: int
    more: bool
    oldest: datetime | None


@dataclass(frozen=True)
class Operator:
    """Who acts on dead letters, and why: a person, or the service itself."""

    source: str
    actor: str | None = None
    reason: str | None = None
