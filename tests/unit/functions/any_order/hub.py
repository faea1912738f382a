"""A durable backend in memory: real orchestrations of the app, whose every step may be the last."""

from dataclasses import dataclass
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import azure.durable_functions as df

from shared.functions import activities
from tests.unit.functions.orchestration import Instance
from tests.unit.services.world import Crash, World

Status = df.OrchestrationRuntimeStatus
ACTIVITIES = {
    "call_extractor": activities.call_extractor._function.get_user_function(),
    "expire_job": activities.expire_job._function.get_user_function(),
}
TASK_SCHEDULED, TASK_ENDS, CONTINUE_AS_NEW = 4, (5, 6), 4


@dataclass
class Orchestration:
    """An instance with its status."""

    instance: Instance
    status: Any = Status.Running

    @property
    def live(self) -> bool:
        return self.status is Status.Running

    @property
    def activity(self) -> str | None:
        """The activity that is to be run, if there is one."""
        kinds = [event["EventType"] for event in self.instance.history]
        outstanding = kinds.count(TASK_SCHEDULED) - sum(map(kinds.count, TASK_ENDS))
        return self.instance.activities[-1] if outstanding else None

    @property
    def due_at(self) -> datetime | None:
        """When its timer fires."""
        return None if self.activity else self.instance.waits_until


class Hub:
    """What the durable client sees, and what the platform does with orchestrations by itself."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.all: dict[str, Orchestration] = {}

    # The durable client.

    async def start_new(self, name: str, instance_id: str, client_input: Any) -> str:
        self._reach()
        known = self.all.get(instance_id)
        if known and known.live:
            running = "An Orchestration instance with the status Running already exists."
            raise Exception({"Message": running})
        self.all[instance_id] = Orchestration(Instance(instance_id, self._world.now).start())
        self._world.steps.step()
        return instance_id

    async def raise_event(self, instance_id: str, name: str, data: Any) -> None:
        self._reach()
        known = self.all.get(instance_id)
        if known is None:
            raise Exception(f"No instance with ID {instance_id} found.")
        if not known.live:
            raise Exception(f"Instance with ID {instance_id} is gone: either completed or failed")
        known.instance.now = self._world.now
        known.instance.raised(name, data)
        self._conclude(known)
        self._world.steps.step()

    async def get_status(self, instance_id: str) -> Any:
        self._reach()
        known = self.all.get(instance_id)
        return SimpleNamespace(runtime_status=known.status if known else None)

    async def get_status_by(self, runtime_status: list[Any], instance_id_prefix: str) -> list[Any]:
        self._reach()
        found = [each for each in self.live() if each.startswith(instance_id_prefix)]
        return [SimpleNamespace(instance_id=instance_id) for instance_id in found]

    async def terminate(self, instance_id: str, reason: str) -> None:
        self._reach()
        self.all[instance_id].status = Status.Terminated

    # The platform.

    def live(self) -> list[str]:
        """The running instances, oldest first."""
        return [instance_id for instance_id, each in self.all.items() if each.live]

    def due(self) -> list[str]:
        """Those that have an activity to run, or whose timer is over."""
        return [each for each in self.live() if self._is_due(self.all[each])]

    def next_due(self) -> datetime | None:
        """When the next timer is over."""
        times = [self.all[each].due_at for each in self.live()]
        return min((time for time in times if time), default=None)

    def work(self, instance_id: str) -> None:
        """Fire its timer, or run its activity; one that dies is run again some time."""
        known = self.all[instance_id]
        known.instance.now = self._world.now
        if known.activity is None:
            known.instance.timer_fires(self._world.now)
        else:
            self._run(known, known.activity)
        self._conclude(known)

    def fail(self, instance_id: str) -> None:
        """The worker dies amid an orchestrator's turn: the platform fails the instance for good."""
        self.all[instance_id].status = Status.Failed

    def _reach(self) -> None:
        self._world.steps.step()
        if "durable" in self._world.down:
            raise Exception("Webhook returned unrecognized status code 503")

    def _is_due(self, known: Orchestration) -> bool:
        if known.activity:
            return True
        due_at = known.due_at
        return due_at is not None and due_at <= self._world.now

    def _run(self, known: Orchestration, activity: str) -> None:
        try:
            answer = ACTIVITIES[activity]({"jobId": known.instance.job_id})
        except Crash:
            raise
        except Exception:
            answer = None
        if not known.live:
            return
        known.instance.now = self._world.now
        if answer is None:
            known.instance.activity_fails()
        else:
            known.instance.activity_answers(**answer)

    def _conclude(self, known: Orchestration) -> None:
        if known.live and self._continues(known.instance):
            known.instance = Instance(known.instance.job_id, self._world.now).start()
        elif known.live and known.instance.answer["isDone"]:
            known.status = Status.Completed

    @staticmethod
    def _continues(instance: Instance) -> bool:
        actions = instance.answer["actions"][0]
        return bool(actions) and actions[-1]["actionType"] == CONTINUE_AS_NEW
