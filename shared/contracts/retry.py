"""`ExtractionRetryEvent` and `ExtractionRetryResult`: flat JSON, exactly as specified."""

import json
from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BaseModel, Field, StrictInt, StringConstraints

from shared.contracts.outgoing import OutgoingMessage
from shared.contracts.wire import (
    SCHEMA_VERSION,
    Contract,
    ContractError,
    check_schema_version,
    format_timestamp,
    read_json_object,
)

RESULT_ATTEMPT = "retryAttempt"
"""The application property of a result that tells its attempt."""

MOST_FILES = 100
"""Files in one event: what the specification asks a batch to hold, and a result to tell of."""

METADATA_LIMIT = 64 * 1024
"""Bytes of JSON; every attempt of a request carries its metadata on."""

LARGEST_COUNT = 2**31 - 1


def _printable(text: str) -> str:
    if not (text.isascii() and text.isprintable()):
        raise ValueError("must be printable ASCII")
    return text


def _bounded(metadata: dict[str, Any]) -> dict[str, Any]:
    if len(json.dumps(metadata, ensure_ascii=False).encode()) > METADATA_LIMIT:
        raise ValueError(f"must not be larger than {METADATA_LIMIT // 1024} KB")
    return metadata


RequestId = Annotated[
    str,
    StringConstraints(min_length=1, max_length=64, strip_whitespace=True),
    AfterValidator(_printable),
]
FileRef = Annotated[
    str,
    StringConstraints(min_length=1, max_length=128, strip_whitespace=True),
    AfterValidator(_printable),
]
"""A document hash, else a FileID."""


class ExtractionRetryEvent(Contract):
    """Extract these files again. `retryAttempt` counts from 1 within one request."""

    requestId: RequestId
    fileIds: Annotated[list[FileRef], Field(min_length=1, max_length=MOST_FILES)]
    reason: Annotated[str, Field(max_length=500)] = "extraction_failed"
    retryAttempt: Annotated[StrictInt, Field(ge=1, le=LARGEST_COUNT)] = 1
    maxRetries: Annotated[StrictInt, Field(ge=0, le=LARGEST_COUNT)] = 3
    clientApplicationId: Annotated[str, Field(max_length=64)] = "default"
    initiatedBy: Annotated[str, Field(max_length=320)] = "unknown"
    timestamp: AwareDatetime
    metadata: Annotated[dict[str, Any], AfterValidator(_bounded)] | None = None


class ExtractionRetryResult(Contract):
    """What became of one attempt of a request, file by file."""

    requestId: RequestId
    fileIds: list[FileRef]
    successfulIds: list[FileRef]
    failedIds: list[FileRef]
    errors: dict[str, str]
    timestamp: AwareDatetime
    clientApplicationId: Annotated[str, Field(max_length=64)] = "default"


def read_retry_event(
    body: bytes, enqueued_at: datetime, schema_version: object = None
) -> ExtractionRetryEvent:
    """Read a message of the `extraction-retry` topic. Raises ContractError.

    An event that does not say when it was asked for was asked for when it was enqueued.
    """
    check_schema_version(schema_version)
    document = read_json_object(body)
    fields = {name.casefold(): value for name, value in document.items()}
    if not fields.get("fileids"):
        raise ContractError(
            "contract_broken", "fileIds: ExtractionRetryEvent must contain at least one fileId"
        )
    if not fields.get("requestid"):
        raise ContractError(
            "contract_broken", "requestId: ExtractionRetryEvent must contain a requestId"
        )
    if fields.get("timestamp") is None:
        document = {**document, "timestamp": enqueued_at}
    return ExtractionRetryEvent.read(document)


def read_retry_result(body: bytes, schema_version: object = None) -> ExtractionRetryResult:
    """Read a message of the `extraction-result` topic. Raises ContractError."""
    check_schema_version(schema_version)
    return ExtractionRetryResult.read(read_json_object(body))


def format_retry_message(event: ExtractionRetryEvent) -> str:
    """The event as JSON text, its timestamp as `2024-01-01T00:00:00.000Z`."""
    return _format(event)


def format_retry_result_message(result: ExtractionRetryResult) -> str:
    """The result as JSON text, likewise."""
    return _format(result)


def retry_message(
    event: ExtractionRetryEvent, topic: str, trace_parent: str, not_before: Any = None
) -> OutgoingMessage:
    """The event as a message with the id `requestId:retryAttempt`, at once or at a time (UTC)."""
    return OutgoingMessage(
        topic=topic,
        message_id=f"{event.requestId}:{event.retryAttempt}",
        subject="ExtractionRetryEvent",
        body=format_retry_message(event),
        correlation_id=event.requestId,
        properties={"schemaVersion": SCHEMA_VERSION, "traceparent": trace_parent},
        not_before=not_before,
    )


def retry_result_message(
    result: ExtractionRetryResult, attempt: int, topic: str, trace_parent: str
) -> OutgoingMessage:
    """The result of an attempt as a message with the id `requestId:attempt`."""
    return OutgoingMessage(
        topic=topic,
        message_id=f"{result.requestId}:{attempt}",
        subject="ExtractionRetryResult",
        body=format_retry_result_message(result),
        correlation_id=result.requestId,
        properties={
            "schemaVersion": SCHEMA_VERSION,
            "traceparent": trace_parent,
            RESULT_ATTEMPT: attempt,
        },
    )


def _format(message: BaseModel) -> str:
    fields = message.model_dump(exclude_none=True)
    return json.dumps(
        {**fields, "timestamp": format_timestamp(fields["timestamp"])}, ensure_ascii=False
    )
