"""After the storm: nothing breaks any more, and what is left must come to its end."""

from datetime import timedelta
from enum import StrEnum
from uuid import UUID

from shared.contracts.incoming import Source
from shared.contracts.job_status import message_id
from shared.domain.jobs import JobStatus
from shared.domain.retries import has_successor
from tests.unit.functions.any_order.checks import all_attempts, all_jobs, unsent
from tests.unit.functions.any_order.service import Service

PASS = timedelta(minutes=5)
"""Between two passes of reconciliation; those at which nothing is due are skipped."""
MOST_PASSES = 100
"""A first extraction and three retries that an extractor is silent about take 16 minutes each."""


class Extractor(StrEnum):
    """What the extractor does with what it takes."""

    SUCCEEDS = "succeeds"
    FAILS = "fails"
    SILENT = "is silent"


FOR_GOOD = {
    (Source.JOB_STATUS, "job_unknown"),
    (Source.EXTRACTION_RESULT, "attempt_unknown"),
    (Source.ACCEPTED_FILE, "message_too_old"),
    (Source.EXTRACTION_RETRY, "message_too_old"),
}
"""What stays a dead letter: reports of jobs that never were, and what is about work long gone."""
ENDS = {Extractor.SUCCEEDS: JobStatus.SUCCEEDED, Extractor.FAILS: JobStatus.FAILED}


def calm_down(service: Service, extractor: Extractor) -> None:
    """Let everything come to its end, then see that there is one of each file."""
    service.use_extractor()
    for _ in range(MOST_PASSES):
        _settle(service, extractor)
        service.reconcile()
        service.resubmit_dead_letters()
        service.check()
        if not _left(service):
            break
        _wait(service)
    assert not _left(service)
    _check_ends(service)


def _settle(service: Service, extractor: Extractor) -> None:
    """Until nothing is due at this time; a message that fails is tried again in the next pass."""
    tried = set()
    while True:
        messages = [each for each in service.bus.due() if each not in tried]
        tried |= {each for each in messages if not service.deliver(each)}
        orchestrations = [UUID(each) for each in service.hub.due()]
        for job_id in orchestrations:
            service.work(job_id)
            _report(service, job_id, extractor)
        if not messages and not orchestrations:
            return


def _wait(service: Service) -> None:
    now = service.world.now
    times = [*[each.enqueued_at for each in service.bus.waiting], service.hub.next_due() or now]
    service.world.now = max(now + PASS, min(times))


def _report(service: Service, job_id: UUID, extractor: Extractor) -> None:
    call = service.world.sql.run(lambda tx: tx.calls.get(job_id))
    if extractor in ENDS and call and call.called_at == service.world.now:
        service.bus.report(job_id, JobStatus.STARTED)
        service.bus.report(job_id, ENDS[extractor])


def _left(service: Service) -> list[object]:
    """What is still to be done by someone."""
    attempts = all_attempts(service.world.sql)
    known = {(request.request_id, request.retry_attempt) for request, _ in attempts}
    return [
        *service.bus.waiting,
        *service.hub.live(),
        *[job for job in all_jobs(service.world.sql) if job.active],
        *["unsent"] * unsent(service.world.sql),
        *[request for request, _ in attempts if request.closed_at is None],
        *[
            request
            for request, files in attempts
            if has_successor(request, files)
            and (request.request_id, request.retry_attempt + 1) not in known
        ],
    ]


def _check_ends(service: Service) -> None:
    """Every accepted file has its job, and every end and result was announced."""
    jobs = all_jobs(service.world.sql)
    dead = service.dead_letters()
    assert set(dead) <= FOR_GOOD
    if (Source.ACCEPTED_FILE, "message_too_old") not in dead:
        assert service.accepted <= {job.file_id for job in jobs}
    for job in jobs:
        assert message_id(job.job_id, job.status) in service.bus.heard
    for request, _ in all_attempts(service.world.sql):
        assert f"{request.request_id}:{request.retry_attempt}" in service.bus.heard
