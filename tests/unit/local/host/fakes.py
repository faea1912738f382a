"""Collaborators of the host that behave, in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from local.host.functions import Binding, Function
from local.host.protocol import ParameterBinding, TypedData
from local.host.worker import CallFailed


def make_function(
    trigger: str, parameter: str, name: str = "f", disabled: bool = False, **settings: Any
) -> Function:
    """A function with one trigger."""
    bindings = [Binding(trigger, parameter, settings)]
    return Function(name, f"id of {name}", "function_app.py", "app", bindings, disabled=disabled)


@dataclass
class FakeWorker:
    """Keeps what it was called with, and answers or raises what it was told to."""

    failure: CallFailed | None = None
    answer: TypedData | None = None
    calls: list[tuple[str, dict[str, TypedData], Mapping[str, TypedData]]] = field(
        default_factory=list
    )

    async def call(
        self,
        invocation_id: str,
        function_id: str,
        inputs: Sequence[ParameterBinding],
        metadata: Mapping[str, TypedData],
    ) -> TypedData | None:
        self.calls.append((function_id, {i.name: i.data for i in inputs}, metadata))
        if self.failure:
            raise self.failure
        return self.answer


@dataclass
class FakeClock:
    """Time that passes only when told to."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now

    def real_seconds(self, seconds: float) -> float:
        return seconds

    def advance(self, **by: float) -> None:
        self.now += timedelta(**by)
