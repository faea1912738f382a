"""One example of each body and answer. A test validates every one of them."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from shared.contracts.http import RestartRequest, RetryBatchRequest, RetryFileRequest
from shared.contracts.http_answers import (
    ErrorAnswer,
    RequestAnswer,
    RequestsAnswer,
    RestartAnswer,
    RestartNotSentAnswer,
    RestartRefusedAnswer,
    RetryBatchAnswer,
    RetryFileAnswer,
)
from shared.contracts.http_dead_letters import (
    DeadLetterCountsAnswer,
    DeadLettersAnswer,
    DiscardAnswer,
    DiscardRequest,
    ResubmitAnswer,
    ResubmitRequest,
)
from shared.contracts.http_extractors import ExtractorsAnswer, PausedAnswer, PauseRequest
from shared.contracts.http_health import LiveAnswer, ReadyAnswer
from shared.contracts.http_jobs import (
    CallbackAnswer,
    CallbackRequest,
    CancelledAnswer,
    CancelRequest,
    JobAnswer,
    JobsAnswer,
    TimelineAnswer,
)
from shared.contracts.registration import RegisteredExtractor

_REQUEST_ID = "a7f8e3d2-4c5b-4e6f-8a9b-c1d2e3f4a5b6"
_JOB_ID = "5fe1f857-9b4d-50ac-a7b7-f3dd35470c0e"
_ENTITY_ERROR = {"extractedEntityId": 999, "error": "Extracted entity with ID 999 not found"}
_REQUEST = {
    "requestId": _REQUEST_ID,
    "state": "waiting",
    "reason": "manual_restart",
    "initiatedBy": "operator@example.com",
    "clientApplicationId": "web-console",
    "requestedAt": "2024-01-01T00:00:00.000Z",
    "maxRetries": 3,
    "nextAttemptAt": "2024-01-01T00:02:00.000Z",
}
_FILE_ID = "3f53f4b9-6ff4-4713-a0b6-4a4b17bc5c4a"
_SUBSCRIPTION = "extractor-subscription"
_JOB = {
    "jobId": _JOB_ID,
    "fileId": _FILE_ID,
    "extractorId": 7,
    "status": "Started",
    "attempt": 1,
    "createdAt": "2024-01-01T00:00:00.000Z",
    "updatedAt": "2024-01-01T00:00:02.000Z",
}
_EVENT = {
    "at": "2024-01-01T00:00:02.000Z",
    "kind": "status",
    "source": "topic",
    "jobId": _JOB_ID,
    "detail": {"status": "Started"},
}

EXAMPLES: Mapping[type[BaseModel], dict[str, Any]] = {
    RestartRequest: {"extractedEntityIds": [200, 999, 201], "reason": "retry_failed_extractions"},
    RestartAnswer: {
        "requestId": _REQUEST_ID,
        "extractedEntityIds": [200, 201],
        "fileHashes": ["hash200", "hash201"],
        "status": "partial",
        "message": "Initiated restart for 2 extraction(s) with 1 error(s)",
        "errors": [_ENTITY_ERROR],
    },
    RestartRefusedAnswer: {
        "error": "Not Found",
        "requestId": _REQUEST_ID,
        "extractedEntityIds": [],
        "fileHashes": [],
        "status": "failed",
        "message": "No valid entities to restart",
        "errors": [_ENTITY_ERROR],
    },
    RestartNotSentAnswer: {
        "error": "Internal Server Error",
        "message": "Failed to restart extraction",
        "requestId": _REQUEST_ID,
    },
    RetryFileRequest: {"reason": "manual_retry"},
    RetryFileAnswer: {"requestId": _REQUEST_ID, "fileId": "hash200", "status": "queued"},
    RetryBatchRequest: {"fileIds": ["hash200", "hash201"], "reason": "manual_retry"},
    RetryBatchAnswer: {
        "requestId": _REQUEST_ID,
        "fileIds": ["hash200", "hash201"],
        "count": 2,
        "status": "queued",
    },
    RequestsAnswer: {"requests": [_REQUEST]},
    RequestAnswer: {
        **_REQUEST,
        "attempts": [
            {
                "retryAttempt": 1,
                "startedAt": "2024-01-01T00:00:01.000Z",
                "endedAt": "2024-01-01T00:01:30.000Z",
                "files": [
                    {
                        "fileId": "hash200",
                        "outcome": "failed",
                        "error": "The extractor has not started within 15 minutes",
                        "jobId": _JOB_ID,
                    }
                ],
            }
        ],
    },
    JobsAnswer: {"jobs": [_JOB], "counts": {"Started": 1}, "nextCursor": "MjAyNC0wMS0wMVQ"},
    JobAnswer: {
        **_JOB,
        "call": {"tries": 1, "takenAt": "2024-01-01T00:00:01.000Z"},
        "next": {
            "what": "the extractor reports the end, or the job fails",
            "at": "2024-01-01T01:00:02.000Z",
        },
        "history": [_EVENT],
        "attempts": [_JOB],
        "requests": [],
    },
    TimelineAnswer: {"fileId": _FILE_ID, "events": [_EVENT]},
    DeadLetterCountsAnswer: {
        "subscriptions": [
            {
                "subscription": _SUBSCRIPTION,
                "topic": "accepted-file",
                "count": 2,
                "more": False,
                "oldest": "2024-01-01T00:00:00.000Z",
            }
        ]
    },
    DeadLettersAnswer: {
        "subscription": _SUBSCRIPTION,
        "deadLetters": [
            {
                "sequenceNumber": 17,
                "messageId": "5b1c4a52",
                "subject": "FileAccepted",
                "enqueuedAt": "2024-01-01T00:00:00.000Z",
                "deliveryCount": 10,
                "reason": "MaxDeliveryCountExceeded",
                "explanation": {
                    "code": "file_unknown",
                    "text": f"File {_FILE_ID} has no row in [file].[File]",
                    "canBeHandled": False,
                    "fileIds": [_FILE_ID],
                },
            }
        ],
        "nextAfter": 17,
    },
    ResubmitRequest: {"sequenceNumbers": [17, 21], "dryRun": False},
    ResubmitAnswer: {
        "subscription": _SUBSCRIPTION,
        "dryRun": False,
        "results": [
            {
                "sequenceNumber": 17,
                "outcome": "kept",
                "code": "file_unknown",
                "explanation": f"File {_FILE_ID} has no row in [file].[File]",
            },
            {
                "sequenceNumber": 21,
                "outcome": "handled",
                "code": "handled",
                "explanation": "It was handled again and has left the queue",
            },
        ],
    },
    DiscardRequest: {"sequenceNumbers": [17], "reason": "The file was withdrawn"},
    DiscardAnswer: {
        "subscription": _SUBSCRIPTION,
        "results": [
            {
                "sequenceNumber": 17,
                "outcome": "discarded",
                "code": "file_unknown",
                "explanation": "It was dropped from the queue",
            }
        ],
    },
    LiveAnswer: {"status": "live", "version": "1.4.0", "commit": "4a0c081"},
    ReadyAnswer: {
        "status": "not ready",
        "down": ["service bus"],
        "parts": {
            "database": {"state": "up", "lastSuccess": "2024-01-01T12:00:00.000Z"},
            "service bus": {"state": "down", "lastSuccess": "2024-01-01T11:58:10.000Z"},
        },
        "version": "1.4.0",
        "commit": "4a0c081",
    },
    PauseRequest: {"reason": "It is being moved"},
    PausedAnswer: {"extractorId": 7, "paused": True},
    ExtractorsAnswer: {
        "extractors": [
            {
                "extractorId": 7,
                "clientApplicationId": "web-console",
                "isActive": True,
                "state": "paused",
                "activeJobs": 3,
                "failures": 0,
                "pause": {
                    "at": "2024-01-01T12:00:00.000Z",
                    "by": "ada@example.com",
                    "reason": "It is being moved",
                },
            }
        ]
    },
    CallbackRequest: {"status": "Succeeded", "resultSummary": {"pages": 3}},
    CallbackAnswer: {"jobId": _JOB_ID, "status": "Succeeded"},
    CancelRequest: {"reason": "The file was withdrawn"},
    CancelledAnswer: {"jobId": _JOB_ID, "status": "Cancelled"},
    RegisteredExtractor: {
        "clientApplicationExtractorId": 7,
        "extractionUrl": "https://extractor.example.com/extract",
    },
    ErrorAnswer: {
        "error": "Bad Request",
        "message": "extractedEntityIds.1: Input should be a valid integer",
        "details": [
            {"field": "extractedEntityIds.1", "message": "Input should be a valid integer"}
        ],
    },
}
