"""An engine of a few lines for unit tests: it feeds a history to the real durable library.

Each `Instance` keeps a history in the protocol's own shape and lets the library replay it after
every new event, so that what the orchestrator decides is decided by the real replay.
"""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.functions import extraction

START = datetime(2026, 1, 1, tzinfo=UTC)
handle = extraction.extraction._function.get_user_function()


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f0Z")


@dataclass
class Instance:
    """One orchestration. `now` is moved by the test; answers of activities are queued by it."""

    job_id: str = "11111111-2222-5333-8444-555555555555"
    now: datetime = START
    history: list[dict[str, Any]] = field(default_factory=list)
    answer: dict[str, Any] = field(default_factory=dict)
    _scheduled: int = 0

    def start(self) -> "Instance":
        event = self._event(
            0,
            Name="extraction",
            Version="",
            Input=json.dumps(json.dumps({"jobId": self.job_id})),
            OrchestrationInstance={"InstanceId": self.job_id, "ExecutionId": "e"},
        )
        return self._episode(event)

    def activity_answers(self, kind: str, **answer: Any) -> "Instance":
        result = {"kind": kind, "until": None, "status": None} | answer
        return self._episode(
            self._event(5, TaskScheduledId=self._open(4), Result=json.dumps(result))
        )

    def activity_fails(self) -> "Instance":
        return self._episode(
            self._event(6, TaskScheduledId=self._open(4), Reason="down", Details="down")
        )

    def timer_fires(self, late: datetime | None = None) -> "Instance":
        timer = next(e for e in reversed(self.history) if e["EventType"] == 10)
        self.now = late or datetime.fromisoformat(timer["FireAt"])
        return self._episode(self._event(11, TimerId=timer["EventId"], FireAt=timer["FireAt"]))

    def raised(self, name: str, data: str) -> "Instance":
        return self._episode(self._event(15, Name=name, Input=json.dumps(json.dumps(data))))

    @property
    def activities(self) -> list[str]:
        """The activities that were called, in order."""
        return [a["functionName"] for a in self.answer["actions"][0] if a["actionType"] == 0]

    @property
    def waits_until(self) -> datetime | None:
        """When the only timer that was not cancelled fires."""
        live = [
            action["fireAt"]
            for action in _flat(self.answer["actions"][0])
            if action["actionType"] == 5 and not action["isCanceled"]
        ]
        fired = [event["FireAt"] for event in self.history if event["EventType"] == 11]
        pending = [datetime.fromisoformat(at) for at in live][len(fired) :]
        assert len(pending) <= 1, "a timer that lost was not cancelled"
        return pending[0] if pending else None

    def _open(self, kind: int) -> int:
        return next(e["EventId"] for e in reversed(self.history) if e["EventType"] == kind)

    def _event(self, kind: int, **fields: Any) -> dict[str, Any]:
        return {
            "EventType": kind,
            "EventId": -1,
            "IsPlayed": False,
            "Timestamp": _text(self.now),
        } | fields

    def _episode(self, incoming: dict[str, Any]) -> "Instance":
        self.history += [self._event(12), incoming]
        self.answer = json.loads(handle(json.dumps(context(self.job_id, self.history))))
        self._schedule_new()
        self.history.append(self._event(13))
        return self

    def _schedule_new(self) -> None:
        actions = [a for a in _flat(self.answer["actions"][0]) if a["actionType"] in {0, 5}]
        for action in actions[self._scheduled :]:
            is_activity = action["actionType"] == 0
            event = (
                self._event(4, Name=action["functionName"])
                if is_activity
                else self._event(10, FireAt=action["fireAt"])
            )
            self.history.append(event | {"EventId": self._scheduled})
            self._scheduled += 1


def context(job_id: str, history: list[dict[str, Any]]) -> dict[str, Any]:
    """The document that the host gives with a history."""
    return {
        "history": history,
        "input": json.dumps(json.dumps({"jobId": job_id})),
        "instanceId": job_id,
        "isReplaying": len(history) > 2,
        "parentInstanceId": None,
        "upperSchemaVersion": 1,
        "upperSchemaVersionNew": 3,
        "longRunningTimerIntervalDuration": "3.00:00:00",
        "maximumShortTimerDuration": "6.00:00:00",
        "defaultHttpAsyncRequestSleepTimeMillseconds": 30000,
    }


def _flat(actions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    flat: list[dict[str, Any]] = []
    for action in actions:
        flat += _flat(action["compoundActions"]) if "compoundActions" in action else [action]
    return flat


def at(seconds: float) -> str:
    """A time that many seconds after the start, as activities answer it."""
    return (START + timedelta(seconds=seconds)).isoformat()
