"""Reading the worker's answers, good and bad."""

from datetime import UTC, datetime, timedelta

import pytest

from local.durable.actions import (
    Action,
    ActionType,
    Answer,
    Crash,
    Retry,
    read_answer,
    read_failure,
)
from local.durable.events import compact
from tests.unit.local.durable.histories import activity, every, retried, timer


def text(*actions: object, **members: object) -> str:
    return compact({"isDone": False, "schemaVersion": 2, "actions": [list(actions)], **members})


def test_an_answer_holds_actions_outputs_and_status() -> None:
    said = read_answer(text(activity("a"), isDone=True, output=[1, None], customStatus={"s": "ä"}))
    assert said == Answer(
        actions=(Action(ActionType.CALL_ACTIVITY, name="a", input="1"),),
        is_done=True,
        output="[1,null]",
        custom_status='{"s":"ä"}',
    )


def test_a_timer_has_its_time_and_may_be_cancelled() -> None:
    said = read_answer(text(timer(5, cancelled=True)))
    assert isinstance(said, Answer)
    (action,) = said.actions
    assert action.fire_at == datetime(2026, 11, 30, 12, 0, 5, tzinfo=UTC)
    assert action.cancelled


def test_retry_options_are_read() -> None:
    said = read_answer(text(retried("a", attempts=3, milliseconds=1500)))
    assert isinstance(said, Answer)
    ((action,),) = (said.actions[0].children,)
    assert action.retry == Retry(timedelta(seconds=1.5), 3)


def test_compound_actions_are_read_to_any_depth() -> None:
    said = read_answer(text(every(every(activity("a")))))
    assert isinstance(said, Answer)
    assert said.actions[0].children[0].children[0].name == "a"


@pytest.mark.parametrize(
    "answer",
    [
        "not JSON",
        "[]",
        "null",
        '{"isDone":true,"actions":[[]]}',
        '{"isDone":true,"schemaVersion":0,"actions":[[]]}',
        '{"isDone":true,"schemaVersion":2,"actions":[]}',
        '{"isDone":true,"schemaVersion":2,"actions":[[{"actionType":99}]]}',
        '{"schemaVersion":2,"actions":[[]]}',
    ],
)
def test_an_answer_that_breaks_the_protocol_is_a_crash(answer: str) -> None:
    said = read_answer(answer)
    assert isinstance(said, Crash)
    assert said.text.startswith("The worker's answer breaks the durable protocol: ")


def test_a_failure_of_the_orchestrator_holds_the_same_document() -> None:
    message = "ValueError: no good\n\n$OutOfProcData$:" + text(activity("a"), error="no good")
    said = read_failure(message, "the stack")
    assert isinstance(said, Answer)
    assert said.error == "no good"
    assert said.stack == "the stack"
    assert said.actions[0].name == "a"


def test_the_last_document_counts_when_the_text_quotes_another() -> None:
    # Given the failure of a parent whose text quotes the failure of its child, marker and all
    child = "no good\n\n$OutOfProcData$:" + text(activity("child's"), error="no good")
    message = f"Exception: {child}\n\n$OutOfProcData$:" + text(activity("parent's"), error=child)

    # Then the parent's actions are read
    said = read_failure(message, "")
    assert isinstance(said, Answer)
    assert said.actions[0].name == "parent's"
    assert said.error == child


@pytest.mark.parametrize(
    "message",
    [
        "AttributeError: it has none",
        "Exception: x\n\n$OutOfProcData$:{broken",
        "Exception: x\n\n$OutOfProcData$:[1]",
        "TypeError: a set\n\n$OutOfProcData$:" + text(isDone=True, error="a set"),
    ],
)
def test_a_failure_without_a_usable_document_is_a_crash(message: str) -> None:
    assert read_failure(message, "line 1") == Crash(
        f"One or more errors occurred. (Result: Failure\nException: {message}\nStack: line 1)"
    )
