"""Status documents and histories as clients see them, where no recording shows it."""

from typing import Any

import pytest

from local.durable.events import Event, RuntimeStatus
from local.durable.instances import Instance
from local.durable.status import history_document, status_document
from tests.unit.local.durable.histories import (
    completed,
    created,
    episode,
    raised,
    resumed,
    scheduled,
    started,
    suspended,
    terminated,
)


def instance(**members: Any) -> Instance:
    values = {
        "instance_id": "it",
        "name": "orch",
        "status": RuntimeStatus.Running,
        "input": None,
        "output": None,
        "custom_status": None,
        "parent_id": None,
        "created_at": "2026-11-30T12:00:00.9999990Z",
        "updated_at": "2026-11-30T12:00:01.0000000Z",
    }
    return Instance(**{**values, **members})


def test_times_are_cut_to_seconds() -> None:
    document = status_document(instance())
    assert document["createdTime"] == "2026-11-30T12:00:00Z"
    assert document["lastUpdatedTime"] == "2026-11-30T12:00:01Z"


@pytest.mark.parametrize(
    ("stored", "shown"),
    [(None, None), ('{"a":1}', {"a": 1}), ('"5"', "5"), ("5", 5), ("no JSON {", "no JSON {")],
)
def test_outputs_are_json_or_plain_text(stored: str | None, shown: object) -> None:
    assert status_document(instance(output=stored))["output"] == shown


def test_only_children_name_their_parent() -> None:
    assert "parentInstanceId" not in status_document(instance())
    assert status_document(instance(parent_id="father"))["parentInstanceId"] == "father"


def test_what_is_still_outstanding_is_shown_as_scheduled() -> None:
    history: list[Event] = [*episode(started()), scheduled(0), created(1)]
    assert [one["EventType"] for one in history_document(history)] == [
        "ExecutionStarted",
        "TaskScheduled",
        "TimerCreated",
    ]
    assert history_document(history)[1]["Name"] == "act"


def test_answers_show_when_and_what_was_asked() -> None:
    history = [*episode(started()), scheduled(0, "a"), scheduled(1, "b"), completed(1)]
    asked, answered = history_document(history)[1:]
    assert asked["Name"] == "a"
    assert answered["FunctionName"] == "b"
    assert answered["ScheduledTime"] == "2026-11-30T12:00:00.0000000+00:00"


def test_inputs_are_hidden_when_asked() -> None:
    history = [*episode(started('"in"')), raised()]
    assert all("Input" not in one for one in history_document(history, show_input=False))


def test_what_clients_did_is_shown_with_their_reasons() -> None:
    history = episode(suspended(), resumed(), terminated())
    assert [
        (one["EventType"], one.get("Reason", one.get("Input"))) for one in history_document(history)
    ] == [
        ("ExecutionSuspended", "hold on"),
        ("ExecutionResumed", "go on"),
        ("ExecutionTerminated", "enough"),
    ]
