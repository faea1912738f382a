"""Runs that were recorded on the real host: the same answers must come to the same histories."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from local.durable.actions import Answer, Crash, read_answer, read_failure
from local.durable.clock import parse_time
from local.durable.events import Event, EventType, compact
from local.durable.orchestrator import Outcome, Run, conclude, document
from local.durable.status import history_document
from tests.unit.local.durable.histories import NOON, EveryFunction

CASES: dict[str, Any] = json.loads(Path(__file__).with_name("recorded_runs.json").read_text())
MADE_HERE = (
    EventType.TASK_SCHEDULED,
    EventType.SUB_ORCHESTRATION_CREATED,
    EventType.TIMER_CREATED,
    EventType.ORCHESTRATOR_COMPLETED,
)
"""Events whose timestamps are the engine's own."""


def said(call: dict[str, Any]) -> Answer | Crash:
    """The recorded answer of the worker."""
    if "failure" in call:
        return read_failure(call["failure"]["message"], call["failure"]["stack"])
    return read_answer(compact(call["answer"]))


def run_at(run: dict[str, Any], count: int) -> Run:
    """A run as it was when the worker saw so many events."""
    events: list[Event] = run["history"][:count]
    begin = max(i for i, one in enumerate(events) if one["EventType"] == 12)
    new = [{**one, "IsPlayed": False} for one in events[begin:]]
    past = events[:begin]
    started = next(one for one in [*past, *new] if one["EventType"] == 0)
    return Run(started, past, new)


def outcome(run: dict[str, Any], call: dict[str, Any]) -> Outcome:
    functions = EveryFunction(missing=["nosuchactivity"])
    return conclude(run_at(run, call["events"]), said(call), functions, NOON)


def comparable(event: Event) -> Event:
    """Without what differs from run to run; times only as exact as ours."""
    event = dict(event)
    if event["EventType"] in MADE_HERE:
        del event["Timestamp"]
    if "FireAt" in event:
        event["FireAt"] = parse_time(event["FireAt"])
    return event


@pytest.mark.parametrize("name", CASES)
def test_each_answer_comes_to_the_recorded_history(name: str) -> None:
    # Given each recorded call and the one that followed
    for run in CASES[name]["runs"]:
        for call, following in pairwise(run["calls"]):
            # When the engine concludes what the answer comes to
            came_to = outcome(run, call)

            # Then that is what the history held at the next call
            stored = [*run_at(run, call["events"]).past, *came_to.appended]
            recorded = run["history"][: len(stored)]
            assert len(stored) < following["events"]
            assert [comparable(one) for one in stored] == [comparable(one) for one in recorded]
            assert run["history"][len(stored)]["EventType"] == EventType.ORCHESTRATOR_STARTED


@pytest.mark.parametrize("name", [name for name in CASES if "status" in CASES[name]])
def test_each_run_ends_as_recorded(name: str) -> None:
    # Given the last recorded call
    run = CASES[name]["runs"][-1]
    status = CASES[name]["status"]

    # When the engine concludes what it came to
    end = outcome(run, run["calls"][-1])

    # Then status, output and custom status are the recorded ones
    assert end.status.name == status["runtimeStatus"]
    assert json.loads(end.custom_status or "null") == status["customStatus"]
    output = status["output"]
    if end.status.name == "Failed":
        # Long texts were cut in the recording, where it says <stack>.
        assert (end.output or "").startswith(output.split("<stack>")[0][:300])
    else:
        assert json.loads(end.output or "null") == output


@pytest.mark.parametrize("name", [name for name in CASES if "historyEvents" in CASES[name]])
def test_each_history_is_shown_as_recorded(name: str) -> None:
    # Given what is stored at the end
    run = CASES[name]["runs"][-1]
    last = run["calls"][-1]
    stored = [*run_at(run, last["events"]).past, *outcome(run, last).appended]

    # When clients look at it, with outputs
    shown = history_document(stored, show_output=True)

    # Then they see what was recorded, but for the time and the text of the end
    recorded = CASES[name]["historyEvents"]
    assert [set(one) for one in shown] == [set(one) for one in recorded]
    differing = ("TimerCreated", "ExecutionCompleted")
    mine = [one for one in shown if one["EventType"] not in differing]
    kept = [one for one in recorded if one["EventType"] not in differing]
    assert mine == kept


@pytest.mark.parametrize("name", ["o_can", "o_can_ev"])
def test_each_round_begins_as_recorded(name: str) -> None:
    # Given the last call of a round and the first of the next
    for run, following in pairwise(CASES[name]["runs"]):
        # When the engine continues as new
        successor = outcome(run, run["calls"][-1]).successor

        # Then the next round has the recorded events and input
        assert successor
        assert successor.past == []
        recorded = following["history"][: following["calls"][0]["events"]]
        assert [set(one) for one in successor.new] == [set(one) for one in recorded]
        assert [one["EventType"] for one in successor.new] == [12, 0, 13]
        assert successor.started["Input"] == recorded[1]["Input"]
        assert successor.started["Generation"] is None
        assert json.loads(document(successor))["input"] == following["input"]


@pytest.mark.parametrize("name", CASES)
def test_each_first_document_is_as_recorded(name: str) -> None:
    run = CASES[name]["runs"][0]
    first = json.loads(document(run_at(run, run["calls"][0]["events"])))
    assert first["input"] == run["input"]
    assert first["isReplaying"] is False
    assert [one["IsPlayed"] for one in first["history"]] == [False, False]
