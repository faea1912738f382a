"""Units of work are repeated whole, with pauses and a bound."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError

from shared.adapters.database import SqlDatabase, create_engine, sqlite, tables
from shared.adapters.database.transactions import (
    FIRST_PAUSE,
    GIVE_UP_AFTER,
    LONGEST_PAUSE,
    MAX_TRIES,
    SqlTransaction,
)
from shared.domain.errors import TransientError
from shared.domain.events import EventKind, FileEvent
from shared.domain.jobs import Job
from shared.services.ports import ConflictError
from tests.database import add_extractor, add_file
from tests.unit.adapters.database.rows import NOW, a_job, add_job, count


class Time:
    """A clock that moves when someone sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


class Unit:
    """Adds a job, then fails as often as it is told."""

    def __init__(self, database: SqlDatabase, *failures: Exception) -> None:
        file = add_file(database)
        add_extractor(database)
        self.job = a_job(file.file_id)
        self.failures = list(failures)
        self.runs = 0

    def __call__(self, transaction: SqlTransaction) -> str:
        self.runs += 1
        transaction.jobs.add(self.job)
        if self.failures:
            raise self.failures.pop(0)
        return "done"


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def timed(database: SqlDatabase, time: Time) -> SqlDatabase:
    return SqlDatabase(database.engine, sleep=time.sleep, clock=time.clock)


def busy() -> Exception:
    original = sqlite3.OperationalError("database is locked")
    original.sqlite_errorcode = sqlite3.SQLITE_BUSY
    return OperationalError("INSERT INTO secret", {"password": "hidden"}, original)


@pytest.mark.parametrize("failure", [busy(), ConflictError("decided already")])
def test_the_whole_unit_is_run_again_after_a_failure_that_passes(
    timed: SqlDatabase, time: Time, failure: Exception
) -> None:
    unit = Unit(timed, failure)

    assert timed.run(unit) == "done"
    assert unit.runs == 2
    assert len(time.pauses) == 1
    assert count(timed, tables.job) == 1


def test_pauses_double_with_jitter_until_the_tries_are_used_up(
    timed: SqlDatabase, time: Time
) -> None:
    unit = Unit(timed, *(busy() for _ in range(MAX_TRIES)))

    with pytest.raises(TransientError) as caught:
        timed.run(unit)

    assert unit.runs == MAX_TRIES
    assert caught.value.part == "database"
    assert str(caught.value) == f"database: the file is locked (try {MAX_TRIES} of {MAX_TRIES})"
    for number, pause in enumerate(time.pauses):
        doubled = min(FIRST_PAUSE * 2**number, LONGEST_PAUSE)
        assert 0.5 * doubled <= pause <= 1.5 * doubled
    assert count(timed, tables.job) == 0


def test_no_sql_and_no_value_leave_with_the_failure(timed: SqlDatabase) -> None:
    with pytest.raises(TransientError) as caught:
        timed.run(Unit(timed, *(busy() for _ in range(MAX_TRIES))))

    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_no_further_try_begins_when_the_time_is_up(timed: SqlDatabase, time: Time) -> None:
    def slow_and_busy(_: SqlTransaction) -> None:
        time.now += GIVE_UP_AFTER
        raise busy()

    with pytest.raises(TransientError, match="try 1 of"):
        timed.run(slow_and_busy)

    assert time.pauses == []


def test_conflicts_without_end_are_given_up(timed: SqlDatabase) -> None:
    unit = Unit(timed, *(ConflictError("again") for _ in range(MAX_TRIES)))

    with pytest.raises(TransientError, match="others decided first"):
        timed.run(unit)


@pytest.mark.parametrize("failure", [ValueError("wrong"), TransientError("blob storage", "gone")])
def test_a_failure_of_the_unit_itself_is_not_repeated(
    timed: SqlDatabase, time: Time, failure: Exception
) -> None:
    unit = Unit(timed, failure)

    with pytest.raises(type(failure)) as caught:
        timed.run(unit)

    assert caught.value is failure
    assert (unit.runs, time.pauses) == (1, [])
    assert count(timed, tables.job) == 0


def test_wrong_sql_is_not_repeated_and_shows_no_values(timed: SqlDatabase, time: Time) -> None:
    with timed.engine.begin() as connection:
        tables.file_event.drop(connection)
    event = FileEvent(uuid4(), NOW, EventKind.OPERATOR, "cancel", actor="personal")

    with pytest.raises(OperationalError, match="no such table") as caught:
        timed.run(lambda transaction: transaction.events.add(event))

    assert "personal" not in str(caught.value)
    assert time.pauses == []


@pytest.fixture
def impatient(database: SqlDatabase, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """An engine on the same file that hardly waits itself."""
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT", 0.01)
    engine = create_engine(str(database.engine.url))
    yield engine
    engine.dispose()


def test_a_locked_file_is_waited_for(database: SqlDatabase, impatient: Engine) -> None:
    unit = Unit(database)
    holder = database.engine.connect()
    holder.execute(text("SELECT 1"))

    waiting = SqlDatabase(impatient, sleep=lambda _: holder.close())

    assert waiting.run(unit) == "done"
    assert unit.runs == 1
    assert count(database, tables.job) == 1


def test_a_file_that_stays_locked_is_a_transient_failure(
    database: SqlDatabase, impatient: Engine
) -> None:
    waiting = SqlDatabase(impatient, sleep=lambda _: None)

    with database.engine.begin(), pytest.raises(TransientError, match="the file is locked"):
        waiting.run(lambda transaction: None)


def test_a_database_out_of_reach_is_a_transient_failure(tmp_path: Path, time: Time) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'missing' / 'extractor.db'}")
    database = SqlDatabase(engine, time.sleep, time.clock)

    with pytest.raises(TransientError, match="cannot be opened") as caught:
        database.run(lambda transaction: None)

    assert str(tmp_path) not in str(caught.value)


def test_a_unit_is_run_again_on_another_connection_when_one_broke_off(timed: SqlDatabase) -> None:
    job = add_job(timed)

    def read(transaction: SqlTransaction) -> Job | None:
        return transaction.jobs.get(job.job_id)

    timed.run(read)
    with timed.engine.connect() as connection:
        driver_connection = connection.connection.driver_connection
    assert driver_connection is not None
    driver_connection.close()

    assert timed.run(read) == job


def test_a_pool_that_is_used_up_is_a_transient_failure(impatient: Engine) -> None:
    database = SqlDatabase(impatient, sleep=lambda _: None)

    with impatient.connect(), pytest.raises(TransientError, match="every connection is in use"):
        database.run(lambda transaction: None)
