"""Many connections on one retry request: it is added once, counted down once and closed once."""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from shared.adapters.database import SqlDatabase, create_engine, tables
from shared.adapters.database.transactions import SqlTransaction
from shared.domain.retries import FileOutcome, RetryFile
from shared.services.ports import ConflictError
from tests.unit.adapters.database.rows import (
    NOW,
    a_request,
    add_request,
    count,
    stored_files,
    stored_request,
)

THREADS = 8


def race[T](database: SqlDatabase, unit: Callable[[int, SqlTransaction], T]) -> list[T]:
    """Run the unit with each number at the same moment, each on a connection of its own."""
    start = threading.Barrier(THREADS)

    def runner(number: int) -> T:
        own = SqlDatabase(create_engine(str(database.engine.url)))
        try:
            start.wait(timeout=10)
            return own.run(lambda transaction: unit(number, transaction))
        finally:
            own.close()

    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(runner, range(THREADS)))


@pytest.mark.parametrize("round_", range(3))
def test_jobs_that_end_at_once_close_their_attempt_once(database: SqlDatabase, round_: int) -> None:
    jobs = [uuid4(), uuid4()]
    keys = [("req-1", 1), ("req-2", 3)]
    for request_id, attempt in keys:
        add_request(database, request_id, attempt, waiting_for=[*jobs, jobs[0]])

    def end(number: int, transaction: SqlTransaction) -> list[tuple[str, int]]:
        """Half of the threads end one job, half the other; answer what this one closed."""
        decided = transaction.retries.decide(jobs[number % 2], True, None, False, NOW)
        return [
            key
            for key, rows in Counter(decided).items()
            if transaction.retries.count_down(*key, rows) == 0
            and transaction.retries.close(*key, NOW)
        ]

    closed = race(database, end)

    assert sorted(key for keys_closed in closed for key in keys_closed) == keys
    for key in keys:
        assert stored_request(database, *key).pending == 0
        assert stored_request(database, *key).closed_at == NOW
        outcomes = [file.outcome for file in stored_files(database, *key)]
        assert outcomes == [FileOutcome.SUCCEEDED] * 3


def test_every_count_tells_another_number(database: SqlDatabase) -> None:
    add_request(database, pending=THREADS)

    left = race(database, lambda _, transaction: transaction.retries.count_down("req-1", 1, 1))

    assert sorted(left) == list(range(THREADS))


def test_an_attempt_that_many_close_is_closed_by_one(database: SqlDatabase) -> None:
    add_request(database, pending=0)

    closed = race(database, lambda _, transaction: transaction.retries.close("req-1", 1, NOW))

    assert Counter(closed) == {True: 1, False: THREADS - 1}


def test_an_attempt_that_many_add_is_added_by_one(database: SqlDatabase) -> None:
    def add(number: int, transaction: SqlTransaction) -> str:
        request = a_request(reason=str(number))
        try:
            transaction.retries.add(request, [RetryFile("req-1", 1, f"hash-{number}")])
        except ConflictError:
            return "conflict"
        return "added"

    results = race(database, add)

    winner = str(results.index("added"))
    assert Counter(results) == {"added": 1, "conflict": THREADS - 1}
    assert stored_request(database).reason == winner
    assert [file.file_ref for file in stored_files(database)] == [f"hash-{winner}"]
    assert count(database, tables.retry_file) == 1
