"""Shares the tests among processes, and counts the recorded cases that come out alike."""

from collections import defaultdict

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tests.recordings import MARK, summary

SHARED = (
    "tests/integration/test_",
    "tests/integration/apart/test_two_hosts",
    "tests/contract/infra/",
)
"""The beginnings of their names: a whole stack, a compiler. Others in `apart` share nothing."""
OUTCOMES = ("passed", "failed", "error", "xfailed")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{MARK}(recording): replays a case of that recording")


class SharedGoTogether(LoadScopeScheduling):
    """Tests that share something costly go to one process, any other to whichever is free."""

    def _split_scope(self, nodeid: str) -> str:
        return next(filter(nodeid.startswith, SHARED), nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> SharedGoTogether:
    return SharedGoTogether(config, log)


def pytest_itemcollected(item: pytest.Item) -> None:
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
