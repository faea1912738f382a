"""Requests about dead letters, and their answers. Bodies of messages are never shown."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from shared.contracts.http import LARGEST_ID, MOST_IDS, Body, Parameters, Reason
from shared.contracts.http_answers import Answer, Timestamp
from shared.domain.dead_letters import DeadLetterOutcome

LARGEST_PAGE = 100

SequenceNumber = Annotated[int, Field(ge=1, le=LARGEST_ID)]
Chosen = Annotated[list[SequenceNumber], Field(min_length=1, max_length=MOST_IDS)]


class SubscriptionPath(Parameters):
    """Whose dead letters."""

    subscription: Annotated[
        str, Field(min_length=1, description="A name that GET /v1/dead_letters answers")
    ]


class DeadLettersQuery(Parameters):
    """Which page to look at, the oldest first."""

    after: Annotated[
        int, Field(ge=0, lt=LARGEST_ID, description="A nextAfter of an earlier page")
    ] = 0
    limit: Annotated[int, Field(ge=1, le=LARGEST_PAGE)] = 50


class ResubmitRequest(Body):
    """Which dead letters to handle again: chosen ones, or the oldest 100."""

    sequenceNumbers: Chosen | None = None
    all: bool = False
    dryRun: Annotated[bool, Field(description="Only tell what would become of them")] = True

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.sequenceNumbers is not None) == self.all:
            raise ValueError("give either sequenceNumbers or all: true")
        return self


class DiscardRequest(Body):
    """Which dead letters to drop for good, and why."""

    sequenceNumbers: Chosen
    reason: Reason


class DeadLetterCountAnswer(Answer):
    """How many dead letters a subscription has."""

    subscription: str
    topic: str
    count: int
    more: Annotated[bool, Field(description="There may be more than were counted")]
    oldest: Annotated[Timestamp | None, Field(description="When it was enqueued")] = None


class DeadLetterCountsAnswer(Answer):
    """The dead letters of all subscriptions of the service."""

    subscriptions: list[DeadLetterCountAnswer]


class ExplanationAnswer(Answer):
    """Why the message may lie here, told by validating it again."""

    code: Annotated[str, Field(description="A stable reason code")]
    text: str
    canBeHandled: bool
    fileIds: list[str]
    jobId: str | None = None
    requestId: str | None = None


class DeadLetterAnswer(Answer):
    """A dead letter; `reason` and `description` are the broker's."""

    sequenceNumber: int
    messageId: str | None = None
    subject: str | None = None
    correlationId: str | None = None
    enqueuedAt: Timestamp
    deliveryCount: int
    reason: str | None = None
    description: str | None = None
    explanation: ExplanationAnswer


class DeadLettersAnswer(Answer):
    """A page of dead letters, the oldest first."""

    subscription: str
    deadLetters: list[DeadLetterAnswer]
    nextAfter: Annotated[int | None, Field(description="Where the next page begins")] = None


class VerdictAnswer(Answer):
    """What became of one dead letter, or would."""

    sequenceNumber: int
    outcome: DeadLetterOutcome
    code: Annotated[str, Field(description="A stable reason code")]
    explanation: str


class ResubmitAnswer(Answer):
    """One answer for each message; after a dry run nothing has changed."""

    subscription: str
    dryRun: bool
    results: list[VerdictAnswer]


class DiscardAnswer(Answer):
    """One answer for each message."""

    subscription: str
    results: list[VerdictAnswer]
