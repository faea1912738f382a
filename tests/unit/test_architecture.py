"""The rules of the layout, held by reading every import."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OUTSIDE = {"azure", "sqlalchemy", "alembic", "pyodbc", "requests", "jwt", "aiohttp", "urllib3"}

FORBIDDEN = {
    "shared/domain": {
        *OUTSIDE,
        "pydantic",
        "shared.contracts",
        "shared.services",
        "shared.adapters",
    },
    "shared/contracts": {*OUTSIDE, "shared.services", "shared.adapters", "shared.functions"},
    "shared/services": {*OUTSIDE, "shared.adapters", "shared.functions", "shared.settings"},
    "shared/adapters": {"shared.services", "shared.functions", "shared.settings"},
    "shared/functions": {"shared.adapters", "sqlalchemy", "requests"},
    "shared": {"local", "tests", "migrations"},
}
ALLOWED = {("shared/adapters", "shared.services.ports")}
"""Adapters may name the protocols that they implement, and the errors that belong to them."""


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.mark.parametrize("folder", FORBIDDEN)
def test_imports_point_one_way(folder: str) -> None:
    wrong = [
        (str(path.relative_to(ROOT)), name)
        for path in (ROOT / folder).rglob("*.py")
        for name in imports(path)
        for forbidden in FORBIDDEN[folder]
        if (name == forbidden or name.startswith(f"{forbidden}.")) and (folder, name) not in ALLOWED
    ]
    assert wrong == []


def test_threads_are_started_from_tasks_in_the_one_way_that_keeps_their_log_lines() -> None:
    ways = {"run_in_executor", "to_thread"}
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "shared").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in ways
    }
    assert found == {"shared/telemetry.py"}


def test_the_entry_file_only_registers_blueprints() -> None:
    tree = ast.parse((ROOT / "function_app.py").read_text())
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert not [name for name in imports(ROOT / "function_app.py") if name.startswith("local")]
