"""The proof proves something: without any one safeguard, the check of the chaos runs turns red.

Each run has a copy of the app with its pauses cut to seconds, in which the moments that matter
last longer. With every safeguard on, all attacks together do no harm. The filtered index, which
SQLite's one lock never lets anyone meet, has its test in `tests/unit/chaos`.
"""

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.chaos.app_copy import Patch, copy_app
from tests.chaos.check import check
from tests.chaos.hurry import HURRIED, HURRY
from tests.chaos.safeguards import SAFEGUARDS, WIDER, Aim, Safeguard
from tests.chaos.settling import Left, settle
from tests.chaos.stack import chaos_stack
from tests.chaos.topics import Topics

SETTLING_SECONDS = 60.0
STUCK_SECONDS = 6.0
"""Longer than a lock, and than what follows its end: what has not moved for so long is stuck."""
RECONCILE_SECONDS = 2.0

# The SDK leaves the sockets of connections that broke to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@contextmanager
def aimed_at(folder: Path, off: Sequence[Patch] = ()) -> Iterator[Aim]:
    patches = (*(patch for patch in HURRY if "schedule" not in patch.old), *WIDER, *off)
    with (
        chaos_stack(folder, HURRIED, patches, without=["blob"]) as stack,
        Topics(stack.service_bus) as topics,
    ):
        yield Aim(stack, topics)


def attacked(aim: Aim, safeguard: Safeguard, unchanged: float = math.inf) -> Left:
    """What is left after the attack; reconciliation is started only where it is what is judged."""
    safeguard.attack(aim)
    every = RECONCILE_SECONDS if safeguard.name == "reconciliation" else SETTLING_SECONDS
    return settle(aim.stack, aim.sent, SETTLING_SECONDS, unchanged, every)


def test_with_every_safeguard_all_attacks_do_no_harm(tmp_path: Path) -> None:
    with aimed_at(tmp_path) as aim:
        for safeguard in SAFEGUARDS:
            left = attacked(aim, safeguard)
            assert not left, f"{safeguard.name}: {left}"
        findings = check(aim.stack, aim.sent, left)
    assert findings.clean, str(findings)


@pytest.mark.parametrize("safeguard", SAFEGUARDS, ids=lambda safeguard: safeguard.name)
def test_without_it_the_check_turns_red(safeguard: Safeguard, tmp_path: Path) -> None:
    with aimed_at(tmp_path, safeguard.off) as aim:
        left = attacked(aim, safeguard, STUCK_SECONDS)
        findings = check(aim.stack, aim.sent, left)
    assert re.search(safeguard.finds, str(findings), re.MULTILINE), str(findings)


def test_a_patch_that_no_longer_fits_says_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="0 times"):
        copy_app(tmp_path / "app", [Patch("host.json", "no such text", "")])
