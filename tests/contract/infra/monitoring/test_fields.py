"""What the queries read of our log is what the service writes."""

from collections import defaultdict
from collections.abc import Mapping

import pytest

from tests.contract.infra.monitoring.a_day import Line
from tests.contract.infra.monitoring.queries import QUERIES, Analysis
from tests.contract.infra.monitoring.workspace import Workspace
from tests.unit.functions.app_functions import http_functions

pytestmark = pytest.mark.xdist_group("monitoring")  # what is made once is made in one process


@pytest.fixture(scope="session")
def written(lines: list[Line]) -> Mapping[str, set[str]]:
    """The facts of every event that was logged."""
    found: dict[str, set[str]] = defaultdict(set)
    for line in lines:
        found[line.event] |= set(line.facts)
    return found


@pytest.mark.parametrize("name", QUERIES)
def test_every_event_that_a_query_names_is_logged(
    analyses: Mapping[str, Analysis], written: Mapping[str, set[str]], name: str
) -> None:
    assert analyses[name].events <= set(written)


@pytest.mark.parametrize("name", QUERIES)
def test_every_fact_that_a_query_reads_is_written_with_each_event_that_it_names(
    analyses: Mapping[str, Analysis], written: Mapping[str, set[str]], name: str
) -> None:
    missing = [
        (event, fact)
        for statement in analyses[name].statements
        for event in statement.events
        for fact in statement.facts
        if fact not in written[event]
    ]
    assert missing == []


@pytest.mark.parametrize("name", QUERIES)
def test_facts_are_read_of_named_events_only(analyses: Mapping[str, Analysis], name: str) -> None:
    assert [each for each in analyses[name].statements if each.facts and not each.events] == []


def test_the_queries_read_our_log_at_all(analyses: Mapping[str, Analysis]) -> None:
    assert len({event for analysis in analyses.values() for event in analysis.events}) > 10


@pytest.fixture(scope="session")
def day(lines: list[Line]) -> Workspace:
    """A workspace with the day's log."""
    workspace = Workspace()
    for minute, line in enumerate(lines):
        workspace.add("AppTraces", minute, Message=line.message, OperationName="f")
    return workspace


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_about_our_log_runs_on_a_day_of_it(
    analyses: Mapping[str, Analysis], day: Workspace, name: str
) -> None:
    rows = day.ask(name)
    assert all(set(row) == set(analyses[name].columns) for row in rows)
    rare = {"jobs-failing", "calls-failing"}  # they need ten jobs
    assert rows or not analyses[name].events or name in rare


def test_the_functions_that_queries_name_are_those_of_the_app() -> None:
    assert {"restart_extraction", "health_ready"} <= set(http_functions())
