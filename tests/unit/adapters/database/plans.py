"""How SQLite goes about the statements of a unit of work."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import event

from shared.adapters.database import SqlDatabase
from shared.adapters.database.transactions import SqlTransaction


def statements(
    database: SqlDatabase, unit: Callable[[SqlTransaction], object]
) -> list[tuple[str, tuple[Any, ...]]]:
    """What the unit executed, with the parameters."""
    seen: list[tuple[str, tuple[Any, ...]]] = []

    def note(_: Any, __: Any, sql: str, parameters: tuple[Any, ...], *___: Any) -> None:
        if not sql.startswith("BEGIN"):
            seen.append((sql, parameters))

    event.listen(database.engine, "before_cursor_execute", note)
    try:
        database.run(unit)
    finally:
        event.remove(database.engine, "before_cursor_execute", note)
    return seen


def plan(database: SqlDatabase, unit: Callable[[SqlTransaction], object]) -> str:
    """The steps of every statement of the unit: what is searched or scanned, by which index."""
    executed = statements(database, unit)
    with database.engine.begin() as connection:
        steps = [
            row.detail
            for sql, parameters in executed
            for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", parameters)
        ]
    return "\n".join(steps)
