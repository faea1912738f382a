"""What the queries answer: the rows from which an alert, or a number of the workbook, is made."""

from itertools import count
from typing import Any

import pytest

from shared.domain.extractor_calls import Reading
from shared.domain.jobs import JobStatus
from tests.contract.infra.monitoring.workspace import Workspace

pytestmark = pytest.mark.xdist_group("monitoring")  # what is made once is made in one process

numbers = count()


def ended(workspace: Workspace, status: JobStatus, times: int = 1, **facts: Any) -> None:
    for _ in range(times):
        more = {"jobId": f"j{next(numbers)}", "extractorId": 7, "durationMs": 1000} | facts
        workspace.line("Job status received", outcome=status, **more)


# Jobs


def test_the_share_of_failed_jobs_is_told_by_extractor(workspace: Workspace) -> None:
    ended(workspace, JobStatus.SUCCEEDED, 9)
    ended(workspace, JobStatus.FAILED, 3)
    ended(workspace, JobStatus.SUCCEEDED, 10, extractorId=8)
    first, second = workspace.ask("jobs-failing")
    assert (first["extractorId"], first["ended"], first["failedPercent"]) == ("7", 12, 25.0)
    assert (second["extractorId"], second["failedPercent"]) == ("8", 0.0)


def test_a_repeated_report_counts_once(workspace: Workspace) -> None:
    ended(workspace, JobStatus.SUCCEEDED, 9)
    ended(workspace, JobStatus.FAILED, 5, jobId="the same")
    (row,) = workspace.ask("jobs-failing")
    assert (row["ended"], row["failed"]) == (10, 1)


def test_a_few_failed_jobs_make_no_share(workspace: Workspace) -> None:
    ended(workspace, JobStatus.FAILED, 9)
    assert workspace.ask("jobs-failing") == []


def test_jobs_without_an_extractor_are_told_too(workspace: Workspace) -> None:
    for number in range(10):
        workspace.line("Job status received", jobId=f"n{number}", outcome=JobStatus.FAILED)
    (row,) = workspace.ask("jobs-failing")
    assert (row["extractorId"], row["failedPercent"]) == ("none", 100.0)


def test_a_job_has_the_last_state_that_was_heard(workspace: Workspace) -> None:
    workspace.line("File accepted", 0, jobId="a", outcome=JobStatus.QUEUED)
    workspace.line("File accepted", 0, jobId="b", outcome=JobStatus.QUEUED)
    workspace.line("Job status received", 1, jobId="a", outcome=JobStatus.STARTED)
    workspace.line("Job status received", 2, jobId="a", outcome=JobStatus.SUCCEEDED)
    states = {row["state"]: row["jobs"] for row in workspace.ask("jobs-by-state")}
    assert states == {"Succeeded": 1, "Queued": 1}


def test_durations_are_told_in_seconds_by_state(workspace: Workspace) -> None:
    ended(workspace, JobStatus.STARTED, durationMs=2_000)
    ended(workspace, JobStatus.SUCCEEDED, durationMs=10_000)
    rows = {row["state"]: row["p50"] for row in workspace.ask("job-durations")}
    assert rows == {"Started": 2.0, "Succeeded": 10.0}


def test_jobs_that_do_not_move_are_told_by_every_pass(workspace: Workspace) -> None:
    workspace.line("Reconciled", 0, jobsQueued=3, jobsStarted=1, jobsStuck=2, oldestMinutes=50)
    workspace.line("Reconciled", 5, jobsQueued=0, jobsStarted=0, jobsStuck=0)
    first, second = workspace.ask("jobs-unmoved")
    assert (first["queued"], first["stuck"], first["oldestMinutes"]) == (3, 2, 50)
    assert (second["stuck"], second["oldestMinutes"]) == (0, 0)


def test_a_silent_app_is_a_count_of_nothing(workspace: Workspace) -> None:
    assert workspace.ask("reconciliation-passes") == [{"passes": 0}]
    workspace.line("Reconciled", outcome="nothing to mend")
    assert workspace.ask("reconciliation-passes") == [{"passes": 1}]


def test_what_was_mended_is_added_up(workspace: Workspace) -> None:
    workspace.line("Reconciled", outboxesSent=2, orchestrationsStarted=1, partsOutOfReach=5)
    workspace.line("Reconciled", attemptsClosed=1, retryFilesDecided=1, deadLettersHandled=4)
    (row,) = workspace.ask("reconciliation-mended")
    kinds = ("messages", "orchestrations", "retries", "deadLetters", "mended", "partsOutOfReach")
    assert [row[kind] for kind in kinds] == [2, 1, 2, 4, 9, 5]


# Extractors


def test_the_share_of_failed_calls_is_told_by_extractor(workspace: Workspace) -> None:
    for reading, times in ((Reading.TAKEN, 6), (Reading.PASSING, 3), (Reading.REFUSED, 3)):
        for _ in range(times):
            workspace.line("Extractor called", extractorId=7, outcome=reading.value)
    (row,) = workspace.ask("calls-failing")
    assert (row["extractorId"], row["calls"], row["failedPercent"]) == ("7", 12, 50.0)


def test_an_extractor_is_told_with_its_jobs_and_its_calls(workspace: Workspace) -> None:
    ended(workspace, JobStatus.SUCCEEDED, 3)
    ended(workspace, JobStatus.CANCELLED)
    for reading in (Reading.TAKEN, Reading.PASSING, Reading.REFUSED):
        workspace.line("Extractor called", extractorId=7, outcome=reading.value, durationMs=30)
    (row,) = workspace.ask("extractors")
    assert (row["jobs"], row["succeededPercent"], row["failed"]) == (4, 75.0, 0)
    calls = ("calls", "passingFailures", "refusals", "averageCallMs")
    assert [row[name] for name in calls] == [3, 1, 1, 30.0]


# Functions and endpoints


def test_failures_are_counted_by_function(workspace: Workspace) -> None:
    workspace.request("on_job_status", success=False)
    workspace.request("on_job_status", success=True)
    workspace.request("health_ready", code=503)
    assert workspace.ask("function-failures") == [{"functionName": "on_job_status", "failures": 1}]


def test_5xx_of_endpoints_without_a_rule_of_their_own_are_counted(workspace: Workspace) -> None:
    for name in ("list_jobs", "restart_extraction", "health_ready"):
        workspace.request(name, code=503)
    workspace.request("list_jobs", code=404)
    workspace.request("on_job_status", code=0)
    assert workspace.ask("http-errors") == [{"functionName": "list_jobs", "errors": 1}]


def test_restarts_that_the_caller_got_wrong_are_no_errors(workspace: Workspace) -> None:
    for code in (200, 400, 404, 500, 503):
        workspace.request("restart_extraction", code)
    assert workspace.ask("restart-errors") == [{"calls": 5, "errors": 2}]


def test_the_latency_of_restarts_needs_five_of_them(workspace: Workspace) -> None:
    for _ in range(4):
        workspace.request("restart_extraction", ms=900)
    assert workspace.ask("restart-latency") == []
    workspace.request("restart_extraction", ms=400)
    assert workspace.ask("restart-latency") == [{"calls": 5, "averageMs": 800.0}]


def test_probes_that_found_the_app_not_ready_are_counted(workspace: Workspace) -> None:
    workspace.request("health_ready", 200)
    workspace.request("health_ready", 503)
    assert workspace.ask("health-not-ready") == [{"probes": 2, "notReady": 1}]


def test_a_part_out_of_reach_is_counted_for_requests_and_messages(workspace: Workspace) -> None:
    workspace.line("Part out of reach", part="database")
    workspace.line("Message held", part="database", reason="database: gone")
    workspace.line("Message held", reason="Job 1 is not known")
    assert workspace.ask("parts-out-of-reach") == [{"part": "database", "times": 2}]


# What was promised


def promises(workspace: Workspace) -> dict[str, tuple[float | None, str]]:
    return {
        row["metric"]: (row["measured"], row["kept"]) for row in workspace.ask("success-metrics")
    }


def test_without_data_no_promise_is_called_kept(workspace: Workspace) -> None:
    kept = promises(workspace)
    assert len(kept) == 9
    assert {each for _, each in kept.values()} == {"no data"}


def test_a_good_day_keeps_every_promise(workspace: Workspace) -> None:
    workspace.line("Message sent", topic="job-status", durationMs=20)
    workspace.request("on_job_status", 0, ms=300)
    workspace.request("restart_extraction", 200, ms=120)
    workspace.request("restart_extraction", 400, ms=9_000)
    asked = {"requestId": "r", "retryAttempt": 1, "reason": "extraction_failed"}
    workspace.line("Processing extraction retry request", 1, waitedMs=60_000, **asked)
    workspace.line("Extraction retry completed", 4, requestId="r", outcome="final")
    kept = promises(workspace)
    assert {each for _, each in kept.values()} == {"yes"}
    assert kept["Answering a restart, on average"][0] == 120.0
    assert kept["From asking for a retry to its end, on average"][0] == 4.0


def test_a_bad_day_breaks_every_promise(workspace: Workspace) -> None:
    workspace.line("Message sent", topic="job-status", durationMs=200)
    workspace.line("Message not sent", topic="job-status", durationMs=200)
    workspace.line("Message refused", code="contract_broken", reason="FileID")
    workspace.request("on_job_status", 0, ms=6_000)
    workspace.request("restart_extraction", 200, ms=700)
    workspace.request("restart_extraction", 503, ms=700)
    asked = {"requestId": "r", "retryAttempt": 1, "reason": "manual_restart"}
    workspace.line("Processing extraction retry request", 1, waitedMs=600_000, **asked)
    workspace.line("Extraction retry completed", 3, requestId="r", outcome="final")
    assert promises(workspace) == {
        "Messages sent": (50.0, "no"),
        "Sending a message, on average": (200.0, "no"),
        "Handling a message, on average": (6.0, "no"),
        "Messages refused for good": (50.0, "no"),
        "Answering a restart, on average": (700.0, "no"),
        "Valid restarts that succeed": (50.0, "no"),
        "From asking for a retry to its jobs, on average": (10.0, "no"),
        "From asking for a retry to its end, on average": (12.0, "no"),
        "Retries that nobody had to ask for": (0.0, "no"),
    }
