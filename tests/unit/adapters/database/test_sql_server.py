"""SQL Server: logging in, and what each statement looks like to the driver."""

import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID, uuid4

import pytest

from shared.adapters.database import SqlDatabase, create_engine
from shared.adapters.database.sql_server import CONNECTION_LIFE, DriverMissingError
from shared.adapters.database.transactions import SqlTransaction
from shared.contracts.outgoing import OutgoingMessage
from shared.domain.events import EventKind, FileEvent
from shared.domain.jobs import Extractor, JobStatus
from shared.services.ports import ConflictError
from tests.unit.adapters.database.fake_pyodbc import (
    SQL_VARCHAR,
    SQL_WVARCHAR,
    DateTimeOffset,
    Executed,
    IntegrityError,
    InterfaceError,
    OperationalError,
    ProgrammingError,
    Server,
    fake_pyodbc,
)
from tests.unit.adapters.database.rows import MINUTE, NOW, a_call, a_job

URL = "mssql+pyodbc://server.example/extractor"
DRIVERS = ("SQLite3", "ODBC Driver 17 for SQL Server", "ODBC Driver 18 for SQL Server")
JOB, FILE = uuid4(), uuid4()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    monkeypatch.setitem(sys.modules, "pyodbc", fake_pyodbc(server, DRIVERS))
    return server


@pytest.fixture
def database(server: Server) -> Iterator[SqlDatabase]:
    database = SqlDatabase(create_engine(URL), sleep=lambda _: None)
    yield database
    database.close()


def statements(server: Server) -> list[Executed]:
    """What was executed on our tables, without what SQLAlchemy asks of a server it meets."""
    ours = ("extractor.", "[file].", "registration.")
    return [executed for executed in server.executed if any(part in executed.sql for part in ours)]


# Logging in


def test_the_drivers_own_pooling_is_off_before_the_first_connection(
    server: Server, database: SqlDatabase
) -> None:
    database.run(lambda transaction: None)

    assert server.pooling_at_login == [False]


def test_the_newest_installed_driver_is_taken(server: Server, database: SqlDatabase) -> None:
    database.run(lambda transaction: None)

    [(connection_string, options)] = server.logins
    assert connection_string.startswith("DRIVER={ODBC Driver 18 for SQL Server};")
    assert options["timeout"] == 15


def test_a_driver_that_the_url_names_is_taken(server: Server) -> None:
    database = SqlDatabase(create_engine(f"{URL}?driver=ODBC+Driver+17+for+SQL+Server"))

    database.run(lambda transaction: None)

    assert "ODBC Driver 17" in server.logins[0][0]


def test_a_machine_without_a_driver_is_told_what_to_install(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyodbc", fake_pyodbc(server, ("SQLite3",)))

    with pytest.raises(DriverMissingError, match="Install ODBC Driver 18"):
        create_engine(URL)


def test_a_machine_without_the_driver_manager_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pyodbc", None)

    with pytest.raises(DriverMissingError, match="unixODBC"):
        create_engine(URL)


def tokens() -> Callable[[], str]:
    numbers = iter(range(1, 10))
    return lambda: f"token-{next(numbers)}"


def given_token(options: dict[str, object]) -> str:
    attributes = options["attrs_before"]
    assert isinstance(attributes, dict)
    packed: bytes = attributes[1256]
    assert int.from_bytes(packed[:4], "little") == len(packed) - 4
    return packed[4:].decode("utf-16-le")


def test_each_physical_connection_gets_a_token_of_its_own(server: Server) -> None:
    engine = create_engine(URL, token_provider=tokens())

    with engine.connect(), engine.connect():
        pass
    with engine.connect():
        pass

    assert [given_token(options) for _, options in server.logins] == ["token-1", "token-2"]
    assert "Trusted_Connection" not in server.logins[0][0]
    engine.dispose()


def test_a_connection_is_replaced_before_its_token_ends(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = create_engine(URL, pool_size=1, token_provider=tokens())
    with engine.connect():
        pass

    opened = datetime.now(UTC).timestamp()
    monkeypatch.setattr("sqlalchemy.pool.base.time.time", lambda: opened + CONNECTION_LIFE + 1)
    with engine.connect():
        pass

    assert [given_token(options) for _, options in server.logins] == ["token-1", "token-2"]
    assert timedelta(seconds=CONNECTION_LIFE) < timedelta(hours=1)
    engine.dispose()


def test_a_user_in_the_url_logs_in_without_a_token(server: Server) -> None:
    engine = create_engine("mssql+pyodbc://sa:pass@server.example/x", token_provider=tokens())

    with engine.connect():
        pass

    assert "UID=sa" in server.logins[0][0]
    assert "attrs_before" not in server.logins[0][1]
    engine.dispose()


def test_log_ins_that_fail_for_a_while_are_repeated_with_fresh_tokens(server: Server) -> None:
    paused = "[HY000] Database is not currently available. (40613) (SQLDriverConnect)"
    expired = "[28000] Login failed for user '<token-identified principal>'. (18456)"
    server.login_failures = [
        ProgrammingError("HY000", paused),
        OperationalError("HYT00", "[HYT00] Login timeout expired (0) (SQLDriverConnect)"),
        InterfaceError("28000", expired),
    ]
    pauses: list[float] = []
    database = SqlDatabase(create_engine(URL, token_provider=tokens()), sleep=pauses.append)

    assert database.run(lambda transaction: "done") == "done"

    assert [given_token(options) for _, options in server.logins] == [
        "token-1",
        "token-2",
        "token-3",
        "token-4",
    ]
    assert len(pauses) == 3
    database.close()


def test_a_deadlock_runs_the_whole_unit_again(server: Server, database: SqlDatabase) -> None:
    deadlock = "[40001] Transaction (Process ID 52) was deadlocked. (1205) (SQLExecDirectW)"
    server.failures = [ProgrammingError("40001", deadlock)]

    database.run(lambda tx: tx.calls.set_due(JOB, NOW, JobStatus.QUEUED))

    first, second = statements(server)
    assert first == second


def test_a_unique_violation_is_a_conflict(server: Server, database: SqlDatabase) -> None:
    server.failures = [
        IntegrityError("23000", "[23000] Cannot insert duplicate key. (2601) (SQLExecDirectW)")
    ]
    conflicts: list[ConflictError] = []

    def add(transaction: SqlTransaction) -> None:
        try:
            transaction.jobs.add(a_job(FILE))
        except ConflictError as conflict:
            conflicts.append(conflict)

    database.run(add)

    assert len(conflicts) == 1


# Statements

LATER = NOW + MINUTE
IN_TSQL = {NOW: "2026-03-01 12:00:00.123456+00:00", LATER: "2026-03-01 12:01:00.123456+00:00"}
EVENT = FileEvent(FILE, NOW, EventKind.OPERATOR, "cancel", JOB, "req-1", "أحمد", {"note": "نص"})
MESSAGE = OutgoingMessage("job-status", "id-1", "JobQueued", '{"نص": 1}', "corr", {"p": 1}, LATER)
FULL_JOB = a_job(
    FILE, job_id=JOB, status_message="فشل", extractor_response='{"نص": 1}', request_id="req-1"
)

UNITS: dict[str, Callable[[SqlTransaction], object]] = {
    "jobs.get": lambda tx: tx.jobs.get(JOB),
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
    "calls.set_due": lambda tx: tx.calls.set_due(JOB, LATER, JobStatus.QUEUED),
    "events.add": lambda tx: tx.events.add(EVENT),
    "events.of_file": lambda tx: tx.events.of_file(FILE),
    "outbox.add": lambda tx: tx.outbox.add(MESSAGE, JOB),
    "outbox.unsent": lambda tx: tx.outbox.unsent(JOB),
    "outbox.mark_sent": lambda tx: tx.outbox.mark_sent(7, NOW),
    "files.get": lambda tx: tx.files.get(FILE),
    "registrations.active": lambda tx: tx.registrations.active("client-a"),
    "registrations.get": lambda tx: tx.registrations.get(101),
}


def run(server: Server, database: SqlDatabase, name: str) -> list[Executed]:
    server.rows["INSERT"] = [(7,)]  # the identity that an insert gives back
    database.run(UNITS[name])
    return statements(server)


@pytest.mark.parametrize("name", UNITS)
def test_every_value_is_bound(server: Server, database: SqlDatabase, name: str) -> None:
    for executed in run(server, database, name):
        assert "'" not in executed.sql
        assert executed.sql.count("?") == len(executed.parameters) > 0


@pytest.mark.parametrize("name", UNITS)
def test_ids_are_bound_as_guids_and_times_in_utc_with_their_offset(
    server: Server, database: SqlDatabase, name: str
) -> None:
    for executed in run(server, database, name):
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
        ("calls.take_lease", {"Queued"}, set()),
        ("calls.record_failure", set(), {"رفض"}),
        ("events.add", {"operator", "req-1"}, {"cancel", "أحمد", '{"note": "نص"}'}),
        ("outbox.add", {"job-status", "id-1"}, {'{"نص": 1}'}),
        ("registrations.active", {"client-a"}, set()),
    ],
)
def test_keys_are_bound_as_varchar_and_text_as_nvarchar(
    server: Server, database: SqlDatabase, name: str, varchar: set[str], nvarchar: set[str]
) -> None:
    typed: dict[object, int | None] = {}
    for executed in run(server, database, name):
        typed |= executed.typed()

    assert {typed[value] for value in varchar} <= {SQL_VARCHAR}
    assert {typed[value] for value in nvarchar} <= {SQL_WVARCHAR}


def test_the_jobs_of_a_file_are_read_under_an_update_lock_with_range(
    server: Server, database: SqlDatabase
) -> None:
    [executed] = run(server, database, "jobs.lock_of_file")

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
    ],
)
def test_a_guarded_change_is_one_statement_that_gives_the_row_back(
    server: Server, database: SqlDatabase, name: str, parts: list[str]
) -> None:
    [executed] = run(server, database, name)

    assert [part for part in parts if part not in executed.sql] == []


def test_a_driver_that_does_not_count_rows_is_not_asked(
    server: Server, database: SqlDatabase
) -> None:
    change = UNITS["jobs.change"]
    refused = database.run(change)
    server.rows["OUTPUT"] = [(str(JOB).upper(),)]

    assert refused is False
    assert database.run(change) is True


# Rows


def test_rows_come_back_with_aware_times_and_one_form_of_guid(
    server: Server, database: SqlDatabase
) -> None:
    west = NOW.astimezone(timezone(timedelta(hours=-7, minutes=-30)))
    stored = DateTimeOffset(west)
    ids = (str(JOB).upper(), str(FILE).upper(), 101)
    times = (stored, stored, None)
    server.rows["FROM extractor.[Job]"] = [
        (*ids, "Queued", "فشل", *times, '{"نص": 1}', 1, "req-1"),
    ]

    def read_on_two_connections(transaction: SqlTransaction) -> list[object]:
        inner = database.run(lambda other: other.jobs.get(JOB))
        return [transaction.jobs.get(JOB), inner]

    for job in database.run(read_on_two_connections):
        assert job == FULL_JOB
        assert job.created_at.tzinfo is UTC
    assert len(server.logins) == 2


def test_extractors_come_back(server: Server, database: SqlDatabase) -> None:
    row = (101, "client-a", "https://extractor.example/", True)
    server.rows["FROM registration."] = [row]

    found = database.run(lambda tx: tx.registrations.active("client-a"))

    assert found == [Extractor(101, "https://extractor.example/")]
