"""What the HTTP endpoints answer. A field that is optional is left out when there is nothing."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from shared.contracts.wire import format_timestamp
from shared.domain.restart import RestartStatus
from shared.domain.retries import FileOutcome, RequestState

Timestamp = Annotated[
    datetime,
    PlainSerializer(format_timestamp, when_used="json"),
    Field(
        description="UTC, as in 2024-01-01T00:00:00.000Z", json_schema_extra={"format": "date-time"}
    ),
]


def _open(schema: dict[str, Any]) -> None:
    """Nothing slips into an answer by mistake, but later releases may add fields."""
    schema.pop("additionalProperties", None)


class Answer(BaseModel):
    """A JSON object that we send."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra=_open)

    def document(self) -> dict[str, object]:
        """The answer as JSON has it, without what is None."""
        return self.model_dump(mode="json", exclude_none=True)


class FieldError(Answer):
    """What is wrong with one field."""

    field: Annotated[str, Field(description="Its place, as in `extractedEntityIds.3`")]
    message: str


class ErrorAnswer(Answer):
    """Any refusal or failure."""

    error: Annotated[str, Field(description="The reason phrase of the status")]
    message: Annotated[str, Field(description="What to do")]
    details: list[FieldError] | None = None


class EntityError(Answer):
    """Why an entity was not restarted."""

    extractedEntityId: int
    error: str


class RestartAnswer(Answer):
    """What is being restarted, in the request's order, and what is not."""

    requestId: str
    extractedEntityIds: list[int]
    fileHashes: Annotated[list[str], Field(description="One for each document")]
    status: RestartStatus
    message: str
    errors: list[EntityError] | None = None


class RestartRefusedAnswer(RestartAnswer):
    """Nothing could be restarted: the whole answer, as an error."""

    error: str


class RestartNotSentAnswer(ErrorAnswer):
    """The restart could not be sent in time; `requestId` tells whether it began all the same."""

    requestId: str | None = None


class RetryFileAnswer(Answer):
    """The file will be extracted again."""

    requestId: str
    fileId: str
    status: Literal["queued"] = "queued"


class RetryBatchAnswer(Answer):
    """The files will be extracted again."""

    requestId: str
    fileIds: list[str]
    count: int
    status: Literal["queued"] = "queued"


class FileAnswer(Answer):
    """One file of an attempt, by the id that was sent."""

    fileId: str
    outcome: FileOutcome
    error: str | None = None
    jobId: str | None = None


class AttemptAnswer(Answer):
    """One attempt: when the service took it, and when its last file was decided."""

    retryAttempt: int
    startedAt: Timestamp
    endedAt: Timestamp | None = None
    files: list[FileAnswer]


class RequestSummary(Answer):
    """A restart or retry request: who asked, why, and how it stands."""

    requestId: str
    state: RequestState
    reason: str
    initiatedBy: str
    clientApplicationId: str
    requestedAt: Timestamp
    maxRetries: int
    nextAttemptAt: Timestamp | None = None


class RequestAnswer(RequestSummary):
    """A request with its attempts, first to last."""

    attempts: list[AttemptAnswer]


class RequestsAnswer(Answer):
    """The newest requests first, 100 at most."""

    requests: list[RequestSummary]
