"""What each statement looks like to SQL Server, and how its rows come back."""

import re
from collections.abc import Callable
from datetime import UTC, timedelta, timezone
from uuid import UUID, uuid4

import pytest

from shared.adapters.database import SqlDatabase
from shared.adapters.database.transactions import SqlTransaction
from shared.contracts.outgoing import OutgoingMessage
from shared.domain.entities import EntityWithDocument
from shared.domain.events import EventKind, FileEvent
from shared.domain.extractor_health import ExtractorHealth
from shared.domain.job_search import JobFilter, Place
from shared.domain.jobs import Extractor, JobStatus
from shared.domain.retries import RetryFile
from shared.services.ports import ConflictError
from tests.unit.adapters.database.fake_pyodbc import (
    SQL_VARCHAR,
    SQL_WVARCHAR,
    DateTimeOffset,
    Executed,
    IntegrityError,
    ProgrammingError,
    Server,
)
from tests.unit.adapters.database.rows import MINUTE, NOW, a_call, a_job, a_request

JOB, FILE = uuid4(), uuid4()
LATER = NOW + MINUTE
IN_TSQL = {NOW: "2026-03-01 12:00:00.123456+00:00", LATER: "2026-03-01 12:01:00.123456+00:00"}
EVENT = FileEvent(FILE, NOW, EventKind.OPERATOR, "cancel", JOB, "req-1", "أحمد", {"note": "نص"})
MESSAGE = OutgoingMessage("job-status", "id-1", "JobQueued", '{"نص": 1}', "corr", {"p": 1}, LATER)
FULL_JOB = a_job(
    FILE, job_id=JOB, status_message="فشل", extractor_response='{"نص": 1}', request_id="req-1"
)
REQUEST = a_request(reason="إعادة", asked_at=NOW, created_at=LATER, metadata={"ids": [7]})
RETRY_FILES = [RetryFile("req-1", 1, "hash-1", FILE, JOB), RetryFile("req-1", 1, "hash-2")]

EVERYTHING = JobFilter(
    status=JobStatus.FAILED,
    file_id=FILE,
    client_application_id="client-a",
    extractor_id=101,
    request_id="req-1",
    created_since=NOW,
    created_until=LATER,
    updated_since=NOW,
    updated_until=LATER,
)

FULL_HEALTH = ExtractorHealth(101, 5, LATER, NOW, "أحمد", "نقل")

UNITS: dict[str, Callable[[SqlTransaction], object]] = {
    "jobs.get": lambda tx: tx.jobs.get(JOB),
    "jobs.of_file": lambda tx: tx.jobs.of_file(FILE),
    "jobs.search": lambda tx: tx.jobs.search(EVERYTHING, Place(NOW, JOB), 50),
    "jobs.counts": lambda tx: tx.jobs.counts(EVERYTHING),
    "jobs.active_since": lambda tx: tx.jobs.active_since(NOW, 50),
    "jobs.lock_of_file": lambda tx: tx.jobs.lock_of_file(FILE),
    "jobs.add": lambda tx: tx.jobs.add(FULL_JOB),
    "jobs.change": lambda tx: tx.jobs.change(JOB, JobStatus.FAILED, NOW, "فشل", "{}"),
    "jobs.keep_response": lambda tx: tx.jobs.keep_response(JOB, "{}"),
    "calls.get": lambda tx: tx.calls.get(JOB),
    "calls.add": lambda tx: tx.calls.add(a_call(JOB)),
    "calls.take_lease": lambda tx: tx.calls.take_lease(JOB, NOW, LATER),
    "calls.release_lease": lambda tx: tx.calls.release_lease(JOB, LATER),
    "calls.record_taken": lambda tx: tx.calls.record_taken(JOB, NOW),
    "calls.record_failure": lambda tx: tx.calls.record_failure(JOB, NOW, "رفض"),
    "extractor_healths.lock": lambda tx: tx.extractor_healths.lock(101),
    "extractor_healths.save": lambda tx: tx.extractor_healths.save(FULL_HEALTH),
    "extractor_healths.active": lambda tx: tx.extractor_healths.active(101, NOW),
    "calls.put_off": lambda tx: tx.calls.put_off(JOB, NOW, LATER),
    "calls.overdue": lambda tx: tx.calls.overdue(NOW, 50),
    "calls.set_due": lambda tx: tx.calls.set_due(JOB, LATER, JobStatus.QUEUED),
    "events.add": lambda tx: tx.events.add(EVENT),
    "events.of_file": lambda tx: tx.events.of_file(FILE),
    "entities.by_ids": lambda tx: tx.entities.get_entities_with_documents_by_ids([7, 2**40]),
    "outbox.add": lambda tx: tx.outbox.add(MESSAGE, JOB),
    "outbox.unsent": lambda tx: tx.outbox.unsent(JOB),
    "outbox.overdue": lambda tx: tx.outbox.overdue(NOW, 50),
    "outbox.purge": lambda tx: tx.outbox.purge(NOW, 50),
    "outbox.mark_sent": lambda tx: tx.outbox.mark_sent(7, NOW),
    "files.get": lambda tx: tx.files.get(FILE),
    "files.resolve": lambda tx: tx.files.resolve(str(FILE).upper(), "client-a"),
    "retries.add": lambda tx: tx.retries.add(REQUEST, RETRY_FILES),
    "retries.get": lambda tx: tx.retries.get("req-1", 1),
    "retries.files": lambda tx: tx.retries.files("req-1", 1),
    "retries.attempts": lambda tx: tx.retries.attempts("req-1"),
    "retries.all_files": lambda tx: tx.retries.all_files("req-1", "req-2"),
    "retries.begun": lambda tx: tx.retries.begun("req-1", "req-2"),
    "retries.of_job": lambda tx: tx.retries.of_job(JOB),
    "retries.undecided_of_ended_jobs": lambda tx: tx.retries.undecided_of_ended_jobs(50),
    "retries.open_and_decided": lambda tx: tx.retries.open_and_decided(50),
    "retries.closed_without_successor": lambda tx: tx.retries.closed_without_successor(NOW, 50),
    "retries.decide": lambda tx: tx.retries.decide(JOB, False, "فشل", True, NOW),
    "retries.count_down": lambda tx: tx.retries.count_down("req-1", 1, 2),
    "retries.close": lambda tx: tx.retries.close("req-1", 1, NOW),
    "retries.schedule_next": lambda tx: tx.retries.schedule_next("req-1", 1, LATER),
    "retries.requests": lambda tx: tx.retries.requests("أحمد", NOW, 50),
    "mended.add": lambda tx: tx.mended.add({"outboxesSent": 3}, NOW),
    "old_data.requests": lambda tx: tx.old_data.requests(NOW, 50),
    "old_data.remove_requests": lambda tx: tx.old_data.remove_requests(["req-1", "req-2"]),
    "old_data.files": lambda tx: tx.old_data.files(NOW, 50),
    "old_data.remove_jobs": lambda tx: tx.old_data.remove_jobs(FILE, NOW),
    "registrations.active": lambda tx: tx.registrations.active("client-a"),
    "registrations.get": lambda tx: tx.registrations.get(101),
}


def statements(server: Server) -> list[Executed]:
    """What was executed on our tables, without what SQLAlchemy asks of a server it meets."""
    ours = ("extractor.", "[file].", "registration.", "[ExtractedEntities]")
    return [executed for executed in server.executed if any(part in executed.sql for part in ours)]


def run(server: Server, sql_server: SqlDatabase, name: str) -> list[Executed]:
    server.rows["INSERT"] = [(7,)]  # the identity that an insert gives back
    server.rows["OUTPUT inserted.[Pending]"] = [(3,)]
    sql_server.run(UNITS[name])
    return statements(server)


@pytest.mark.parametrize("name", UNITS)
def test_every_value_is_bound(server: Server, sql_server: SqlDatabase, name: str) -> None:
    for executed in run(server, sql_server, name):
        assert "'" not in executed.sql
        assert executed.sql.count("?") == len(executed.parameters) > 0


@pytest.mark.parametrize("name", UNITS)
def test_only_nulls_are_compared_with_is(
    server: Server, sql_server: SqlDatabase, name: str
) -> None:
    for executed in run(server, sql_server, name):
        assert not re.search(r"\bIS (?!NULL|NOT NULL)", executed.sql)


@pytest.mark.parametrize("name", UNITS)
def test_ids_are_bound_as_guids_and_times_in_utc_with_their_offset(
    server: Server, sql_server: SqlDatabase, name: str
) -> None:
    for executed in run(server, sql_server, name):
        for value in executed.parameters:
            assert isinstance(value, UUID | str | int | None)
            assert value not in {str(JOB), str(FILE)}
            if isinstance(value, str) and value.startswith("2026"):
                assert value in IN_TSQL.values()


@pytest.mark.parametrize(
    ("name", "varchar", "nvarchar"),
    [
        ("jobs.add", {"Queued", "req-1"}, {"فشل", '{"نص": 1}'}),
        ("jobs.change", {"Failed", "Queued", "Started"}, {"فشل", "{}"}),
        ("jobs.search", {"Failed", "client-a", "req-1"}, set()),
        ("calls.take_lease", {"Queued"}, set()),
        ("calls.record_failure", set(), {"رفض"}),
        ("extractor_healths.save", set(), {"أحمد", "نقل"}),
        ("events.add", {"operator", "req-1"}, {"cancel", "أحمد", '{"note": "نص"}'}),
        ("outbox.add", {"job-status", "id-1"}, {'{"نص": 1}'}),
        ("files.resolve", {str(FILE).upper(), "client-a"}, set()),
        ("registrations.active", {"client-a"}, set()),
        (
            "retries.add",
            {"req-1", "client-a", "hash-1", "hash-2", "pending"},
            {"إعادة", "ana@example.com", '{"ids": [7]}'},
        ),
        ("retries.get", {"req-1"}, set()),
        ("retries.attempts", {"req-1"}, set()),
        ("retries.all_files", {"req-1", "req-2"}, set()),
        ("retries.begun", {"req-1", "req-2", "Queued"}, set()),
        ("retries.decide", {"failed"}, {"فشل"}),
        ("retries.count_down", {"req-1"}, set()),
        ("retries.requests", set(), {"أحمد"}),
        ("old_data.remove_requests", {"req-1", "req-2"}, set()),
        ("old_data.remove_jobs", set(), {"system"}),
    ],
)
def test_keys_are_bound_as_varchar_and_text_as_nvarchar(
    server: Server, sql_server: SqlDatabase, name: str, varchar: set[str], nvarchar: set[str]
) -> None:
    typed: dict[object, int | None] = {}
    for executed in run(server, sql_server, name):
        typed |= executed.typed()

    assert {typed[value] for value in varchar} <= {SQL_VARCHAR}
    assert {typed[value] for value in nvarchar} <= {SQL_WVARCHAR}


def test_the_jobs_of_a_file_are_read_under_an_update_lock_with_range(
    server: Server, sql_server: SqlDatabase
) -> None:
    [executed] = run(server, sql_server, "jobs.lock_of_file")

    assert "FROM extractor.[Job] WITH (UPDLOCK, HOLDLOCK)" in executed.sql


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        (
            "jobs.change",
            ["UPDATE extractor.[Job]", "OUTPUT inserted.[JobID]", "[Status] IN (?, ?)"],
        ),
        (
            "calls.take_lease",
            [
                "UPDATE extractor.[JobCall]",
                "OUTPUT inserted.[JobID]",
                "[CalledAt] IS NULL",
                "[LeaseUntil] IS NULL OR",
                "[LeaseUntil] < ?",
                "EXISTS (SELECT",
                "FROM extractor.[Job] WITH (READCOMMITTEDLOCK)",
                "extractor.[Job].[Status] = ?",
            ],
        ),
        (
            "retries.decide",
            [
                "UPDATE extractor.[RetryFile]",
                "OUTPUT inserted.[RequestID], inserted.[RetryAttempt]",
                "[JobID] = ?",
                "[DecidedAt] IS NULL",
            ],
        ),
        (
            "retries.count_down",
            [
                "UPDATE extractor.[RetryRequest] SET [Pending]=CASE WHEN",
                "OUTPUT inserted.[Pending]",
            ],
        ),
        (
            "retries.close",
            [
                "UPDATE extractor.[RetryRequest] SET [ClosedAt]=?",
                "OUTPUT inserted.[RequestID]",
                "[ClosedAt] IS NULL",
                "[Pending] = ?",
            ],
        ),
    ],
)
def test_a_guarded_change_is_one_statement_that_gives_the_row_back(
    server: Server, sql_server: SqlDatabase, name: str, parts: list[str]
) -> None:
    [executed] = run(server, sql_server, name)

    assert [part for part in parts if part not in executed.sql] == []


def test_a_driver_that_does_not_count_rows_is_not_asked(
    server: Server, sql_server: SqlDatabase
) -> None:
    change = UNITS["jobs.change"]
    refused = sql_server.run(change)
    server.rows["OUTPUT"] = [(str(JOB).upper(),)]

    assert refused is False
    assert sql_server.run(change) is True


def test_a_deadlock_runs_the_whole_unit_again(server: Server, sql_server: SqlDatabase) -> None:
    deadlock = "[40001] Transaction (Process ID 52) was deadlocked. (1205) (SQLExecDirectW)"
    server.failures = [ProgrammingError("40001", deadlock)]

    sql_server.run(lambda tx: tx.calls.set_due(JOB, NOW, JobStatus.QUEUED))

    first, second = statements(server)
    assert first == second


def test_a_unique_violation_is_a_conflict(server: Server, sql_server: SqlDatabase) -> None:
    server.failures = [
        IntegrityError("23000", "[23000] Cannot insert duplicate key. (2601) (SQLExecDirectW)")
    ]
    conflicts: list[ConflictError] = []

    def add(transaction: SqlTransaction) -> None:
        try:
            transaction.jobs.add(a_job(FILE))
        except ConflictError as conflict:
            conflicts.append(conflict)

    sql_server.run(add)

    assert len(conflicts) == 1


def test_rows_come_back_with_aware_times_and_one_form_of_guid(
    server: Server, sql_server: SqlDatabase
) -> None:
    west = NOW.astimezone(timezone(timedelta(hours=-7, minutes=-30)))
    stored = DateTimeOffset(west)
    ids = (str(JOB).upper(), str(FILE).upper(), 101)
    times = (stored, stored, None)
    server.rows["FROM extractor.[Job]"] = [
        (*ids, "Queued", "فشل", *times, '{"نص": 1}', 1, "req-1"),
    ]

    def read_on_two_connections(transaction: SqlTransaction) -> list[object]:
        inner = sql_server.run(lambda other: other.jobs.get(JOB))
        return [transaction.jobs.get(JOB), inner]

    for job in sql_server.run(read_on_two_connections):
        assert job == FULL_JOB
        assert job.created_at.tzinfo is UTC
    assert len(server.logins) == 2


def test_extractors_come_back(server: Server, sql_server: SqlDatabase) -> None:
    row = (101, "client-a", "https://extractor.example/", True)
    server.rows["FROM registration."] = [row]

    found = sql_server.run(lambda tx: tx.registrations.active("client-a"))

    assert found == [Extractor(101, "https://extractor.example/")]


def test_a_large_attempt_is_inserted_within_the_limit_of_parameters(
    server: Server, sql_server: SqlDatabase
) -> None:
    files = [RetryFile("req-1", 1, f"hash-{number}") for number in range(500)]

    sql_server.run(lambda tx: tx.retries.add(REQUEST, files))

    inserts = [made for made in statements(server) if "[RetryFile]" in made.sql]
    refs = [value for made in inserts for value in made.parameters if str(value).startswith("hash")]
    assert refs == [file.file_ref for file in files]
    assert max(len(made.parameters) for made in inserts) < 2_100


def test_the_rows_that_a_job_decided_come_back_in_key_order(
    server: Server, sql_server: SqlDatabase
) -> None:
    server.rows["OUTPUT"] = [("req-2", 1), ("req-1", 10), ("req-1", 2)]

    decided = sql_server.run(lambda tx: tx.retries.decide(JOB, True, None, False, NOW))

    assert decided == [("req-1", 2), ("req-1", 10), ("req-2", 1)]


def test_one_file_is_asked_for_by_its_hash(server: Server, sql_server: SqlDatabase) -> None:
    by_hash, by_id = run(server, sql_server, "files.resolve")

    assert by_hash.sql.startswith("SELECT TOP 1 ")
    assert FILE in by_id.parameters


def test_entities_are_joined_with_their_documents_in_the_default_schema(
    server: Server, sql_server: SqlDatabase
) -> None:
    server.rows["ExtractedEntities"] = [(2**40, 7, "hash-7", "failed")]

    found = sql_server.run(lambda tx: tx.entities.get_entities_with_documents_by_ids([2**40, 7]))

    assert found == [EntityWithDocument(2**40, 7, "hash-7", "failed")]
    [executed] = statements(server)
    assert "FROM [ExtractedEntities] JOIN [Documents] ON" in executed.sql
    assert executed.parameters == (2**40, 7)
