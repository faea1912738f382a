"""The T-SQL that goes to a SQL Server is T-SQL, as far as a parser without a server can tell."""

import io
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlfluff.core import FluffConfig, Linter

from infra.database.__main__ import ROLES
from infra.database.script import batches
from tests.contract.infra.delivery.test_database import NAMES

ROOT = Path(__file__).parents[4]


def faults(script: str) -> list[str]:
    """What the parser cannot read."""
    linter = Linter(config=FluffConfig(overrides={"dialect": "tsql"}))
    return [str(each) for each in linter.parse_string(script).violations]


def migrations() -> str:
    """What `alembic upgrade head --sql` prints."""
    output = io.StringIO()
    command.upgrade(Config(ROOT / "alembic.ini", output_buffer=output), "head", sql=True)
    return output.getvalue()


def test_the_roles_are_read() -> None:
    assert faults("\nGO\n".join(batches(ROLES.read_text(), NAMES))) == []


def test_the_script_of_the_migrations_is_read() -> None:
    script = migrations()

    assert "CREATE TABLE extractor.[Job]" in script
    assert faults(script) == []


@pytest.mark.parametrize(
    "broken",
    [
        "GRANTT SELECT ON SCHEMA::extractor TO extractor_app",
        "CREATE USER [a] FROM EXTERNAL",
        "IF USER_ID(N'a') IS NULL CREATE",
        "ALTER ROLE extractor_app ADD [a]",
    ],
)
def test_what_is_broken_is_not_read(broken: str) -> None:
    assert faults(f"{broken};\n")
