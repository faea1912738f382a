"""Counts the recorded cases that come out alike."""

from collections import defaultdict

import pytest

from tests.recordings import MARK, summary

OUTCOMES = ("passed", "failed", "error", "xfailed")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{MARK}(recording): replays a case of that recording")


def pytest_itemcollected(item: pytest.Item) -> None:
    if "stack" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.xdist_group("stack"))  # one stack, in one process
    if mark := item.get_closest_marker(MARK):
        item.user_properties.append((MARK, mark.args[0]))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    seen = defaultdict(list)
    for outcome in OUTCOMES:
        for report in terminalreporter.getreports(outcome):
            if recording := dict(getattr(report, "user_properties", ())).get(MARK):
                seen[str(recording)].append(outcome)
    if seen:
        terminalreporter.section("recordings of the real host")
    for line in summary(seen):
        terminalreporter.line(line)
