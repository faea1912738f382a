"""The queries are KQL that a workspace of Application Insights understands, and each is used."""

from collections.abc import Mapping

import pytest

from tests.contract.infra.monitoring.queries import MONITORING, QUERIES, WRONG, Analysis

pytestmark = pytest.mark.xdist_group("monitoring")  # what is made once is made in one process


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_names_only_what_the_workspace_has(
    analyses: Mapping[str, Analysis], name: str
) -> None:
    assert analyses[name].problems == []
    assert analyses[name].tables


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(analyses: Mapping[str, Analysis], name: str) -> None:
    assert analyses[name].problems


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_says_in_its_first_line_what_it_answers(name: str) -> None:
    assert QUERIES[name].startswith("// ")


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_is_used_by_an_alert_or_by_the_workbook(name: str) -> None:
    users = [MONITORING / "log-alerts.bicep", MONITORING.parent / "modules" / "workbook.bicep"]
    assert any(f"queries/{name}.kql'" in user.read_text() for user in users)
