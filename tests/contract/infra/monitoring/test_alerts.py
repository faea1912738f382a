"""Every alert says what it means and where to read on, and asks for what there is."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.contract.infra.compiler import Compiler
from tests.contract.infra.monitoring.predicted import GROUP, predict
from tests.contract.infra.monitoring.queries import HERE, QUERIES, ROOT, Analysis

pytestmark = pytest.mark.xdist_group("monitoring")  # what is made once is made in one process

Resource = dict[str, Any]

KNOWN: Mapping[str, Mapping[str, Any]] = json.loads((HERE / "metrics.json").read_text())["metrics"]
RUNBOOK = "docs/operations/runbook.md"
WEB_TEST = "Microsoft.Azure.Monitor.WebtestLocationAvailabilityCriteria"


@pytest.fixture
def on_logs(alerts: list[Resource]) -> list[Resource]:
    return [each for each in alerts if each["type"] == "Microsoft.Insights/scheduledQueryRules"]


@pytest.fixture
def on_metrics(alerts: list[Resource]) -> list[Resource]:
    """The rules about metrics of resources; the one about the probe has a form of its own."""
    rules = [each for each in alerts if each["type"] == "Microsoft.Insights/metricAlerts"]
    return [each for each in rules if criteria(each)["odata.type"] != WEB_TEST]


@pytest.fixture
def rules(alerts: list[Resource]) -> list[Resource]:
    return [each for each in alerts if "severity" in each["properties"]]


def criteria(rule: Resource) -> Any:
    return rule["properties"]["criteria"]


def criterion(rule: Resource) -> Any:
    (only,) = criteria(rule)["allOf"]
    return only


def names(rules: list[Resource]) -> set[str]:
    return {rule["name"].removeprefix("extractor-qa-") for rule in rules}


def sections(page: str) -> set[str]:
    """The anchors of a Markdown page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_everything_that_was_asked_for_is_watched(rules: list[Resource]) -> None:
    assert names(rules) >= {
        "dead-letters",
        "messages-growing",
        "function-failures",
        "jobs-stuck",
        "jobs-failing",
        "restart-errors",
        "restart-latency",
        "service-bus-server-errors",
        "service-bus-throttling",
        "sql-cpu",
        "sql-storage",
        "sql-connections",
        "sql-deadlocks",
        "host-storage",
        "documents-storage",
        "key-vault",
        "probe",
        "reconciliation-silent",
    }


def test_every_rule_has_a_severity_and_ends_by_itself(rules: list[Resource]) -> None:
    assert len(names(rules)) == len(rules)
    for rule in rules:
        assert rule["properties"]["severity"] in {1, 2, 3}, rule["name"]
        assert rule["properties"]["autoMitigate"] is True, rule["name"]
        assert rule["properties"]["enabled"] is True, rule["name"]


def test_every_rule_reaches_the_people_and_services_of_the_action_group(
    alerts: list[Resource], rules: list[Resource]
) -> None:
    (group,) = [each for each in alerts if each["type"] == "Microsoft.Insights/actionGroups"]
    properties = group["properties"]
    assert [each["emailAddress"] for each in properties["emailReceivers"]] == ["team@example.com"]
    assert [each["serviceUri"] for each in properties["webhookReceivers"]] == [
        "https://hooks.example.com/alerts"
    ]
    assert len(properties["groupShortName"]) <= 12
    for rule in rules:
        actions = rule["properties"]["actions"]
        reached = (
            actions["actionGroups"]
            if isinstance(actions, dict)
            else [each["actionGroupId"] for each in actions]
        )
        assert reached == [group["id"]], rule["name"]


def test_every_rule_says_what_it_means_and_names_a_section_of_the_runbook(
    rules: list[Resource],
) -> None:
    known = sections((ROOT / RUNBOOK).read_text())
    for rule in rules:
        means, _, place = rule["properties"]["description"].partition(" Runbook: ")
        page, _, section = place.partition("#")
        assert means.endswith("."), rule["name"]
        assert page == RUNBOOK, rule["name"]
        assert section in known, rule["name"]


def test_rules_on_metrics_ask_for_metrics_that_their_resource_has(
    on_metrics: list[Resource],
) -> None:
    for rule in on_metrics:
        (scope,) = rule["properties"]["scopes"]
        asked = criterion(rule)
        known = KNOWN[resource_type(scope)][asked["metricName"]]
        assert asked["timeAggregation"] in known["aggregations"], rule["name"]
        for dimension in asked["dimensions"]:
            assert dimension["name"] in known["dimensions"], rule["name"]


def resource_type(id_: str) -> str:
    """`Microsoft.Sql/servers/databases` of `…/providers/Microsoft.Sql/servers/x/databases/y`."""
    provider, *pairs = id_.partition("/providers/")[2].split("/")
    return "/".join([provider, *pairs[::2]])


def test_dead_letters_alert_by_topic_at_the_first_one(on_metrics: list[Resource]) -> None:
    (rule,) = [each for each in on_metrics if each["name"].endswith("-dead-letters")]
    asked = criterion(rule)
    assert (asked["timeAggregation"], asked["threshold"]) == ("Maximum", 0)
    assert asked["dimensions"] == [{"name": "EntityName", "values": ["*"], "operator": "Include"}]


def test_windows_are_whole_numbers_of_evaluations(rules: list[Resource]) -> None:
    for rule in rules:
        window = minutes(rule["properties"]["windowSize"])
        every = minutes(rule["properties"]["evaluationFrequency"])
        assert every >= 5, rule["name"]
        assert window % every == 0, rule["name"]


def minutes(duration: str) -> int:
    hours, mins = re.fullmatch(r"PT(?:(\d+)H)?(?:(\d+)M)?", duration).groups()  # type: ignore[union-attr]
    return int(hours or 0) * 60 + int(mins or 0)


def test_rules_on_the_log_run_the_queries_as_they_stand(on_logs: list[Resource]) -> None:
    assert {criterion(rule)["query"] for rule in on_logs} <= set(QUERIES.values())
    for rule in on_logs:
        assert rule["properties"]["scopes"] == [
            f"{GROUP}/providers/Microsoft.OperationalInsights/workspaces/log"
        ]


def test_rules_on_the_log_compare_a_number_that_their_query_answers(
    on_logs: list[Resource], analyses: Mapping[str, Analysis]
) -> None:
    by_text = {text: analyses[name] for name, text in QUERIES.items()}
    for rule in on_logs:
        asked = criterion(rule)
        columns = by_text[asked["query"]].columns
        assert columns[asked["metricMeasureColumn"]] in {"int", "long", "real"}, rule["name"]
        for dimension in asked["dimensions"]:
            assert columns[dimension["name"]] == "string", rule["name"]


def test_the_probe_asks_whether_the_app_is_ready(alerts: list[Resource]) -> None:
    (probe,) = [each for each in alerts if each["type"] == "Microsoft.Insights/webtests"]
    assert probe["properties"]["Request"]["RequestUrl"] == "https://func.example.net/health/ready"
    assert probe["properties"]["ValidationRules"]["ExpectedHttpStatusCode"] == 200
    assert len(probe["properties"]["Locations"]) > 2


def test_what_is_not_reached_or_belongs_to_others_is_not_watched_from_outside(
    compiler: Compiler, tmp_path: Path
) -> None:
    found = predict(compiler, "alerts", tmp_path, probedFromOutside=False, sqlDatabaseId="")
    assert not [each for each in found if each["type"] == "Microsoft.Insights/webtests"]
    assert not [each for each in names(found) if each == "probe" or each.startswith("sql-")]
    assert {"not-ready", "reconciliation-silent", "key-vault"} <= names(found)
