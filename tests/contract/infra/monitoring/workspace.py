"""A workspace in memory: the tables that Application Insights has, asked in KQL."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb_kql

from tests.contract.infra.monitoring.queries import QUERIES, TABLES

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)

TYPES = {
    "bool": "BOOLEAN",
    "datetime": "TIMESTAMP",
    "dynamic": "JSON",
    "int": "INTEGER",
    "long": "BIGINT",
    "real": "DOUBLE",
    "string": "VARCHAR",
}


class Workspace:
    """`add` puts a row into a table, at a number of minutes after noon; `ask` runs a query."""

    def __init__(self) -> None:
        self._connection = duckdb_kql.connect()
        for table, columns in TABLES.items():
            shape = ", ".join(f'"{name}" {TYPES[type_]}' for name, type_ in columns.items())
            self._connection.execute(f"CREATE TABLE {table} ({shape})")

    def add(self, table: str, minute: float = 0, **values: Any) -> None:
        values["TimeGenerated"] = (NOON + timedelta(minutes=minute)).replace(tzinfo=None)
        names = ", ".join(f'"{name}"' for name in values)
        marks = ", ".join("?" for _ in values)
        statement = f"INSERT INTO {table} ({names}) VALUES ({marks})"
        self._connection.execute(statement, list(values.values()))

    def line(self, event: str, minute: float = 0, **facts: Any) -> None:
        """A line of ours, as the Functions host hands it on."""
        self.add("AppTraces", minute, Message=f"{event} {json.dumps(facts)}", OperationName="f")

    def request(
        self, name: str, code: int = 200, minute: float = 0, ms: float = 100, success: bool = True
    ) -> None:
        """A call of a function. Its success says whether it raised, whatever it answered."""
        values = {"Name": name, "ResultCode": str(code), "DurationMs": ms, "Success": success}
        self.add("AppRequests", minute, **values)

    def ask(self, query: str) -> list[dict[str, Any]]:
        """The rows that a query of ours answers, by its name."""
        answer = duckdb_kql.query(self._connection, QUERIES[query])
        columns = [str(each[0]) for each in answer.description]
        return [dict(zip(columns, row, strict=True)) for row in answer.fetchall()]
