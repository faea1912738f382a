"""One job, shown from its submission to its end."""

import json

import pytest

from local.demo.follow import JobStuckError, Step, recorded_steps, show_job
from shared.domain.jobs import JobStatus
from tests.unit.local.demo.conftest import NOW, Laptop


def test_the_steps_of_a_job_are_read_from_the_database_to_its_end(laptop: Laptop) -> None:
    stored = laptop.file()
    laptop.job(stored)
    laptop.change(stored, JobStatus.STARTED, seconds=1)
    report = json.dumps({"ResultSummary": {"pages": 3}})
    laptop.change(stored, JobStatus.SUCCEEDED, seconds=2.5, response=report)

    steps = list(recorded_steps(laptop.database, stored))

    assert [(step.status, (step.at - NOW).total_seconds()) for step in steps] == [
        ("Queued", 0),
        ("Started", 1),
        ("Succeeded", 2.5),
    ]
    assert steps[-1].summary == {"pages": 3}


def test_a_report_that_came_too_late_is_no_step(laptop: Laptop) -> None:
    stored = laptop.file()
    laptop.job(stored)
    laptop.change(stored, JobStatus.FAILED, seconds=1, message="The file is empty")
    assert not laptop.change(stored, JobStatus.SUCCEEDED, seconds=2)

    steps = list(recorded_steps(laptop.database, stored))

    assert [step.status for step in steps] == ["Queued", "Failed"]
    assert steps[-1].reason == "The file is empty"


def test_a_job_that_does_not_move_is_said_to_be_stuck_where_it_stands(
    laptop: Laptop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local.demo.follow.PATIENCE_SECONDS", 0.1)
    stored = laptop.file()
    laptop.job(stored)

    with pytest.raises(JobStuckError, match="the job is still Queued after 0 s"):
        list(recorded_steps(laptop.database, stored))


def test_a_file_that_no_job_is_made_for_is_said_so(
    laptop: Laptop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local.demo.follow.FIRST_PATIENCE_SECONDS", 0.1)

    with pytest.raises(JobStuckError, match="no job was made after 0 s"):
        list(recorded_steps(laptop.database, laptop.file()))


def test_a_success_is_shown_with_its_summary(capsys: pytest.CaptureFixture[str]) -> None:
    summary = {"mediaType": "application/pdf", "pages": 3, "found": {"dates": 4, "ibans": 1}}
    steps = [Step(JobStatus.QUEUED, NOW), Step(JobStatus.SUCCEEDED, NOW, summary=summary)]

    assert show_job(steps, since=NOW)

    queued, succeeded, *rest = capsys.readouterr().out.splitlines()
    assert queued.endswith("  Queued       0.00 s")
    assert succeeded.endswith("  Succeeded    0.00 s")
    assert rest == [
        "",
        "Result",
        "  media type  application/pdf",
        "  pages       3",
        "  found",
        "    dates  4",
        "    ibans  1",
    ]


def test_a_failure_is_shown_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    steps = [Step(JobStatus.FAILED, NOW, reason="The file is protected by a password")]

    assert not show_job(steps, since=NOW)

    assert capsys.readouterr().out.splitlines()[-1] == (
        "The job did not succeed: The file is protected by a password"
    )
