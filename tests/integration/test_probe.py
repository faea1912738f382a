"""The post-deployment probe sends one file through, and leaves nothing behind."""

import os
import re
import subprocess
import sys
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import select

from local.demo.file_service import CONTAINER
from local.demo.operator import Operator
from local.supervisor.environment import (
    BLOB_ACCOUNT_KEY,
    base_environment,
    blob_account_url,
    database_url,
    host_url,
    service_bus_connection,
)
from shared.adapters.database.tables import metadata
from tests.integration.whole_stack import WholeStack

ROOT = Path(__file__).parents[2]


def probe(stack: WholeStack, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the probe against the local stack, as `infra/deploy.sh` runs it against Azure."""
    settings = stack.stack.settings
    told = {
        "URL": host_url(settings),
        "API_TOKEN": Operator(settings, "deployer@example.com").token(),
        "DATABASE_URL": database_url(settings),
        "BLOB_ACCOUNT_URL": blob_account_url(settings),
        "BLOB_ACCOUNT_KEY": BLOB_ACCOUNT_KEY,
        "BLOB_CONTAINER": CONTAINER,
        "SERVICE_BUS_CONNECTION_STRING": service_bus_connection(settings),
        "PATIENCE_SECONDS": "30",
    }
    environment = {f"PROBE_{name}": value for name, value in (told | variables).items()}
    return subprocess.run(
        [sys.executable, "-m", "infra.probe"],
        cwd=ROOT,
        env=base_environment(os.environ) | environment,
        capture_output=True,
        text=True,
        timeout=100,
    )


def left_by(stack: WholeStack, printed: str, but: str = "") -> list[str]:
    """The tables that have a row of the file, client or job that the probe says it has used.

    The rows of others may come and go meanwhile.
    """
    told = re.search(r"file (\S+) of client (\S+)", printed)
    assert told, printed
    used = {*told.groups(), str(job_id(printed))} - {but}
    with stack.services.database.engine.connect() as connection:
        return [
            table.name
            for table in metadata.sorted_tables
            for row in connection.execute(select(table))
            if used & {str(value) for value in row}
        ]


def job_id(printed: str) -> UUID:
    found = re.search(r"job ([0-9a-f-]{36})", printed)
    assert found, printed
    return UUID(found[1])


@pytest.fixture(autouse=True)
def container_exists(stack: WholeStack) -> None:
    stack.services.files.store(b"makes the container", "first.txt")


def test_a_file_goes_through_a_real_extractor_and_nothing_stays(stack: WholeStack) -> None:
    done = probe(stack, EXTRACTOR_URL=stack.extraction_url, VERSION="dev", COMMIT="unknown")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "job ended" in done.stdout
    assert "Succeeded" in done.stdout
    assert stack.calls_of(job_id(done.stdout))["taken"] == 1
    assert left_by(stack, done.stdout) == []


def test_without_an_extractor_the_app_refuses_its_own_call_and_that_is_right(
    stack: WholeStack,
) -> None:
    done = probe(stack)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "refused as it must be" in done.stdout
    assert left_by(stack, done.stdout) == []


def test_a_registered_client_may_be_used(stack: WholeStack) -> None:
    client = stack.client_with(stack.extraction_url)
    done = probe(stack, CLIENT=client)

    assert done.returncode == 0, done.stdout + done.stderr
    assert f"of client {client}" in done.stdout
    assert left_by(stack, done.stdout, but=client) == []


def test_an_extractor_that_fails_fails_the_probe_and_nothing_stays(stack: WholeStack) -> None:
    done = probe(stack, EXTRACTOR_URL=f"{stack.extraction_url}?behaviour=refuse")

    assert done.returncode == 1
    assert re.search(r"FAILED +job ended .*Failed: ", done.stdout), done.stdout
    assert left_by(stack, done.stdout) == []


def test_where_the_trigger_is_switched_off_no_file_is_sent(stack: WholeStack) -> None:
    done = probe(stack, ONLY_LOOK="true")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "on_file_accepted is switched off" in done.stdout
    assert "blob uploaded" not in done.stdout


def test_another_version_than_the_deployed_one_fails_the_probe(stack: WholeStack) -> None:
    done = probe(stack, VERSION="9.9.9", PATIENCE_SECONDS="1")

    assert done.returncode == 1
    assert "the deployed version did not come in 1 s" in done.stdout
    assert "blob uploaded" not in done.stdout


def test_a_token_that_is_not_accepted_is_explained_and_not_shown(stack: WholeStack) -> None:
    done = probe(stack, API_TOKEN="not-a-token")

    assert done.returncode == 1
    assert "compare PROBE_API_SCOPE with AUTH_AUDIENCES" in done.stdout
    assert "not-a-token" not in done.stdout + done.stderr
    assert "blob uploaded" not in done.stdout
