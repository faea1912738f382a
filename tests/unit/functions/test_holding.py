"""A message is held while a part is out of reach, for seconds while its row is missing."""

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from shared.domain.errors import NotYetError, PermanentError, TransientError
from shared.functions.holding import Patience, afterwards, hold

SHORT = Patience(
    held=timedelta(milliseconds=200),
    not_yet=timedelta(milliseconds=20),
    afterwards=timedelta(milliseconds=50),
    first_pause=timedelta(milliseconds=5),
    longest_pause=timedelta(milliseconds=20),
)


class Failing:
    """A use case that fails `times` times, then answers "done"."""

    def __init__(self, error: Exception, times: int) -> None:
        self.error, self.times, self.calls = error, times, 0

    def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self.times:
            raise self.error
        return "done"

    async def later(self) -> None:
        self()


DOWN = TransientError("database", "out of reach")


async def test_a_use_case_that_works_runs_once() -> None:
    use_case = Failing(DOWN, times=0)
    assert await hold(use_case, 1, SHORT) == "done"
    assert use_case.calls == 1


@pytest.mark.parametrize("error", [DOWN, NotYetError("on its way")])
async def test_it_is_tried_again_until_it_works(error: Exception) -> None:
    use_case = Failing(error, times=2)
    assert await hold(use_case, 1, replace(SHORT, not_yet=SHORT.held)) == "done"
    assert use_case.calls == 3


async def test_it_is_logged_once_which_part_a_message_is_held_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    await hold(Failing(DOWN, times=3), 1, SHORT)
    assert caplog.messages == [
        'Message held {"part": "database", "reason": "database: out of reach"}'
    ]


@pytest.mark.parametrize("error", [DOWN, NotYetError("on its way")])
async def test_patience_ends_and_the_failure_is_raised(error: Exception) -> None:
    with pytest.raises(type(error)):
        await hold(Failing(error, times=1_000), 1, SHORT)


async def test_a_missing_row_is_waited_for_far_shorter_than_a_part_that_is_down() -> None:
    down, missing = Failing(DOWN, 1_000), Failing(NotYetError("on its way"), 1_000)
    for use_case in (down, missing):
        with pytest.raises((TransientError, NotYetError)):
            await hold(use_case, 1, SHORT)
    assert missing.calls < down.calls


async def test_a_permanent_failure_is_not_tried_again() -> None:
    use_case = Failing(PermanentError("contract_broken", "FileID: missing"), times=1)
    with pytest.raises(PermanentError):
        await hold(use_case, 1, SHORT)
    assert use_case.calls == 1


async def test_a_permanent_failure_is_logged_at_the_first_delivery_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    for delivery_count in (1, 2, 3):
        with pytest.raises(PermanentError):
            await hold(Failing(PermanentError("body_empty", "empty"), 1), delivery_count, SHORT)
    refused = [record for record in caplog.messages if "Message refused" in record]
    assert len(refused) == 1
    assert "body_empty" in refused[0]


async def test_a_fault_of_ours_is_raised_at_once() -> None:
    use_case = Failing(KeyError("bug"), times=1)
    with pytest.raises(KeyError):
        await hold(use_case, 1, SHORT)
    assert use_case.calls == 1


async def test_what_follows_a_commit_is_tried_for_seconds_whatever_it_raises() -> None:
    step = Failing(Exception("durable backend is starting"), times=2)
    await afterwards(step.later, SHORT)
    assert step.calls == 3


async def test_what_cannot_follow_a_commit_is_left_to_reconciliation_and_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    step = Failing(Exception("durable backend is down"), times=1_000)
    await afterwards(step.later, SHORT)
    assert step.calls > 1
    assert len([line for line in caplog.messages if "Left to reconciliation" in line]) == 1


def test_patience_fits_under_the_hosts_lock_renewal_and_time_out(
    host_json: Callable[..., str],
) -> None:
    for path in ("functionTimeout", "extensions.serviceBus.maxAutoLockRenewalDuration"):
        hours, minutes, seconds = (int(part) for part in host_json(path).split(":"))
        bound = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        patience = Patience()
        assert patience.held + patience.afterwards + timedelta(minutes=1) < bound
