"""Many threads on one file: what is guarded happens once."""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

from shared.adapters.database import SqlDatabase, tables
from shared.adapters.database.transactions import SqlTransaction
from shared.contracts.outgoing import OutgoingMessage
from shared.domain.events import EventKind, FileEvent
from shared.domain.jobs import ENDS, JobStatus
from tests.database import add_extractor, add_file
from tests.unit.adapters.database.rows import (
    MINUTE,
    NOW,
    a_job,
    add_job,
    count,
    stored_call,
    stored_job,
)

THREADS = 12


def race[T](run: Callable[[int], T]) -> list[T]:
    """Let every thread run its number at the same moment."""
    start = threading.Barrier(THREADS)

    def runner(number: int) -> T:
        start.wait(timeout=10)
        return run(number)

    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(runner, range(THREADS)))


def test_one_caller_of_many_gets_the_lease(database: SqlDatabase) -> None:
    job = add_job(database)

    won = race(
        lambda number: database.run(
            lambda tx: tx.calls.take_lease(job.job_id, NOW, NOW + (number + 1) * MINUTE)
        )
    )

    assert Counter(won) == {True: 1, False: THREADS - 1}
    assert stored_call(database, job.job_id).lease_until == NOW + (won.index(True) + 1) * MINUTE


def test_one_end_of_many_is_recorded(database: SqlDatabase) -> None:
    job = add_job(database, status=JobStatus.STARTED)
    ends = sorted(ENDS) * THREADS

    def end(number: int) -> bool:
        def unit(transaction: SqlTransaction) -> bool:
            changed = transaction.jobs.change(job.job_id, ends[number], NOW, str(number))
            if changed:
                event = FileEvent(job.file_id, NOW, EventKind.STATUS, str(number))
                transaction.events.add(event)
            return changed

        return database.run(unit)

    won = race(end)

    winner = won.index(True)
    assert Counter(won) == {True: 1, False: THREADS - 1}
    assert stored_job(database, job.job_id).status is ends[winner]
    assert stored_job(database, job.job_id).status_message == str(winner)
    assert count(database, tables.file_event) == 1


def test_many_first_deliveries_make_one_job(database: SqlDatabase) -> None:
    file = add_file(database)
    add_extractor(database)

    def accept(_: int) -> bool:
        def unit(transaction: SqlTransaction) -> bool:
            if any(job.active for job in transaction.jobs.lock_of_file(file.file_id)):
                return False
            transaction.jobs.add(a_job(file.file_id))
            return True

        return database.run(unit)

    assert Counter(race(accept)) == {True: 1, False: THREADS - 1}
    assert count(database, tables.job) == 1


def test_a_conflict_makes_the_loser_decide_again_from_fresh_reads(database: SqlDatabase) -> None:
    first = add_job(database)
    seen: list[bool] = []

    def accept_on_a_stale_read(transaction: SqlTransaction) -> str:
        active = bool(seen) and transaction.jobs.lock_of_file(first.file_id)[0].active
        seen.append(active)
        if active:
            return "found"
        transaction.jobs.add(a_job(first.file_id))
        return "added"

    assert database.run(accept_on_a_stale_read) == "found"
    assert seen == [False, True]


def test_one_message_stands_in_the_outbox_however_many_write_it(database: SqlDatabase) -> None:
    job_id = uuid4()
    message = OutgoingMessage("job-status", f"{job_id}:Queued", "JobQueued", "{}", str(job_id))

    race(lambda _: database.run(lambda tx: tx.outbox.add(message, job_id)))

    assert count(database, tables.outbox) == 1


def test_threads_take_turns_on_one_connection_instead_of_competing_for_the_file(
    database: SqlDatabase,
) -> None:
    def used(_: int) -> int:
        with database.engine.begin() as connection:
            return id(connection.connection.driver_connection)

    assert len(set(race(used))) == 1


def test_every_units_work_stands_when_all_write_at_once(database: SqlDatabase) -> None:
    job = add_job(database)

    def fail_five_times(_: int) -> None:
        for _ in range(5):
            database.run(lambda tx: tx.calls.record_failure(job.job_id, NOW, "busy"))

    race(fail_five_times)

    assert stored_call(database, job.job_id).tries == 5 * THREADS
