"""HTTP: jobs, the timelines of files, and cancelling a job."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import azure.functions as func

from shared.auth import Access
from shared.contracts.http_jobs import (
    AskedByAnswer,
    CallAnswer,
    CancelledAnswer,
    CancelRequest,
    EventAnswer,
    FilePathById,
    JobAnswer,
    JobPath,
    JobsAnswer,
    JobsQuery,
    JobSummary,
    NextAnswer,
    TimelineAnswer,
    write_place,
)
from shared.domain.events import FileEvent
from shared.domain.jobs import Call, Job
from shared.domain.retries import RetryFile
from shared.functions.http import answer, endpoint, read_body
from shared.services.cancel_job import Cancellation
from shared.services.job_views import JobDetail
from shared.wiring import app

bp = func.Blueprint()


@bp.function_name("list_jobs")
@bp.route("v1/jobs", methods=["GET"])
@endpoint
def list_jobs(req: func.HttpRequest) -> func.HttpResponse:
    """200 with a page of jobs, newest first, and the counts of all that fit the filters."""
    app().authorize(req.headers.get("Authorization"), Access.READ)
    query = JobsQuery.read(req.params)
    page = app().job_views.search(query.filter, query.after, query.limit)
    document = JobsAnswer(
        jobs=[JobSummary(**_job(job)) for job in page.jobs],
        counts=dict(page.counts),
        nextCursor=write_place(page.next) if page.next else None,
    )
    return answer(document)


@bp.function_name("get_job")
@bp.route("v1/jobs/{jobId}", methods=["GET"])
@endpoint
def get_job(req: func.HttpRequest) -> func.HttpResponse:
    """200 with the job's row, history, attempts, requests, and what happens next; 404."""
    app().authorize(req.headers.get("Authorization"), Access.READ)
    return answer(_detail(app().job_views.find(JobPath.read(req.route_params).jobId)))


@bp.function_name("get_timeline")
@bp.route("v1/files/{fileId}/timeline", methods=["GET"])
@endpoint
def get_timeline(req: func.HttpRequest) -> func.HttpResponse:
    """200 with everything known of a file, in order of time; 404."""
    app().authorize(req.headers.get("Authorization"), Access.READ)
    file_id = FilePathById.read(req.route_params).fileId
    events = app().job_views.timeline(file_id)
    return answer(TimelineAnswer(fileId=str(file_id), events=_events(events)))


@bp.function_name("cancel_job")
@bp.route("v1/jobs/{jobId}/cancel", methods=["POST"])
@endpoint
def cancel_job(req: func.HttpRequest) -> func.HttpResponse:
    """202 with the job cancelled; 404 unknown, 409 naming the end of an ended job."""
    caller = app().authorize(req.headers.get("Authorization"), Access.WRITE)
    job_id = JobPath.read(req.route_params).jobId
    body = read_body(req, CancelRequest)
    job = app().cancel_job(Cancellation(job_id, body.reason, caller.initiated_by))
    app().try_to_send_outbox(job_id)
    return answer(CancelledAnswer(jobId=str(job_id), status=job.status), HTTPStatus.ACCEPTED)


def _job(job: Job) -> dict[str, Any]:
    return {
        "jobId": str(job.job_id),
        "fileId": str(job.file_id),
        "extractorId": job.extractor_id,
        "status": job.status,
        "message": job.status_message,
        "attempt": job.attempt,
        "requestId": job.request_id,
        "createdAt": job.created_at,
        "updatedAt": job.updated_at,
        "completedAt": job.completed_at,
    }


def _detail(detail: JobDetail) -> JobAnswer:
    return JobAnswer(
        **_job(detail.job),
        extractorResponse=detail.job.extractor_response,
        call=_call(detail.call),
        next=NextAnswer(what=detail.next.what, at=detail.next.at),
        history=_events(detail.history),
        attempts=[JobSummary(**_job(job)) for job in detail.attempts],
        requests=[_asked_by(file) for file in detail.asked_by],
    )


def _call(call: Call | None) -> CallAnswer | None:
    if call is None:
        return None
    return CallAnswer(
        tries=call.tries,
        firstTriedAt=call.first_tried_at,
        takenAt=call.called_at,
        lastError=call.last_error,
    )


def _asked_by(file: RetryFile) -> AskedByAnswer:
    return AskedByAnswer(
        requestId=file.request_id,
        retryAttempt=file.retry_attempt,
        fileId=file.file_ref,
        outcome=file.outcome,
    )


def _events(events: Sequence[FileEvent]) -> list[EventAnswer]:
    return [
        EventAnswer(
            at=event.at,
            kind=event.kind.value,
            source=event.source,
            jobId=str(event.job_id) if event.job_id else None,
            requestId=event.request_id,
            actor=event.actor,
            detail=event.detail,
        )
        for event in events
    ]
