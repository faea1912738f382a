"""What happens in the same instant: every attempt is closed once, every file extracted once."""

import threading
from collections.abc import Callable, Sequence

import pytest

from shared.domain.jobs import Job
from shared.domain.retries import FileOutcome, RetryFile
from tests.database import add_file
from tests.unit.services.world import REFUSED, World

FILES = 8


def at_once(*acts: Callable[[], object]) -> None:
    """All of these, each in a thread of its own, begun in the same instant."""
    barrier = threading.Barrier(len(acts))
    failures: list[BaseException] = []

    def run(act: Callable[[], object]) -> None:
        barrier.wait()
        try:
            act()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def rows(world: World, request: str = "r1") -> Sequence[RetryFile]:
    return world.sql.run(lambda tx: tx.retries.files(request, 1))


def result_ids(world: World) -> list[str]:
    return [each.message_id for each in world.sent if each.subject == "ExtractionRetryResult"]


@pytest.fixture
def failed(world: World) -> World:
    """The file's first extraction was refused."""
    world.answers = [REFUSED]
    world.calls(world.accepted())
    world.sent.clear()
    world.passes(minutes=1)
    return world


@pytest.mark.parametrize("end", ["JobSucceeded", "JobFailed"])
def test_jobs_that_end_in_the_same_instant_close_the_attempt_once(failed: World, end: str) -> None:
    hashes = [f"hash-of-{number}" for number in range(FILES)]
    for hash_ in hashes:
        add_file(failed.sql, document_hash=hash_)
    jobs = failed.retried(*hashes).jobs

    def ends(job: Job) -> None:
        failed.reported(job, end)
        failed.send_outbox(job.job_id)

    at_once(*[lambda job=job: ends(job) for job in jobs])

    request = failed.sql.run(lambda tx: tx.retries.get("r1", 1))
    assert request
    assert request.pending == 0
    assert request.closed_at
    assert result_ids(failed) == ["r1:1"]
    assert FileOutcome.PENDING not in {row.outcome for row in rows(failed)}


def test_one_event_delivered_twice_in_the_same_instant_is_one_attempt(failed: World) -> None:
    at_once(*[failed.retried] * FILES)
    assert len(failed.jobs()) == 2
    assert len(rows(failed)) == 1


def test_requests_for_one_file_in_the_same_instant_extract_it_once(failed: World) -> None:
    requests = [f"r{number}" for number in range(FILES)]
    at_once(*[lambda request=request: failed.retried(request=request) for request in requests])
    _, job = failed.jobs()
    assert {row.job_id for request in requests for row in rows(failed, request)} == {job.job_id}
    failed.reported(job, "JobSucceeded")
    failed.send_outbox(job.job_id)
    assert sorted(result_ids(failed)) == [f"{request}:1" for request in requests]


def test_requests_for_the_same_files_in_other_orders_do_not_wait_in_a_ring(
    failed: World,
) -> None:
    hashes = [f"hash-of-{number}" for number in range(FILES)]
    for hash_ in hashes:
        add_file(failed.sql, document_hash=hash_)
    at_once(
        lambda: failed.retried(*hashes, request="r1"),
        lambda: failed.retried(*reversed(hashes), request="r2"),
    )
    by_hash = [{row.file_ref: row.job_id for row in rows(failed, each)} for each in ("r1", "r2")]
    assert by_hash[0] == by_hash[1]


def test_a_file_that_is_accepted_and_retried_in_the_same_instant_is_extracted_once(
    world: World,
) -> None:
    at_once(world.accepted, world.retried)
    (job,) = world.jobs()
    assert rows(world)[0].job_id == job.job_id
