"""Finished instances cost no time: no query of the engine goes through a whole table."""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import azure.durable_functions as df
import pytest

from local.durable.database import Database
from local.durable.events import RuntimeStatus
from local.durable.instances import Query
from tests.contract.durable.conftest import MakeHub


class AnyName(dict[str, None]):
    """Binds every name to nothing."""

    def __missing__(self, name: str) -> None:
        return None


def plan(connection: sqlite3.Connection, sql: str) -> list[str]:
    """The steps that SQLite takes for a statement."""
    marks = re.findall(r"\?(\d*)", sql)
    count = max([int(mark) for mark in marks if mark], default=len(marks))
    values = AnyName() if ":" in sql else [None] * count
    rows = connection.execute(f"EXPLAIN QUERY PLAN {sql}", values).fetchall()
    return [row[3] for row in rows]


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Every statement that goes to the store from here on."""
    seen: set[str] = set()

    def recorded(method: Callable[..., Any]) -> Callable[..., Any]:
        def record(database: Database, sql: str, *values: Any) -> Any:
            seen.add(sql)
            return method(database, sql, *values)

        return record

    for name in ("execute", "execute_many", "rows", "row"):
        monkeypatch.setattr(Database, name, recorded(getattr(Database, name)))
    return seen


async def test_every_statement_uses_an_index(
    make_hub: MakeHub, tmp_path: Path, statements: set[str]
) -> None:
    # Given an orchestration that uses everything there is
    def echo(value: Any) -> Any:
        return value

    def child(context: df.DurableOrchestrationContext) -> Any:
        return context.get_input()

    def everything(context: df.DurableOrchestrationContext) -> Any:
        yield context.call_activity("echo", 1)
        yield context.call_sub_orchestrator("child", 1)
        timer = context.create_timer(context.current_utc_datetime + timedelta(hours=1))
        yield context.task_any([context.wait_for_external_event("Go"), timer])
        timer.cancel()
        yield context.create_timer(context.current_utc_datetime)
        if context.get_input() != "again":
            context.continue_as_new("again")

    hub = await make_hub(everything, child, activities=[echo])

    # When it runs, and clients do everything that they can
    await hub.start("everything", "first", "it")
    for calls_before_the_wait in (3, 8):
        await hub.waiting("it", calls_before_the_wait)
        await hub.client.raise_event("it", "Go", 1)
    await hub.ended("it")
    await hub.history("it")
    hub.engine.instances.list(Query(statuses=[RuntimeStatus.Running], id_prefix="it"))
    hub.engine.instances.list(Query(id_prefix="it"))
    hub.engine.instances.purge_all(datetime.now(UTC) - timedelta(hours=1), datetime.now(UTC))

    # Then no statement scans a table of which rows of finished instances are a part
    asked = [sql for sql in statements if re.match(r"\s*(SELECT|UPDATE|DELETE|INSERT)", sql)]
    assert len(asked) > 20
    with closing(sqlite3.connect(tmp_path / "hub.db")) as connection:
        for sql in asked:
            scans = [step for step in plan(connection, sql) if step.startswith("SCAN")]
            allowed = ("SCAN json_each", "SCAN inbox USING", "SCAN sqlite_master")
            assert all(step.startswith(allowed) for step in scans), (sql, scans)
