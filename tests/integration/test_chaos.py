"""The short form of the chaos run: parts die at random, and nothing is lost, doubled or stuck."""

from pathlib import Path

import pytest

from tests.chaos import chaos_stack, run_chaos

FILES = 30
SEED = 7

# The SDK leaves the sockets of connections that broke to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.timeout(300),
]


def test_files_that_go_through_while_parts_die_each_end_once(tmp_path: Path) -> None:
    with chaos_stack(tmp_path) as stack:
        report = run_chaos(stack, FILES, SEED)
    assert report.kills.total() >= 3, "a run without kills proves nothing"
    assert report.clean, str(report)
