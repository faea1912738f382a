"""A file was accepted."""

import json
from datetime import timedelta
from uuid import uuid4

import pytest

from shared.contracts.file_accepted import FileAccepted
from shared.domain.errors import NotYetError, PermanentError, TransientError
from shared.domain.jobs import Extractor, JobStatus, first_job_id
from tests.database import add_extractor
from tests.unit.services.world import TRACE, World


def test_an_accepted_file_gets_a_queued_job_that_is_announced(world: World) -> None:
    job = world.accepted()
    assert world.row(job).status is JobStatus.QUEUED
    assert job.job_id == first_job_id(world.file.file_id, world.file.document_hash)
    assert (job.attempt, job.extractor_id) == (1, 101)
    (message,) = world.sent
    assert message.message_id == f"{job.job_id}:Queued"
    data = json.loads(message.body)["data"]
    assert (data["FileID"], data["ExtractorID"]) == (str(world.file.file_id), 101)
    assert message.properties["traceparent"] == TRACE
    assert world.events() == [("accepted", "extractor-service", {})]


def test_the_active_extractor_with_the_lowest_id_is_taken(world: World) -> None:
    add_extractor(world.sql, 100, is_active=False)
    add_extractor(world.sql, 99, client_application_id="another")
    world.registered = [Extractor(300, "https://c"), Extractor(101, "https://a")]
    assert world.accepted().extractor_id == 101


def test_a_repeat_gives_the_same_job_and_announces_nothing_twice(world: World) -> None:
    first = world.accepted()
    world.passes(minutes=5)
    assert world.accepted() == first
    assert len(world.jobs()) == 1
    assert world.announced() == ["JobQueued"]


def test_a_repeat_sends_what_the_first_time_could_not(world: World) -> None:
    world.down.add("service bus")
    with pytest.raises(TransientError):
        world.accepted()
    world.down.clear()
    world.accepted()
    assert world.announced() == ["JobQueued"]


def test_another_message_for_the_same_content_makes_no_second_job(world: World) -> None:
    job = world.accepted()
    world.reported(job, "JobSucceeded")
    world.passes(hours=1)
    assert world.accepted().job_id == job.job_id
    assert len(world.jobs()) == 1


def test_a_file_without_its_row_may_be_on_its_way(world: World) -> None:
    unknown = FileAccepted(FileID=uuid4(), Timestamp=world.now)
    with pytest.raises(NotYetError, match="no row"):
        world.accept(unknown, world.now, TRACE)


def test_a_file_without_an_active_extractor_fails_from_the_start_and_says_so(world: World) -> None:
    world.registered = []
    job = world.accepted()
    row = world.row(job)
    assert (row.status, row.extractor_id) == (JobStatus.FAILED, None)
    assert row.completed_at == world.now
    assert "client-a" in (row.status_message or "")
    assert world.announced() == ["JobQueued", "JobFailed"]
    failed = world.sent[1]
    assert failed.properties["willRetry"] is False
    assert json.loads(failed.body)["data"]["ErrorMessage"] == row.status_message
    assert json.loads(world.sent[0].body)["data"]["ExtractorID"] is None


@pytest.mark.parametrize("part", ["database", "registration"])
def test_nothing_is_written_while_a_part_is_down(world: World, part: str) -> None:
    world.down.add(part)
    with pytest.raises(TransientError, match=part):
        world.accepted()
    assert world.jobs() == []


def test_a_message_older_than_finished_work_is_kept_is_refused(world: World) -> None:
    with pytest.raises(PermanentError) as refused:
        world.accepted(world.now - timedelta(days=30, seconds=1))
    assert refused.value.code == "message_too_old"
    assert world.accepted(world.now - timedelta(days=29)).active
