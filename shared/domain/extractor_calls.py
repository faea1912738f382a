"""How an extractor's answer is read, and when to call it again."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from shared.domain.deadlines import TimeLimits
from shared.domain.jobs import Call, Job, cut_message

PASSING_STATUSES = frozenset({408, 425, 429})
TAKEN_ALREADY = 409
FIRST_PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(minutes=5)
LONGEST_RETRY_AFTER = timedelta(hours=1)


class Reading(Enum):
    """What an extractor's answer means for the job."""

    TAKEN = "taken"
    PASSING = "passing failure"
    REFUSED = "refused"


@dataclass(frozen=True)
class Callback:
    """Where an extractor may report on its job over HTTPS, and the token that lets it."""

    url: str
    token: str


@dataclass(frozen=True)
class Answer:
    """What came of one call. `text` is the answer's body when taken, else the failure in words."""

    reading: Reading
    text: str | None
    status: int | None = None
    retry_after: timedelta | None = None


def read_status(status: int) -> Reading:
    """2xx and 409 (it has the job already) are taken, what may pass is tried again."""
    if 200 <= status < 300 or status == TAKEN_ALREADY:
        return Reading.TAKEN
    if status in PASSING_STATUSES or status >= 500:
        return Reading.PASSING
    return Reading.REFUSED


def may_go_better(job: Job, call: Call | None, limits: TimeLimits) -> bool:
    """Whether another extraction may go better than a failed one, as far as its rows tell.

    Not without an extractor, nor when the last call was refused: that failed the job with the
    call's error, sooner than trying is given up.
    """
    if job.extractor_id is None or call is None:
        return False
    if call.called_at or not call.first_tried_at or not job.completed_at or not call.last_error:
        return True
    same = cut_message(call.last_error) == job.status_message
    return not same or job.completed_at - call.first_tried_at >= limits.call


def next_try(tries: int, retry_after: timedelta | None, now: datetime) -> datetime:
    """When to call again after `tries` failed calls: doubling pauses, not before `Retry-After`.

    A `Retry-After` is cut to an hour, so that a mistaken extractor cannot park a job.
    """
    doubled: timedelta = FIRST_PAUSE * 2 ** min(max(tries - 1, 0), 10)
    pause = min(doubled, LONGEST_PAUSE)
    asked = min(retry_after or timedelta(0), LONGEST_RETRY_AFTER)
    return now + max(pause, asked)
