"""HTTP: what became of restart and retry requests."""

from typing import Any

import azure.functions as func

from shared.auth import Access
from shared.contracts.http import RequestPath, RequestsQuery
from shared.contracts.http_answers import (
    AttemptAnswer,
    FileAnswer,
    RequestAnswer,
    RequestsAnswer,
    RequestSummary,
)
from shared.domain.errors import NotFoundError
from shared.functions.http import answer, endpoint
from shared.services.retry_requests import AttemptView, RequestView
from shared.wiring import app

bp = func.Blueprint()

ARRIVES_WITHIN_SECONDS = 5


@bp.function_name("list_requests")
@bp.route("v1/requests", methods=["GET"])
@endpoint
def list_requests(req: func.HttpRequest) -> func.HttpResponse:
    """200 with the newest requests first, at most 100, by whom, since and state."""
    app().authorize(req.headers.get("Authorization"), Access.READ)
    query = RequestsQuery.read(req.params)
    views = app().retry_requests.search(query.initiatedBy, query.since, query.state)
    return answer(RequestsAnswer(requests=[RequestSummary(**_summary(view)) for view in views]))


@bp.function_name("get_request")
@bp.route("v1/requests/{requestId}", methods=["GET"])
@endpoint
def get_request(req: func.HttpRequest) -> func.HttpResponse:
    """200 with every attempt and file; 404 with Retry-After while it has not arrived."""
    app().authorize(req.headers.get("Authorization"), Access.READ)
    request_id = RequestPath.read(req.route_params).requestId
    view = app().retry_requests.find(request_id)
    if view is None:
        raise NotFoundError(
            "No request with this id has arrived; one that was just made takes a moment",
            retry_after=ARRIVES_WITHIN_SECONDS,
        )
    attempts = [_attempt(attempt) for attempt in view.attempts]
    return answer(RequestAnswer(**_summary(view), attempts=attempts))


def _summary(view: RequestView) -> dict[str, Any]:
    first = view.first
    return {
        "requestId": first.request_id,
        "state": view.state,
        "reason": first.reason,
        "initiatedBy": first.initiated_by,
        "clientApplicationId": first.client_application_id,
        "requestedAt": first.asked_at,
        "maxRetries": first.max_retries,
        "nextAttemptAt": view.next_attempt_at,
    }


def _attempt(attempt: AttemptView) -> AttemptAnswer:
    return AttemptAnswer(
        retryAttempt=attempt.request.retry_attempt,
        startedAt=attempt.request.created_at,
        endedAt=attempt.request.closed_at,
        files=[
            FileAnswer(
                fileId=file.file_ref,
                outcome=file.outcome,
                error=file.error,
                jobId=str(file.job_id) if file.job_id else None,
            )
            for file in attempt.files
        ],
    )
