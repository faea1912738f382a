"""The workbook shows every section, with the queries as they stand and its ids filled in."""

import json
from typing import Any
from uuid import UUID

import pytest

from tests.contract.infra.monitoring.predicted import GROUP
from tests.contract.infra.monitoring.queries import QUERIES
from tests.contract.infra.monitoring.test_alerts import KNOWN

pytestmark = pytest.mark.xdist_group("monitoring")  # what is made once is made in one process

TEXT, QUERY, PARAMETERS, METRICS = 1, 3, 9, 10
AGGREGATIONS = {1: "Total", 2: "Minimum", 3: "Maximum", 4: "Average", 7: "Count"}
WORKSPACE = f"{GROUP}/providers/Microsoft.OperationalInsights/workspaces/log"
NAMESPACE = f"{GROUP}/providers/Microsoft.ServiceBus/namespaces/bus"


@pytest.fixture
def sheet(workbook: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(workbook["properties"]["serializedData"])
    return found


@pytest.fixture
def items(sheet: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {each["name"]: each for each in sheet["items"]}
    assert len(found) == len(sheet["items"])
    return found


def test_it_is_one_workbook_that_people_share(workbook: dict[str, Any]) -> None:
    assert UUID(workbook["name"])
    assert workbook["kind"] == "shared"
    source = f"{GROUP}/providers/Microsoft.Insights/components/appi"
    assert workbook["properties"]["sourceId"] == source


def test_no_id_is_left_to_be_filled_in(workbook: dict[str, Any]) -> None:
    assert "__" not in workbook["properties"]["serializedData"]


def test_every_query_is_shown_as_it_stands_and_asks_the_workspace(
    items: dict[str, dict[str, Any]],
) -> None:
    asked = {name: each["content"] for name, each in items.items() if each["type"] == QUERY}
    assert asked
    for name, content in asked.items():
        assert content["query"] == QUERIES[name]
        assert content["crossComponentResources"] == [WORKSPACE]
        assert content["resourceType"] == "microsoft.operationalinsights/workspaces"
        assert content["title"]


def test_every_metric_is_one_that_the_namespace_has(items: dict[str, dict[str, Any]]) -> None:
    known = KNOWN["Microsoft.ServiceBus/namespaces"]
    charts = [each["content"] for each in items.values() if each["type"] == METRICS]
    assert charts
    for chart in charts:
        assert chart["resourceIds"] == [NAMESPACE]
        for metric in chart["metrics"]:
            name = metric["metric"].removeprefix("microsoft.servicebus/namespaces--")
            assert AGGREGATIONS[metric["aggregation"]] in known[name]["aggregations"]
            assert metric["splitBy"] in {None, *known[name]["dimensions"]}


def test_everything_follows_the_one_time_range(items: dict[str, dict[str, Any]]) -> None:
    (parameters,) = [each["content"] for each in items.values() if each["type"] == PARAMETERS]
    assert [each["name"] for each in parameters["parameters"]] == ["TimeRange"]
    for each in items.values():
        if each["type"] in {QUERY, METRICS}:
            assert each["content"]["timeContextFromParameter"] == "TimeRange", each["name"]


def test_every_section_that_was_asked_for_is_there(items: dict[str, dict[str, Any]]) -> None:
    assert set(items) >= {
        "success-metrics",
        "jobs-by-state",
        "job-durations",
        "retries",
        "dead letters",
        "extractors",
        "restart",
        "executions",
        "ingestion",
    }
    headings = [each["content"]["json"] for each in items.values() if each["type"] == TEXT]
    assert all(heading.startswith("#") for heading in headings)
