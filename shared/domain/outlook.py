"""What happens next to a job, and when, in words for operators."""

from dataclasses import dataclass
from datetime import datetime

from shared.domain.extractor_health import ExtractorHealth
from shared.domain.jobs import Call, Job, JobStatus

PAUSED = "the extractor is paused; whether it may be called is looked at again"
BROKEN = "the extractor fails steadily and is left alone; then one job tries it"


@dataclass(frozen=True)
class Outlook:
    """What happens next; `at` when it is due, None when nothing is awaited."""

    what: str
    at: datetime | None = None


def outlook(job: Job, call: Call | None, health: ExtractorHealth | None, now: datetime) -> Outlook:
    """The next thing that happens to a job by itself; `health` is its extractor's."""
    if not job.active or call is None:
        return Outlook(f"nothing: the job is {job.status.lower()}")
    if job.status is JobStatus.STARTED:
        return Outlook("the extractor reports the end, or the job fails", call.due_at)
    if call.called_at:
        return Outlook("the extractor reports the start, or the job fails", call.due_at)
    if call.lease_until and call.lease_until > now:
        return Outlook("the extractor is being called", call.lease_until)
    if health and health.paused_at:
        return Outlook(PAUSED, call.due_at)
    if health and health.open_until and health.open_until > now:
        return Outlook(BROKEN, call.due_at)
    if call.tries:
        return Outlook(f"the extractor is called again, for the time {call.tries + 1}", call.due_at)
    return Outlook("the extractor is called", call.due_at)
