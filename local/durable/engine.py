"""The durable engine: hands out orchestrations and activities, and fires timers.

It lives on the host's event loop and is the only writer of its store. What is to do stands in the
store; memory holds no more than what is running, and which instances have messages.
"""

import asyncio
import logging
import uuid
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from local.durable.activities import Activities, LeasedActivity
from local.durable.calls import ask_orchestrator, run_activity
from local.durable.clock import Clock
from local.durable.database import Database
from local.durable.episodes import Episodes
from local.durable.functions import FunctionFailed, Functions
from local.durable.instances import Instances
from local.durable.links import CONNECTION
from local.durable.orchestrator import Outcome, Run, conclude
from local.durable.timers import fire_timers, next_due

__all__ = ["DurableEngine", "DurableOptions", "FunctionFailed", "Functions"]

logger = logging.getLogger(__name__)

STOP_SECONDS = 0.5
"""How long `stop` waits for calls that don't end when they are cancelled."""
LONGEST_SLEEP_SECONDS = 30
"""The clock on the wall can jump, and a laptop sleeps: timers are looked at this often at least."""
PAUSE_AFTER_ERROR_SECONDS = 1.0
RENEWALS_PER_LEASE = 3


@dataclass(frozen=True)
class DurableOptions:
    """The values of host.json's `extensions.durableTask` that the engine works by."""

    hub_name: str
    max_concurrent_orchestrators: int
    max_concurrent_activities: int
    work_item_visibility: timedelta
    connection: str = CONNECTION


class DurableEngine:
    """One task hub. Use it from one event loop only."""

    def __init__(
        self,
        database: Path,
        functions: Functions,
        options: DurableOptions,
        clock: Clock | None = None,
    ) -> None:
        self.options = options
        self._path = database
        self._functions = functions
        self.clock = clock or Clock()
        self._ready: dict[str, None] = {}
        self._playing: set[str] = set()
        self._running: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._alarm: asyncio.TimerHandle | None = None
        self._stopped = True

    async def start(self) -> None:
        """Open the store and go on with what a host before has left.

        Orchestrations, events and timers go on at once, activities that a killed host was running
        when their leases run out. Raises ForeignStore when the file can't be used.
        """
        lease = uuid.uuid4().hex
        self._database = Database(self._path)
        self._episodes = Episodes(self._database, lease)
        self._activities = Activities(self._database, lease, self.options.work_item_visibility)
        self.instances = Instances(self._database, self.clock, self._wake)
        self._stopped = False
        for instance_id in self._episodes.take_over():
            self._wake(instance_id)
        self._spawn(self._renew_leases())
        self.ring()

    async def stop(self) -> None:
        """Hand out no more and give back what is running: it starts anew at the next start."""
        if self._stopped:
            return
        self._stopped = True
        if self._alarm:
            self._alarm.cancel()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=STOP_SECONDS)
        self._episodes.release()
        self._activities.release(self.clock())
        self._database.close()
        self._ready.clear()

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # Orchestrations

    @property
    def is_playing(self) -> bool:
        """Whether an orchestration is being called, or is to be."""
        return bool(self._ready or self._playing)

    def _wake(self, instance_id: str) -> None:
        """The instance has messages."""
        if instance_id not in self._playing:
            self._ready[instance_id] = None
            self._hand_out_orchestrations()

    def _hand_out_orchestrations(self) -> None:
        limit = self.options.max_concurrent_orchestrators
        while self._ready and len(self._playing) < limit and not self._stopped:
            instance_id = next(iter(self._ready))
            del self._ready[instance_id]
            self._playing.add(instance_id)
            self._spawn(self._play(instance_id))

    async def _play(self, instance_id: str) -> None:
        try:
            await self._play_episode(instance_id)
        except Exception:
            logger.exception("An episode of instance %s could not be stored", instance_id)
            await asyncio.sleep(PAUSE_AFTER_ERROR_SECONDS)
        finally:
            self._playing.discard(instance_id)
        if not self._stopped:
            if self._episodes.is_waiting(instance_id):
                self._wake(instance_id)
            self._hand_out_orchestrations()

    async def _play_episode(self, instance_id: str) -> None:
        episode = self._episodes.begin(instance_id, self.clock())
        if not episode:
            return
        outcomes = await self._outcomes(episode.run)
        if self._stopped:
            return
        woken = self._episodes.finish(episode, outcomes, self.clock())
        if woken is None:
            logger.warning("The lease on instance %s is lost, its episode dropped", instance_id)
            return
        for other in woken:
            self._wake(other)
        if any(outcome.activities for outcome in outcomes):
            self._hand_out_activities()
        if any(outcome.timers for outcome in outcomes):
            self._set_alarm()

    async def _outcomes(self, run: Run) -> list[Outcome]:
        """Play a run, and those that it continues as."""
        outcomes = []
        following: Run | None = run
        while following:
            answer = await ask_orchestrator(self._functions, following)
            outcome = conclude(following, answer, self._functions, self.clock())
            _log(outcome)
            outcomes.append(outcome)
            following = outcome.successor
        return outcomes

    # Activities

    def _hand_out_activities(self) -> None:
        free = self.options.max_concurrent_activities - len(self._running)
        if free <= 0 or self._stopped:
            return
        for activity in self._activities.take(free, self.clock(), self._running):
            self._running.add(activity.id)
            self._spawn(self._run(activity))

    async def _run(self, activity: LeasedActivity) -> None:
        try:
            answer = await run_activity(self._functions, activity, self.clock)
            if not self._stopped and self._activities.finish(activity, answer):
                self._wake(activity.instance_id)
        except Exception:
            logger.exception(
                "The answer of activity '%s' for instance %s could not be stored",
                activity.name,
                activity.instance_id,
            )
        finally:
            self._running.discard(activity.id)
        self._hand_out_activities()

    async def _renew_leases(self) -> None:
        lease = self.clock.real_seconds(self.options.work_item_visibility.total_seconds())
        while True:
            await asyncio.sleep(lease / RENEWALS_PER_LEASE)
            self._activities.renew(self.clock(), self._running)

    # Time

    def ring(self) -> None:
        """Do what is due: fire timers, and hand out activities whose leases have run out.

        The alarm calls this, and so does whoever moves the clock by hand.
        """
        if self._stopped:
            return
        for instance_id in fire_timers(self._database, self.clock()):
            self._wake(instance_id)
        self._hand_out_activities()
        self._set_alarm()

    def _set_alarm(self) -> None:
        if self._alarm:
            self._alarm.cancel()
        now = self.clock()
        times = (next_due(self._database), self._activities.next_visible(now))
        delays = [time - now.timestamp() for time in times if time is not None]
        delay = self.clock.real_seconds(max(0.0, min(delays, default=LONGEST_SLEEP_SECONDS)))
        self._alarm = asyncio.get_running_loop().call_later(
            min(delay, LONGEST_SLEEP_SECONDS), self.ring
        )


def _log(outcome: Outcome) -> None:
    run = outcome.run
    for line in outcome.refused:
        logger.warning("%s: instance %s waits in vain. %s", run.name, run.instance_id, line)
    if outcome.status.is_final:
        logger.info("%s: instance %s ended: %s", run.name, run.instance_id, outcome.status.name)
