"""The short form of the chaos run, with the app's pauses cut to seconds."""

from pathlib import Path

import pytest

from tests.chaos.hurry import HURRIED, HURRY
from tests.chaos.run import run_chaos
from tests.chaos.stack import chaos_stack
from tests.chaos.timing import SHORT

FILES = 60
SEED = 7
LEAST_KILLS = 5
"""In flight, in so short a time; `make chaos` wants 50."""

# The SDK leaves the sockets of connections that broke to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.timeout(300),
]


def test_whatever_fails_every_file_ends_once_and_everyone_hears_of_it(tmp_path: Path) -> None:
    with chaos_stack(tmp_path, HURRIED, HURRY) as stack:
        report = run_chaos(stack, FILES, SEED, SHORT)
    assert report.kills_in_flight >= LEAST_KILLS, f"such a run proves nothing\n{report}"
    assert report.findings.clean, str(report)
