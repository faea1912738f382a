"""What the durable engine does, in a few lines: the state of each instance and why it changes."""

from dataclasses import dataclass, field
from typing import Any

EVENTS = ("E0", "E1", "E2")
"""Those that a collector waits for, one after the other."""
VISIBILITY_SECONDS = 300


@dataclass
class Instance:
    """One run: a collector waits for EVENTS, a sleeper for a time, a worker for its activity."""

    kind: str
    due: int | None = None
    data: dict[str, Any] = field(default_factory=dict)
    suspended: bool = False
    ended: str | None = None
    output: Any = None
    visible_at: int = 0
    under_way: bool = False
    worked: bool = False

    @property
    def status(self) -> str:
        return self.ended or ("Suspended" if self.suspended else "Running")

    @property
    def works(self) -> bool:
        """Whether its activity is to be done, now or later."""
        return self.kind == "worker" and not (self.ended or self.worked)


class Model:
    """All instances by id; `now` is in seconds."""

    def __init__(self) -> None:
        self.now = 0
        self.instances: dict[str, Instance] = {}

    def start(self, id: str, kind: str, seconds: int) -> bool:
        """False when an unfinished one is in the way."""
        if self.is_open(id):
            return False
        due = self.now + seconds if kind == "sleeper" else None
        self.instances[id] = Instance(kind, due, visible_at=self.now)
        self._go_on()
        return True

    def is_open(self, id: str) -> bool:
        return id in self.instances and not self.instances[id].ended

    def raise_event(self, id: str, name: str, data: int) -> None:
        self.instances[id].data[name] = data
        self._go_on()

    def finish_activity(self, id: str) -> None:
        self.instances[id].under_way, self.instances[id].worked = False, True
        self._go_on()

    def suspend(self, id: str, reason: str) -> None:
        self.instances[id].suspended, self.instances[id].output = True, reason

    def resume(self, id: str, reason: str) -> None:
        self.instances[id].suspended, self.instances[id].output = False, reason
        self._go_on()

    def terminate(self, id: str, reason: str) -> None:
        self.instances[id].ended, self.instances[id].output = "Terminated", reason
        self.instances[id].under_way = False

    def advance(self, seconds: int) -> None:
        self.now += seconds
        self._go_on()

    def restart(self, *, killed: bool) -> None:
        """What is under way comes back at once, after a kill when its lease has run out."""
        for one in self.instances.values():
            if one.under_way:
                one.under_way = False
                one.visible_at = one.visible_at if killed else self.now
        self._go_on()

    def _go_on(self) -> None:
        for one in self.instances.values():
            self._hand_out(one)
            if not one.ended and not one.suspended and (result := self._result(one)) is not None:
                one.ended, one.output = "Completed", result

    def _hand_out(self, one: Instance) -> None:
        if one.works and not one.under_way and one.visible_at <= self.now:
            one.under_way, one.visible_at = True, self.now + VISIBILITY_SECONDS

    def _result(self, one: Instance) -> Any:
        if one.kind == "collector" and len(one.data) == len(EVENTS):
            return [one.data[name] for name in EVENTS]
        if one.kind == "sleeper" and one.due is not None and one.due <= self.now:
            return "slept"
        return "worked" if one.worked else None
