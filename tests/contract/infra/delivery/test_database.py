"""`python -m infra.database`: reaching the database, its roles, and what its schema needs."""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory

from infra.database.__main__ import ROLES, main
from infra.database.script import batches
from migrations.local_tables import create_read_only_tables
from migrations.upgrade import upgrade
from shared.adapters.database import create_engine
from tests.unit.adapters.database.fake_pyodbc import ProgrammingError, Server, fake_pyodbc

MIGRATIONS = Path(__file__).parents[4] / "migrations"
NAMES = {"AppIdentity": "id-extractor-dev", "MigrationIdentity": "id-migration-extractor-dev"}
READ_ONLY = {
    "[file].[File]",
    "[registration].[ClientApplicationExtractor]",
    "dbo.Documents",
    "dbo.ExtractedEntities",
}
STOPPED = (
    "Cannot open server 'sql-test' requested by the login. Client with IP address '203.0.113.7'"
    " is not allowed to access the server."
)


@pytest.fixture
def sqlite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty database."""
    url = f"sqlite:///{tmp_path / 'extractor.db'}"
    monkeypatch.setenv("DATABASE_URL", url)
    return url


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A SQL Server that remembers, behind a port that is open, with the tables of the others."""
    server = Server()
    names = ("File", "ClientApplicationExtractor", "Documents", "ExtractedEntities")
    server.rows["TABLES"] = [(name,) for name in names]
    monkeypatch.setitem(
        sys.modules, "pyodbc", fake_pyodbc(server, ("ODBC Driver 18 for SQL Server",))
    )
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        monkeypatch.setenv("DATABASE_URL", f"mssql+pyodbc://me:secret@127.0.0.1:{port}/extractor")
        yield server


def test_a_database_that_answers_is_reached(sqlite: str) -> None:
    assert main(["reach"]) == 0


def test_a_firewall_in_the_way_tells_the_address_to_let_in(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    server.login_failures.append(ProgrammingError("42000", STOPPED))

    assert main(["reach"]) == 3

    assert capsys.readouterr().out == "203.0.113.7\n"


def test_a_server_that_is_not_seen_from_here_is_told_where_to_run(
    monkeypatch: pytest.MonkeyPatch, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("DATABASE_URL", f"mssql+pyodbc://@127.0.0.1:{port}/extractor")

    assert main(["reach"]) == 1

    assert (
        "Behind a private endpoint only machines in its network see it" in capsys.readouterr().err
    )
    assert server.logins == []


def test_a_login_that_is_refused_is_told_without_the_secret(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    server.login_failures.append(ProgrammingError("28000", "Login failed for user '<token>'."))

    assert main(["reach"]) == 1

    said = capsys.readouterr().err
    assert "Login failed for user" in said
    assert "secret" not in said


def test_a_machine_without_the_driver_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyodbc", fake_pyodbc(server, ()))

    assert main(["reach"]) == 1

    assert "Install ODBC Driver 18" in capsys.readouterr().err


def test_tables_of_others_that_are_missing_are_named(
    sqlite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check"]) == 1

    said = capsys.readouterr().err
    assert "file.File" in said
    assert "registration.ClientApplicationExtractor" in said
    assert "python -m infra.database stand-ins" in said


def test_stand_ins_make_an_environment_without_them_complete(sqlite: str) -> None:
    assert main(["stand-ins"]) == 0

    assert main(["check"]) == 0


def test_the_revision_is_told(sqlite: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["revision"])
    engine = create_engine(sqlite)
    create_read_only_tables(engine)
    engine.dispose()
    upgrade(sqlite)
    main(["revision"])

    before, after = capsys.readouterr().out.split()
    assert before == "none"
    assert after == ScriptDirectory(str(MIGRATIONS)).get_current_head()


def test_stand_ins_on_a_sql_server_lie_in_their_schemas(server: Server) -> None:
    assert main(["stand-ins"]) == 0

    statements = [each.sql for each in server.executed]
    assert any("CREATE SCHEMA [file]" in each for each in statements)
    assert any("CREATE SCHEMA [registration]" in each for each in statements)
    assert not [each for each in statements if "CREATE SCHEMA [extractor]" in each]


def test_the_roles_are_set_batch_by_batch(server: Server) -> None:
    assert main(["roles", *roles()]) == 0

    ran = [each.sql for each in server.executed]
    script = batches(ROLES.read_text(), NAMES)
    assert [each for each in ran if each in script] == script


def roles() -> list[str]:
    return ["--app", NAMES["AppIdentity"], "--migration", NAMES["MigrationIdentity"]]


def test_roles_are_not_set_while_tables_of_others_are_missing(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    server.rows["TABLES"] = [("File",)]

    assert main(["roles", *roles()]) == 1

    assert "ExtractedEntities" in capsys.readouterr().err
    assert not [each for each in server.executed if "CREATE USER" in each.sql]


def test_a_server_that_refuses_a_statement_is_quoted(
    server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(sql: str) -> list[tuple[str, ...]]:
        if "CREATE ROLE" in sql:
            raise ProgrammingError("42000", "User does not have permission")
        return Server.answer(server, sql)

    monkeypatch.setattr(server, "answer", refuse)

    assert main(["roles", *roles()]) == 1

    assert "the database refuses: " in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", "x] FROM EXTERNAL PROVIDER; DROP TABLE y; --", "a'b", "-x"])
def test_what_is_no_name_of_an_identity_never_becomes_sql(server: Server, name: str) -> None:
    assert main(["roles", f"--app={name}", "--migration", "m"]) == 1

    assert not [each for each in server.executed if "CREATE USER" in each.sql]


def granted(role: str) -> set[str]:
    """What roles.sql gives to a role, without the word GRANT."""
    script = " ".join("\n".join(batches(ROLES.read_text(), NAMES)).split())
    statements = [each.strip() for each in script.split(";")]
    given = [each.split("GRANT ", 1)[1] for each in statements if "GRANT " in each]
    return {each.removesuffix(f" TO {role}") for each in given if each.endswith(f" TO {role}")}


def test_the_app_writes_its_schema_reads_four_tables_and_may_do_nothing_else() -> None:
    reads = {f"SELECT ON OBJECT::{table}" for table in READ_ONLY}

    assert granted("extractor_app") == reads | {
        "SELECT, INSERT, UPDATE, DELETE ON SCHEMA::extractor"
    }


def test_the_migration_identity_owns_the_schema_and_sees_no_data_of_others() -> None:
    script = " ".join(ROLES.read_text().split())

    assert "CREATE SCHEMA extractor AUTHORIZATION extractor_migrator" in script
    assert granted("extractor_migrator") == {
        "CREATE TABLE",
        "REFERENCES ON OBJECT::[file].[File]",
        "REFERENCES ON OBJECT::[registration].[ClientApplicationExtractor]",
    }


def test_the_users_are_of_entra_id_and_no_role_of_the_server_is_given() -> None:
    script = ROLES.read_text()

    assert script.count("FROM EXTERNAL PROVIDER;") == 2
    assert "PASSWORD" not in script
    assert "db_" not in script
