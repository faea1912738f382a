"""What requests to the HTTP endpoints must be: the same models validate and describe them."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from shared.contracts.wire import read_json_object
from shared.domain.errors import PermanentError
from shared.domain.retries import RequestState

MOST_IDS = 100
"""How many entities or files one request may name, counted as sent."""

LARGEST_ID = 2**63 - 1


class InvalidRequestError(PermanentError):
    """A request breaks its contract. `details` are pairs of a field's name and its rule."""

    def __init__(self, message: str, details: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__("request_invalid", message)
        self.details = details


_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d.*")


def _printable(text: str) -> str:
    if not (text.isascii() and text.isprintable() and text == text.strip()):
        raise ValueError("must be printable ASCII without blanks around it")
    return text


def _one_file(text: str) -> str:
    # The order of function names decides between the two routes; this holds whatever it is.
    if text.casefold() == "batch":
        raise ValueError("batch is no file; POST /v1/retry/batch takes fileIds")
    return text


def _timestamp(value: object) -> object:
    if isinstance(value, str) and not _TIMESTAMP.fullmatch(value):
        raise ValueError("must be a date and time with its zone, as in 2024-01-01T00:00:00Z")
    return value


def _utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("must be within the years 1 to 9999 in UTC") from None


Moment = Annotated[AwareDatetime, BeforeValidator(_timestamp), AfterValidator(_utc)]
"""A date and time with its zone, in UTC."""

EntityId = Annotated[int, Field(ge=1, le=LARGEST_ID)]
Reason = Annotated[str, Field(min_length=1, max_length=500)]
FileId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=128,
        description="A document hash, else a FileID",
        json_schema_extra={"pattern": "^[!-~]([ -~]*[!-~])?$"},
    ),
    AfterValidator(_printable),
]


class Parameters(BaseModel):
    """Parameters of a path or a query, which arrive as text. Unknown ones are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    @classmethod
    def read(cls, values: Mapping[str, str]) -> Self:
        """Validate. Raises InvalidRequestError, whose texts never show what was sent."""
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise _invalid(error) from None


class FilePath(Parameters):
    """Which file to extract again."""

    fileId: Annotated[FileId, AfterValidator(_one_file)]


class RequestPath(Parameters):
    """Which request to tell of."""

    requestId: Annotated[
        str, Field(min_length=1, max_length=64, description="As the restart or retry answered it")
    ]


class ClientPath(Parameters):
    """Whose extractors to list."""

    clientAppId: Annotated[str, Field(min_length=1, description="The client application's id")]


class RequestsQuery(Parameters):
    """Which requests to list; without a filter, the newest of all."""

    initiatedBy: Annotated[str, Field(max_length=320, description="Who asked")] | None = None
    since: Annotated[Moment, Field(description="Asked at this time or later")] | None = None
    state: Annotated[RequestState | None, Field(description="How it stands")] = None


class Body(BaseModel):
    """A JSON object. Unknown fields are ignored; a value of another type is never converted."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, hide_input_in_errors=True)
    may_be_absent: ClassVar[bool] = False

    @classmethod
    def read(cls, body: bytes) -> Self:
        """Validate JSON in UTF-8; `1` is an integer, `1.0`, `1e0`, `"1"` and `true` are not.

        Raises InvalidRequestError, or ContractError when it is no JSON object. Their texts never
        show what was sent.
        """
        absent = cls.may_be_absent and not body.strip()
        try:
            return cls.model_validate({} if absent else read_json_object(body))
        except ValidationError as error:
            raise _invalid(error) from None


class RestartRequest(Body):
    """Which extracted entities to extract again, and why."""

    extractedEntityIds: Annotated[list[EntityId], Field(min_length=1, max_length=MOST_IDS)]
    reason: Reason = "manual_restart"

    @model_validator(mode="before")
    @classmethod
    def _count(cls, body: Any) -> Any:
        _check_count(
            body,
            "extractedEntityIds",
            "extractedEntityIds is required and must contain at least one ID",
            f"Cannot restart more than {MOST_IDS} entities at once",
        )
        return body


class RetryFileRequest(Body):
    """Why to extract a file again."""

    may_be_absent = True

    reason: Reason = "manual_retry"


class RetryBatchRequest(Body):
    """Which files to extract again, and why."""

    fileIds: Annotated[list[FileId], Field(min_length=1, max_length=MOST_IDS)]
    reason: Reason = "manual_retry"

    @model_validator(mode="before")
    @classmethod
    def _count(cls, body: Any) -> Any:
        _check_count(
            body,
            "fileIds",
            "fileIds is required and must contain at least one ID",
            f"Cannot retry more than {MOST_IDS} files at once",
        )
        return body


def _check_count(body: Any, field: str, too_few: str, too_many: str) -> None:
    """Both are rules about the request as a whole, with one text each for all of their cases."""
    ids = body.get(field) if isinstance(body, Mapping) else None
    if ids is None or ids == []:
        raise ValueError(too_few)
    if isinstance(ids, list) and len(ids) > MOST_IDS:
        raise ValueError(too_many)


def _invalid(error: ValidationError) -> InvalidRequestError:
    problems = [
        (".".join(map(str, problem["loc"])), problem["msg"].removeprefix("Value error, "))
        for problem in error.errors(include_input=False, include_context=False, include_url=False)
    ]
    field, rule = problems[0]
    return InvalidRequestError(f"{field}: {rule}" if field else rule, [p for p in problems if p[0]])
