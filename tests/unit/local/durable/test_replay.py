"""Replaying the worker's actions against a history: what is new, and when a run is over."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from local.durable.actions import Answer, Crash
from local.durable.context import ActivityCall, ChildStart, TimerSet
from local.durable.events import Event, RuntimeStatus
from local.durable.replay import Decision, Ending, decide
from tests.unit.local.durable.histories import (
    NOON,
    EveryFunction,
    activity,
    answer,
    child,
    completed,
    continue_as_new,
    created,
    episode,
    every,
    failed,
    fired,
    first_of,
    raised,
    resumed,
    retried,
    scheduled,
    started,
    suspended,
    terminated,
    timer,
    wait,
)

BEGIN = episode(started())


def replay(history: Sequence[Event], said: Answer | Crash, missing: Sequence[str] = ()) -> Decision:
    return decide(started(), history, said, EveryFunction(missing))


def ids(decision: Decision) -> list[int]:
    return [one.id for one in decision.scheduled]


# What is new


def test_actions_get_ids_in_the_order_of_asking() -> None:
    decision = replay(BEGIN, answer(every(activity("a"), child("c", "son"), timer(5))))
    assert decision.scheduled == [
        ActivityCall(0, "a", "1"),
        ChildStart(1, "c", "2", "son"),
        TimerSet(2, NOON + timedelta(seconds=5), cancelled=False),
    ]
    assert decision.next_id == 3


def test_a_child_without_an_id_gets_one_of_its_parents_execution() -> None:
    (start,) = replay(BEGIN, answer(child())).scheduled
    assert start == ChildStart(0, "sub", "2", "run:0")


def test_waits_for_events_schedule_nothing_and_take_no_id() -> None:
    decision = replay(BEGIN, answer(first_of(wait("A"), wait("B"), timer())))
    assert ids(decision) == [0]


def test_what_the_history_shows_is_not_scheduled_again() -> None:
    history = [*BEGIN, scheduled(0), scheduled(1, "b"), *episode(completed(0))]
    decision = replay(history, answer(every(activity(), activity("b"))))
    assert decision.scheduled == []


def test_an_action_is_asked_for_only_when_the_one_before_is_done() -> None:
    said = answer(activity("a"), activity("b"))
    assert ids(replay([*BEGIN, scheduled(0, "a"), *episode(raised())], said)) == []
    assert ids(replay([*BEGIN, scheduled(0, "a"), *episode(completed(0))], said)) == [1]
    assert ids(replay([*BEGIN, scheduled(0, "a"), *episode(failed(0))], said)) == [1]


def test_after_task_any_the_next_action_needs_one_of_them() -> None:
    said = answer(first_of(activity("a"), activity("b")), activity("c"))
    history = [*BEGIN, scheduled(0, "a"), scheduled(1, "b"), *episode(completed(1))]
    assert ids(replay(history, said)) == [2]


def test_after_task_all_the_next_action_needs_all_of_them_even_if_one_failed() -> None:
    said = answer(every(activity("a"), activity("b")), activity("c"))
    history = [*BEGIN, scheduled(0, "a"), scheduled(1, "b"), *episode(failed(1))]
    assert ids(replay(history, said)) == []
    assert ids(replay([*history, *episode(completed(0))], said)) == [2]


def test_waits_can_be_nested() -> None:
    said = answer(every(first_of(activity("a"), wait()), activity("b")), activity("c"))
    history = [*BEGIN, scheduled(0, "a"), scheduled(1, "b"), *episode(raised(), completed(1))]
    assert ids(replay(history, said)) == [2]


def test_several_events_of_one_batch_take_several_steps() -> None:
    said = answer(wait("A"), activity("a"), wait("B"), activity("b"))
    history = [*BEGIN, *episode(raised("A"), raised("B"))]
    assert ids(replay(history, said)) == [0]
    assert ids(replay([*history, scheduled(0, "a"), *episode(completed(0))], said)) == [1]


# Retries


def test_a_failed_attempt_is_followed_by_a_timer_and_another_attempt() -> None:
    said = answer(retried("a", attempts=2, milliseconds=5000))
    history = [*BEGIN, scheduled(0, "a"), *episode(failed(0), at=NOON + timedelta(seconds=9))]
    assert replay(history, said).scheduled == [
        TimerSet(1, NOON + timedelta(seconds=14), cancelled=False)
    ]
    history = [*history, created(1), *episode(fired(1))]
    assert replay(history, said).scheduled == [ActivityCall(2, "a", "1")]


def test_the_last_failure_is_followed_by_a_timer_that_is_due_at_once() -> None:
    history = [*BEGIN, scheduled(0), *episode(failed(0))]
    decision = replay(history, answer(retried(attempts=1)))
    assert decision.scheduled == [TimerSet(1, NOON, cancelled=False)]


def test_ids_of_retries_follow_the_order_of_the_events() -> None:
    # Given two retried calls and a third action that waits for the one that works
    said = answer(first_of(retried("a"), activity("b")), activity("c"))

    # When the plain one completes before the other fails, in one batch
    history = [*BEGIN, scheduled(0, "a"), scheduled(1, "b"), *episode(completed(1), failed(0))]

    # Then the next action comes before the retry's timer
    kinds = [type(one).__name__ for one in replay(history, said).scheduled]
    assert kinds == ["ActivityCall", "TimerSet"]


# The end


def test_a_run_is_over_when_its_orchestrator_is() -> None:
    decision = replay(BEGIN, answer(isDone=True, output={"a": 1}))
    assert decision.ending == Ending(RuntimeStatus.Completed, '{"a":1}')


def test_a_run_that_is_not_done_goes_on() -> None:
    assert replay(BEGIN, answer()).ending is None


@pytest.mark.parametrize("outstanding", [activity(), child(), timer()])
def test_what_is_outstanding_holds_the_end(outstanding: dict[str, object]) -> None:
    done = answer(first_of(wait(), outstanding), isDone=True)
    assert replay([*BEGIN, *episode(raised())], done).ending is None


def test_a_cancelled_timer_does_not_hold_the_end() -> None:
    said = answer(first_of(wait(), timer(cancelled=True)), isDone=True)
    decision = replay([*BEGIN, created(0), *episode(raised())], said)
    assert decision.ending
    assert decision.ending.status is RuntimeStatus.Completed
    assert decision.cancelled_timers == {0}


def test_a_timer_cancelled_in_the_same_breath_is_in_the_history_only() -> None:
    (timer_set,) = replay(BEGIN, answer(timer(cancelled=True))).scheduled
    assert isinstance(timer_set, TimerSet)
    assert timer_set.cancelled


def test_a_cancelled_timer_that_fires_all_the_same_is_ignored() -> None:
    said = answer(first_of(wait(), timer(cancelled=True)), wait("More"))
    history = [*BEGIN, created(0), *episode(raised()), *episode(fired(0))]
    assert replay(history, said).ending is None


def test_an_answer_that_comes_twice_is_ignored() -> None:
    said = answer(activity(), isDone=True)
    decision = replay([*BEGIN, scheduled(0), *episode(completed(0), failed(0))], said)
    assert decision.ending
    assert decision.ending.status is RuntimeStatus.Completed


def test_an_orchestrator_that_raised_fails_its_run() -> None:
    decision = replay(BEGIN, answer(error="no good"))
    assert decision.ending == Ending(
        RuntimeStatus.Failed,
        "Orchestrator function 'orch' failed: no good",
        "Message: no good, StackTrace: ",
    )


def test_a_failure_too_waits_for_what_is_outstanding() -> None:
    said = answer(every(activity("a"), activity("b")), error="no good")
    history = [*BEGIN, scheduled(0, "a"), scheduled(1, "b"), *episode(failed(0))]
    assert replay(history, said).ending is None
    ending = replay([*history, *episode(completed(1))], said).ending
    assert ending
    assert ending.status is RuntimeStatus.Failed


def test_a_call_that_crashed_fails_its_run_at_once() -> None:
    decision = replay(BEGIN, Crash("what the worker said"))
    assert decision.ending
    assert decision.ending.result == "Orchestrator function 'orch' failed: what the worker said"


def test_a_call_that_crashed_in_a_replay_looks_non_deterministic() -> None:
    decision = replay([*BEGIN, scheduled(0, "echo"), *episode(completed(0))], Crash("boom"))
    assert decision.ending
    assert decision.ending.result == (
        "Non-Deterministic workflow detected: A previous execution of this orchestration scheduled "
        "an activity task with sequence ID 0 and name 'echo' (version ''), but the current replay "
        "execution hasn't (yet?) scheduled this task. Was a change made to the orchestrator code "
        "after this instance had already started running?"
    )


@pytest.mark.parametrize(
    ("history", "said"),
    [
        ([scheduled(0, "a")], answer(activity("b"))),
        ([scheduled(0, "a")], answer(timer())),
        ([created(0)], answer(activity("a"))),
        ([created(0)], answer(child())),
    ],
)
def test_actions_that_do_not_fit_the_history_fail_the_run(
    history: list[Event], said: Answer
) -> None:
    ending = replay([*BEGIN, *history, *episode(raised())], said).ending
    assert ending
    assert ending.status is RuntimeStatus.Failed
    assert (ending.result or "").startswith("Non-Deterministic workflow detected")


def test_names_in_the_history_are_compared_without_case() -> None:
    history = [*BEGIN, scheduled(0, "ACT"), *episode(completed(0))]
    assert replay(history, answer(activity("act"))).ending is None


def test_a_function_that_does_not_exist_is_refused_and_never_done() -> None:
    decision = replay(BEGIN, answer(every(activity("nosuch"), activity("act"))), ["nosuch"])
    assert [one.name for one in decision.scheduled if isinstance(one, ActivityCall)] == ["act"]
    assert decision.ending is None
    (line,) = decision.refused
    assert line.startswith("The function 'nosuch' doesn't exist")


@pytest.mark.parametrize(
    ("type", "name"), [(7, "call_entity"), (8, "call_http"), (9, "signal_entity")]
)
def test_what_the_engine_does_not_do_fails_the_run(type: int, name: str) -> None:
    ending = replay(BEGIN, answer({"actionType": type})).ending
    assert ending
    assert f"{name} is not supported" in (ending.result or "")


# Events


def test_an_event_before_its_wait_is_kept() -> None:
    said = answer(activity("a"), wait(), activity("b"))
    history = [*BEGIN, scheduled(0, "a"), *episode(raised()), *episode(completed(0))]
    assert ids(replay(history, said)) == [1]


def test_events_have_names_and_case_matters() -> None:
    assert ids(replay([*BEGIN, *episode(raised("gO"))], answer(wait(), activity()))) == []


# Continue as new


def test_continuing_as_new_takes_what_was_not_used_along() -> None:
    unclaimed, used, after = raised("Other"), raised("Go"), raised("Go", "2")
    said = answer(wait(), continue_as_new('"x"'), isDone=True)
    decision = replay([*BEGIN, *episode(unclaimed, used, after)], said)
    assert decision.ending == Ending(RuntimeStatus.ContinuedAsNew, '"x"')
    assert decision.carried == [unclaimed, after]


def test_continuing_as_new_too_waits_for_what_is_outstanding() -> None:
    said = answer(first_of(wait(), timer()), continue_as_new(), isDone=True)
    assert replay([*BEGIN, created(0), *episode(raised())], said).ending is None


# Clients


def test_a_terminated_run_is_over_whatever_is_outstanding() -> None:
    decision = replay([*BEGIN, scheduled(0), *episode(terminated())], answer(activity()))
    assert decision.ending == Ending(RuntimeStatus.Terminated, "enough")


def test_a_suspended_run_schedules_nothing_until_it_is_resumed() -> None:
    said = answer(wait(), activity("a"))
    history = [*BEGIN, *episode(suspended(), raised())]
    halted = replay(history, said)
    assert halted.suspended
    assert halted.scheduled == []
    going_on = replay([*history, *episode(resumed())], said)
    assert not going_on.suspended
    assert ids(going_on) == [0]


def test_a_run_suspended_before_its_first_call_is_scheduled_when_resumed() -> None:
    said = answer(activity("a"))
    history = episode(started(), suspended())
    assert replay(history, said).scheduled == []
    assert ids(replay([*history, *episode(resumed())], said)) == [0]


def test_a_suspended_run_can_be_terminated() -> None:
    decision = replay([*BEGIN, *episode(suspended()), *episode(terminated())], answer(wait()))
    assert decision.ending
    assert decision.ending.status is RuntimeStatus.Terminated


def test_suspending_twice_is_like_once() -> None:
    said = answer(wait(), isDone=True)
    history = [*BEGIN, *episode(suspended()), *episode(suspended(), raised()), *episode(resumed())]
    assert replay(history, said).ending
