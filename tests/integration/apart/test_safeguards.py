"""The proof proves something: without any one safeguard, the check of the chaos runs turns red.

Each run has a copy of the app with its pauses cut to seconds, in which the moments that matter
last longer. With every safeguard on, all attacks together do no harm. The filtered index, which
SQLite's one lock never lets anyone meet, has its test in `tests/unit/chaos`.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.chaos.app_copy import Patch, copy_app
from tests.chaos.check import check
from tests.chaos.hurry import HURRIED, HURRY
from tests.chaos.safeguards import RECONCILIATION, SAFEGUARDS, WIDER, Aim, Safeguard
from tests.chaos.settling import settle
from tests.chaos.stack import chaos_stack
from tests.chaos.topics import Topics

SETTLING_SECONDS = 60.0
STUCK_SECONDS = 5.0
"""Longer than a lock, and than what follows its end: what has not moved for so long is stuck."""
RECONCILE_SECONDS = 2.0
"""Between two passes, where reconciliation is what is judged; else there is none."""

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


def test_with_every_safeguard_all_attacks_do_no_harm(tmp_path: Path) -> None:
    with aimed_at(tmp_path) as aim:
        for safeguard in SAFEGUARDS:
            safeguard.attack(aim)
        left = settle(aim.stack, aim.sent, SETTLING_SECONDS)
        assert not left, f"not over without reconciliation: {left}"
        RECONCILIATION.attack(aim)
        left = settle(aim.stack, aim.sent, SETTLING_SECONDS, reconcile_every=RECONCILE_SECONDS)
        findings = check(aim.stack, aim.sent, left)
    assert findings.clean, str(findings)


@pytest.mark.parametrize("safeguard", SAFEGUARDS, ids=lambda safeguard: safeguard.name)
def test_without_it_and_without_reconciliation_the_check_turns_red(
    safeguard: Safeguard, tmp_path: Path
) -> None:
    with aimed_at(tmp_path, safeguard.off) as aim:
        safeguard.attack(aim)
        left = settle(aim.stack, aim.sent, SETTLING_SECONDS, STUCK_SECONDS)
        findings = check(aim.stack, aim.sent, left)
    assert re.search(safeguard.finds, str(findings), re.MULTILINE), str(findings)


def test_without_reconciliation_the_check_turns_red(tmp_path: Path) -> None:
    with aimed_at(tmp_path, RECONCILIATION.off) as aim:
        RECONCILIATION.attack(aim)
        left = settle(aim.stack, aim.sent, SETTLING_SECONDS, STUCK_SECONDS, RECONCILE_SECONDS)
        findings = check(aim.stack, aim.sent, left)
    assert re.search(RECONCILIATION.finds, str(findings), re.MULTILINE), str(findings)


def test_a_patch_that_no_longer_fits_says_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="0 times"):
        copy_app(tmp_path / "app", [Patch("host.json", "no such text", "")])
