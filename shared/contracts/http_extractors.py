"""Requests about extractors, and their answers."""

from typing import Annotated, Literal

from pydantic import Field

from shared.contracts.http import Body, Parameters, Reason
from shared.contracts.http_answers import Answer, Timestamp

LARGEST_EXTRACTOR_ID = 2**31 - 1


class ExtractorPath(Parameters):
    """Which extractor."""

    extractorId: Annotated[int, Field(ge=0, le=LARGEST_EXTRACTOR_ID)]


class PauseRequest(Body):
    """Why to stop, or start, calling an extractor."""

    reason: Reason


class PauseAnswer(Answer):
    """Who stopped calling it, when and why."""

    at: Timestamp
    by: str | None = None
    reason: str | None = None


class ExtractorAnswer(Answer):
    """How an extractor stands; `failures` are those in a row."""

    extractorId: int
    clientApplicationId: str
    isActive: bool
    state: Literal["up", "failing", "open", "paused"]
    activeJobs: int
    failures: int
    openUntil: Timestamp | None = None
    pause: PauseAnswer | None = None


class ExtractorsAnswer(Answer):
    """Every registered extractor, lowest id first."""

    extractors: list[ExtractorAnswer]


class PausedAnswer(Answer):
    """Whether the extractor is called now."""

    extractorId: int
    paused: bool
