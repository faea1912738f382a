"""SQL and queries on the pages are read by the parsers of their languages."""

from sqlfluff.core import FluffConfig, Linter

from tests.contract.infra.monitoring.queries import analyze
from tests.pages import DOCS, blocks, name_of, pages


def shown(language: str) -> dict[str, str]:
    """The blocks in a language, by their places."""
    return {
        f"{name_of(page)}:{block.line}": block.text
        for page in pages(DOCS / "operations")
        for block in blocks(page)
        if block.info == language
    }


def test_every_statement_is_tsql() -> None:
    linter = Linter(config=FluffConfig(overrides={"dialect": "tsql"}))
    statements = shown("sql")
    faults = {place: linter.parse_string(text).violations for place, text in statements.items()}
    assert len(statements) >= 5
    assert {place: str(found) for place, found in faults.items() if found} == {}


def test_what_is_no_tsql_is_told() -> None:
    linter = Linter(config=FluffConfig(overrides={"dialect": "tsql"}))
    assert linter.parse_string("DELETE FROM WHERE x = ;").violations


def test_every_query_is_one_that_the_workspace_takes() -> None:
    queries = shown("kusto")
    problems = {place: said.problems for place, said in analyze(queries).items()}
    assert len(queries) >= 3
    assert {place: found for place, found in problems.items() if found} == {}
