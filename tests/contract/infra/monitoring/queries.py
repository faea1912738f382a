"""The queries of alerts and workbook, and what Microsoft's language service says of them."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[3]
MONITORING = ROOT / "infra" / "monitoring"
LIBRARY = ROOT / "node_modules" / "@kusto" / "language-service-next"

QUERIES = {path.stem: path.read_text() for path in sorted(MONITORING.glob("queries/*.kql"))}
TABLES: Mapping[str, Mapping[str, str]] = json.loads((HERE / "tables.json").read_text())["tables"]

WRONG = {
    "an unknown column": "AppTraces | where Mesage == ''",
    "an unknown function": "AppTraces | summarize frequency(Message)",
    "a table of Application Insights itself": "traces | where message == ''",
    "a broken text": "AppTraces | where Message ==",
}
"""Read with the queries, to see that the language service would say so."""


@dataclass(frozen=True)
class Statement:
    """Part of a query: the lines of which events it takes, and which facts it reads of them."""

    events: tuple[str, ...]
    facts: tuple[str, ...]


@dataclass(frozen=True)
class Analysis:
    """What a query is: `columns` are those of its result, with their types."""

    problems: list[str]
    columns: Mapping[str, str]
    tables: list[str]
    statements: list[Statement]

    @property
    def events(self) -> set[str]:
        return {event for statement in self.statements for event in statement.events}


def analyze(queries: Mapping[str, str]) -> dict[str, Analysis]:
    """Let the language service read queries. Skips the test when npm has not installed it."""
    if not LIBRARY.exists():
        pytest.skip("@kusto/language-service-next is not installed: run make install")
    given = json.dumps({"tables": TABLES, "queries": dict(queries)})
    done = subprocess.run(
        ["node", str(HERE / "analyze.js"), str(LIBRARY)],
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {name: _analysis(said) for name, said in json.loads(done.stdout).items()}


def _analysis(said: dict[str, Any]) -> Analysis:
    statements = [
        Statement(
            events=tuple(text.removesuffix(" {") for text in each["texts"] if text.endswith(" {")),
            facts=tuple(each["facts"]),
        )
        for each in said["statements"]
    ]
    return Analysis(said["problems"], said["columns"], said["tables"], statements)
