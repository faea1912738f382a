"""`docs/operations/monitoring.md` tells what is deployed, and what is logged."""

import re
from typing import Any

import pytest

from tests.contract.infra.monitoring.a_day import Line
from tests.contract.infra.monitoring.queries import ROOT
from tests.contract.infra.monitoring.test_alerts import criteria, minutes

pytestmark = pytest.mark.xdist_group("monitoring")  # what is made once is made in one process

PAGE = (ROOT / "docs/operations/monitoring.md").read_text()


def rows(section: str) -> list[list[str]]:
    """The cells of the table below a heading."""
    text = PAGE.split(f"\n{section}\n", 1)[1].split("\n#", 1)[0]
    table = [line for line in text.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


@pytest.fixture
def told() -> dict[str, list[str]]:
    """The rows about alerts, by the name of the alert."""
    found = rows("### On the log") + rows("### On metrics")
    return {row[0].strip("`"): row for row in found}


@pytest.fixture
def rules(alerts: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        each["name"].removeprefix("extractor-qa-"): each
        for each in alerts
        if "severity" in each["properties"]
    }


def test_every_alert_is_told_with_its_severity_and_its_section(
    rules: dict[str, dict[str, Any]], told: dict[str, list[str]]
) -> None:
    assert set(told) == set(rules)
    for name, rule in rules.items():
        _, severity, _, runbook = told[name]
        assert severity == str(rule["properties"]["severity"]), name
        section = rule["properties"]["description"].partition("#")[2]
        assert runbook.endswith(f"(runbook.md#{section})"), name


def test_thresholds_and_windows_are_told(
    rules: dict[str, dict[str, Any]], told: dict[str, list[str]]
) -> None:
    for name, rule in rules.items():
        for asked in criteria(rule).get("allOf", []):
            numbers = {int(number) for number in re.findall(r"\d+", told[name][2])}
            threshold = asked.get("threshold", 0)
            assert threshold in {0, 1} | numbers, name
            window = minutes(rule["properties"]["windowSize"])
            told_window = f"{window} minutes" if window < 60 else "an hour"
            instant = name in {"dead-letters", "messages-growing", "sql-storage"}
            assert instant or told_window in told[name][2], name


def test_every_section_of_the_workbook_is_told(workbook: dict[str, Any]) -> None:
    headings = re.findall(r'"## ([^"\\]+)"', workbook["properties"]["serializedData"])
    assert [row[0] for row in rows("## The workbook")] == headings


def test_every_event_of_a_day_is_told_with_facts_that_it_has(lines: list[Line]) -> None:
    told = {name: row[1] for row in rows("## Read the log") for name in _events(row[0])}
    assert {line.event for line in lines} <= set(told)
    for event in {line.event for line in lines}:
        facts = {fact for line in lines if line.event == event for fact in line.facts}
        named = set(re.findall(r"`(\w+)`", told[event]))
        optional = {"reason", "actor"}
        assert named - facts <= optional, event


def _events(cell: str) -> list[str]:
    """`Dead letter handled, kept` are two events: a later one may lack the first's words."""
    first, *others = cell.split(", ")
    words = first.rsplit(" ", 1)[0]
    return [first, *(other if other[0].isupper() else f"{words} {other}" for other in others)]
