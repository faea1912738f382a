"""Stop between any two steps, then repeat: one job, one call taken, one id for each status."""

from collections import Counter
from pathlib import Path

import pytest

from shared.domain.jobs import Job, JobStatus
from tests.unit.services.crashing import crash_at_every_step
from tests.unit.services.world import REFUSED, World


def only_job(world: World) -> Job:
    (job,) = world.jobs()
    return job


def test_accepting_a_file(tmp_path: Path) -> None:
    worlds = crash_at_every_step(tmp_path, lambda world: None, lambda world: world.accepted())
    assert len(worlds) >= 8
    for world in worlds:
        assert only_job(world).status is JobStatus.QUEUED
        assert set(world.announced()) == {"JobQueued"}
        assert len({message.message_id for message in world.sent}) == 1


def test_calling_the_extractor(tmp_path: Path) -> None:
    worlds = crash_at_every_step(
        tmp_path, lambda world: world.accepted(), lambda world: world.calls(only_job(world))
    )
    assert len(worlds) >= 10
    posts = Counter(len(world.called) for world in worlds)
    assert set(posts) == {1, 2}
    for world in worlds:
        assert world.calls(only_job(world)).kind == "taken"
        assert {job_id for _, _, job_id, _ in world.called} == {only_job(world).job_id}
        assert world.call_row(only_job(world)).called_at is not None


def test_a_second_post_happens_only_when_the_first_was_not_recorded(tmp_path: Path) -> None:
    worlds = crash_at_every_step(
        tmp_path, lambda world: world.accepted(), lambda world: world.calls(only_job(world))
    )
    twice = [world for world in worlds if len(world.called) == 2]
    assert len(twice) == 2, "after the post, and before its record is committed"


def test_being_refused(tmp_path: Path) -> None:
    def refuse(world: World) -> None:
        world.accepted()
        world.answers = [REFUSED, REFUSED]

    worlds = crash_at_every_step(tmp_path, refuse, lambda world: world.calls(only_job(world)))
    for world in worlds:
        assert only_job(world).status is JobStatus.FAILED
        failed = [message for message in world.sent if message.subject == "JobFailed"]
        assert failed
        assert len({message.message_id for message in failed}) == 1


@pytest.mark.parametrize("type_", ["JobStarted", "JobSucceeded", "JobFailed"])
def test_recording_a_report(tmp_path: Path, type_: str) -> None:
    def called(world: World) -> None:
        world.calls(world.accepted())

    worlds = crash_at_every_step(
        tmp_path, called, lambda world: world.reported(only_job(world), type_)
    )
    for world in worlds:
        assert only_job(world).status == type_.removeprefix("Job")
        changes = [event for event in world.events() if event[0] == "status"]
        assert len(changes) == 1


def test_expiring_a_job(tmp_path: Path) -> None:
    def overdue(world: World) -> None:
        world.calls(world.accepted())
        world.passes(minutes=16)

    worlds = crash_at_every_step(tmp_path, overdue, lambda world: world.expires(only_job(world)))
    for world in worlds:
        assert only_job(world).status is JobStatus.FAILED
        assert "JobFailed" in world.announced()
        assert len({message.message_id for message in world.sent}) == 3
