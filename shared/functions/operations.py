"""Every HTTP operation of the app: its place, who may call it, what it takes and answers.

The OpenAPI document is made of this table, and tests hold it to the functions themselves.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from shared.auth import Access
from shared.contracts.http import (
    Body,
    ClientPath,
    FilePath,
    Parameters,
    RequestPath,
    RequestsQuery,
    RestartRequest,
    RetryBatchRequest,
    RetryFileRequest,
)
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
    DeadLettersQuery,
    DiscardAnswer,
    DiscardRequest,
    ResubmitAnswer,
    ResubmitRequest,
    SubscriptionPath,
)
from shared.contracts.http_extractors import (
    ExtractorPath,
    ExtractorsAnswer,
    PausedAnswer,
    PauseRequest,
)
from shared.contracts.http_health import LiveAnswer, ReadyAnswer
from shared.contracts.http_jobs import (
    CallbackAnswer,
    CallbackRequest,
    CancelledAnswer,
    CancelRequest,
    FilePathById,
    JobAnswer,
    JobPath,
    JobsAnswer,
    JobsQuery,
    TimelineAnswer,
)
from shared.contracts.registration import RegisteredExtractor

RESTART, REQUESTS, JOBS, DEAD_LETTERS = "Restart", "Requests", "Jobs", "Dead letters"
CALLBACK_TOKEN = "call-back token"  # noqa: S105 - its name, no secret
"""What an extractor gets with a call: no scope or role, but good for one job only."""

HEALTH = "Health"
EXTRACTORS = "Extractors"
SERVICES, DESCRIPTION = "Other services", "Description"


@dataclass(frozen=True)
class Operation:
    """One function behind one path.

    `access` is what its tokens must allow, for a service the name of its role, None for anyone.
    `answers` are those that are its own; what every operation may answer comes from its form.
    """

    function: str
    method: str
    path: str
    tag: str
    summary: str
    access: Access | str | None
    answers: Mapping[HTTPStatus, Any]
    path_parameters: type[Parameters] | None = None
    query: type[Parameters] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: type[Body] | None = None
    media_type: str = "application/json"

    @property
    def all_answers(self) -> dict[HTTPStatus, Any]:
        """Every status that it may answer with the type of the body, in ascending order."""
        statuses = [HTTPStatus.INTERNAL_SERVER_ERROR]
        if self.access:
            # Also without a database: the keys of the issuer may be out of reach.
            statuses += [
                HTTPStatus.UNAUTHORIZED,
                HTTPStatus.FORBIDDEN,
                HTTPStatus.SERVICE_UNAVAILABLE,
            ]
        if self.path_parameters or self.query or self.body:
            statuses.append(HTTPStatus.BAD_REQUEST)
        if self.body:
            statuses += [
                HTTPStatus.LENGTH_REQUIRED,
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            ]
        return dict(sorted({**dict.fromkeys(statuses, ErrorAnswer), **self.answers}.items()))


OPERATIONS = (
    Operation(
        "restart_extraction",
        "POST",
        "/v1/extracted_entities/restart",
        RESTART,
        "Restart the extraction of up to 100 extracted entities",
        Access.WRITE,
        {
            HTTPStatus.OK: RestartAnswer,
            HTTPStatus.BAD_REQUEST: ErrorAnswer | RestartRefusedAnswer,
            HTTPStatus.NOT_FOUND: RestartRefusedAnswer,
            HTTPStatus.INTERNAL_SERVER_ERROR: RestartNotSentAnswer,
        },
        headers={
            "Idempotency-Key": "With the same key, caller and body a repeat is the same request"
        },
        body=RestartRequest,
    ),
    Operation(
        "retry_file",
        "POST",
        "/v1/retry/{fileId}",
        RESTART,
        "Extract one file again",
        Access.WRITE,
        {HTTPStatus.ACCEPTED: RetryFileAnswer},
        path_parameters=FilePath,
        body=RetryFileRequest,
    ),
    Operation(
        "retry_batch",
        "POST",
        "/v1/retry/batch",
        RESTART,
        "Extract up to 100 files again",
        Access.WRITE,
        {HTTPStatus.ACCEPTED: RetryBatchAnswer},
        body=RetryBatchRequest,
    ),
    Operation(
        "list_requests",
        "GET",
        "/v1/requests",
        REQUESTS,
        "The newest restart and retry requests",
        Access.READ,
        {HTTPStatus.OK: RequestsAnswer},
        query=RequestsQuery,
    ),
    Operation(
        "get_request",
        "GET",
        "/v1/requests/{requestId}",
        REQUESTS,
        "What became of a request: every attempt, every file",
        Access.READ,
        {
            HTTPStatus.OK: RequestAnswer,
            HTTPStatus.NOT_FOUND: ErrorAnswer,
        },
        path_parameters=RequestPath,
    ),
    Operation(
        "list_jobs",
        "GET",
        "/v1/jobs",
        JOBS,
        "A page of jobs, newest first",
        Access.READ,
        {HTTPStatus.OK: JobsAnswer},
        query=JobsQuery,
    ),
    Operation(
        "get_job",
        "GET",
        "/v1/jobs/{jobId}",
        JOBS,
        "A job with its history and what happens next",
        Access.READ,
        {
            HTTPStatus.OK: JobAnswer,
            HTTPStatus.NOT_FOUND: ErrorAnswer,
        },
        path_parameters=JobPath,
    ),
    Operation(
        "cancel_job",
        "POST",
        "/v1/jobs/{jobId}/cancel",
        JOBS,
        "Cancel a job",
        Access.WRITE,
        {
            HTTPStatus.ACCEPTED: CancelledAnswer,
            HTTPStatus.NOT_FOUND: ErrorAnswer,
            HTTPStatus.CONFLICT: ErrorAnswer,
        },
        path_parameters=JobPath,
        body=CancelRequest,
    ),
    Operation(
        "get_timeline",
        "GET",
        "/v1/files/{fileId}/timeline",
        JOBS,
        "Everything known of a file, in order of time",
        Access.READ,
        {
            HTTPStatus.OK: TimelineAnswer,
            HTTPStatus.NOT_FOUND: ErrorAnswer,
        },
        path_parameters=FilePathById,
    ),
    Operation(
        "list_dead_letters",
        "GET",
        "/v1/dead_letters",
        DEAD_LETTERS,
        "How many dead letters each subscription has",
        Access.ADMINISTRATOR,
        {HTTPStatus.OK: DeadLetterCountsAnswer},
    ),
    Operation(
        "get_dead_letters",
        "GET",
        "/v1/dead_letters/{subscription}",
        DEAD_LETTERS,
        "A page of dead letters, each explained in words; none is received",
        Access.ADMINISTRATOR,
        {HTTPStatus.OK: DeadLettersAnswer, HTTPStatus.NOT_FOUND: ErrorAnswer},
        path_parameters=SubscriptionPath,
        query=DeadLettersQuery,
    ),
    Operation(
        "resubmit_dead_letters",
        "POST",
        "/v1/dead_letters/{subscription}/resubmit",
        DEAD_LETTERS,
        "Handle up to 100 dead letters again in place; what fails stays",
        Access.ADMINISTRATOR,
        {HTTPStatus.OK: ResubmitAnswer, HTTPStatus.NOT_FOUND: ErrorAnswer},
        path_parameters=SubscriptionPath,
        body=ResubmitRequest,
    ),
    Operation(
        "discard_dead_letters",
        "POST",
        "/v1/dead_letters/{subscription}/discard",
        DEAD_LETTERS,
        "Drop up to 100 dead letters for good",
        Access.ADMINISTRATOR,
        {HTTPStatus.OK: DiscardAnswer, HTTPStatus.NOT_FOUND: ErrorAnswer},
        path_parameters=SubscriptionPath,
        body=DiscardRequest,
    ),
    Operation(
        "list_extractors",
        "GET",
        "/v1/extractors",
        EXTRACTORS,
        "Every registered extractor and how it stands",
        Access.READ,
        {HTTPStatus.OK: ExtractorsAnswer},
    ),
    Operation(
        "pause_extractor",
        "POST",
        "/v1/extractors/{extractorId}/pause",
        EXTRACTORS,
        "Stop calling an extractor; its jobs wait",
        Access.ADMINISTRATOR,
        {HTTPStatus.OK: PausedAnswer, HTTPStatus.NOT_FOUND: ErrorAnswer},
        path_parameters=ExtractorPath,
        body=PauseRequest,
    ),
    Operation(
        "resume_extractor",
        "POST",
        "/v1/extractors/{extractorId}/resume",
        EXTRACTORS,
        "Call an extractor again",
        Access.ADMINISTRATOR,
        {HTTPStatus.OK: PausedAnswer, HTTPStatus.NOT_FOUND: ErrorAnswer},
        path_parameters=ExtractorPath,
        body=PauseRequest,
    ),
    Operation(
        "report_job_status",
        "POST",
        "/v1/jobs/{jobId}/status",
        SERVICES,
        "An extractor reports on its job, with the call-back token of that job",
        CALLBACK_TOKEN,
        {
            HTTPStatus.ACCEPTED: CallbackAnswer,
            HTTPStatus.NOT_FOUND: ErrorAnswer,
            HTTPStatus.CONFLICT: ErrorAnswer,
        },
        path_parameters=JobPath,
        body=CallbackRequest,
    ),
    Operation(
        "get_extractors",
        "GET",
        "/registration/{clientAppId}/extractors",
        SERVICES,
        "The active extractors of a client application",
        "REGISTRATION_READ",
        {HTTPStatus.OK: list[RegisteredExtractor]},
        path_parameters=ClientPath,
    ),
    Operation(
        "health_live",
        "GET",
        "/health/live",
        HEALTH,
        "Whether the app runs",
        None,
        {HTTPStatus.OK: LiveAnswer},
    ),
    Operation(
        "health_ready",
        "GET",
        "/health/ready",
        HEALTH,
        "Whether the parts that it needs are within reach",
        None,
        {HTTPStatus.OK: ReadyAnswer, HTTPStatus.SERVICE_UNAVAILABLE: ReadyAnswer},
    ),
    Operation(
        "get_openapi",
        "GET",
        "/openapi.json",
        DESCRIPTION,
        "This document",
        None,
        {HTTPStatus.OK: dict[str, Any]},
    ),
    Operation(
        "get_docs",
        "GET",
        "/docs",
        DESCRIPTION,
        "This document as a page",
        None,
        {HTTPStatus.OK: str},
        media_type="text/html",
    ),
)
