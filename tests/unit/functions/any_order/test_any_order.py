"""Whatever happens in whatever order, and wherever the process dies: every file ends once."""

from collections.abc import Callable

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from shared.adapters.database import jobs
from shared.adapters.database.retries import SqlRetries
from shared.domain.jobs import JobStatus
from tests.unit.functions.any_order.machine import Storm, StormAndCalm

SAME_EVERY_TIME = settings(
    max_examples=20, stateful_step_count=40, deadline=None, derandomize=True, database=None
)
UNTIL_FOUND = settings(SAME_EVERY_TIME, max_examples=100, phases=[Phase.generate])


def test_every_file_ends_once_whatever_happens_in_whatever_order() -> None:
    run_state_machine_as_test(StormAndCalm, settings=SAME_EVERY_TIME)


def without_guard(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(jobs, "PREDECESSORS", {status: frozenset(JobStatus) for status in JobStatus})


def without_counting(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SqlRetries, "count_down", lambda *_: 0)


@pytest.mark.parametrize("broken", [without_guard, without_counting])
def test_a_service_without_one_of_its_safeguards_is_found_out(
    broken: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Storm, settings=UNTIL_FOUND)
