"""What the benchmark of jobs counts, and when it refuses to give figures."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from benchmarks.stack import Ends, count_activities
from local.demo.status_service import Announcement
from shared.contracts.job_status import (
    JobFailed,
    JobStarted,
    JobStatusMessage,
    JobSucceeded,
    StatusReport,
)

NOW = datetime(2024, 1, 31, tzinfo=UTC)


def announced(message: JobStatusMessage) -> Announcement:
    return Announcement(StatusReport(message, "{}"), "id", type(message).__name__, {}, NOW)


@pytest.fixture
def ends() -> Ends:
    return Ends()


def test_an_activity_is_one_event_of_the_history_however_it_went() -> None:
    kinds = ["ExecutionStarted", "TaskCompleted", "TimerCreated", "TaskFailed", "TaskScheduled"]

    assert count_activities([{"EventType": kind} for kind in kinds]) == 3


def test_a_round_is_over_when_every_job_has_succeeded(ends: Ends) -> None:
    for _ in range(2):
        job_id = uuid4()
        ends.hear(announced(JobStarted(JobID=job_id, Timestamp=NOW)))
        ends.hear(announced(JobSucceeded(JobID=job_id, Timestamp=NOW)))

    ends.wait_for(2, seconds=0)


def test_a_round_with_a_failed_job_has_no_figures(ends: Ends) -> None:
    ends.hear(announced(JobSucceeded(JobID=uuid4(), Timestamp=NOW)))
    ends.hear(announced(JobFailed(JobID=uuid4(), Timestamp=NOW)))

    with pytest.raises(RuntimeError, match="not all of 2 jobs succeeded"):
        ends.wait_for(2, seconds=0)


def test_a_round_that_does_not_end_has_no_figures(ends: Ends) -> None:
    ends.hear(announced(JobSucceeded(JobID=uuid4(), Timestamp=NOW)))

    with pytest.raises(RuntimeError, match="came to an end"):
        ends.wait_for(2, seconds=0)


def test_each_round_counts_its_own_ends(ends: Ends) -> None:
    ends.hear(announced(JobSucceeded(JobID=uuid4(), Timestamp=NOW)))
    ends.forget()

    with pytest.raises(RuntimeError, match="came to an end"):
        ends.wait_for(1, seconds=0)
