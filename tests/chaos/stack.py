"""The stack of a run: a broker with switches, an observer of statuses, and a copy of the app."""

import json
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import requests

from local.demo.surroundings import surround
from local.settings import HOST, LocalSettings
from local.supervisor.environment import TOPICS, host_url, service_bus_connection
from local.supervisor.parts import topology_path
from local.supervisor.plan import plan_embedded_azure
from local.supervisor.ports import with_free_ports
from local.supervisor.processes import ROOT, Part
from local.supervisor.stack import Stack
from tests.chaos.app_copy import Patch, copy_app
from tests.chaos.broker import OBSERVER
from tests.chaos.journal import Journal
from tests.chaos.mended import Mended
from tests.chaos.parts import FailingParts
from tests.chaos.rows import Rows, rows_of
from tests.chaos.timing import Timing
from tests.integration.whole_stack import WholeStack
from tests.servicebus_faults import ServiceBusFaults, controlled

OVERRIDES = {
    "AzureFunctionsJobHost__extensions__durableTask__storageProvider"
    "__workItemQueueVisibilityTimeout": "00:00:03",
    "RETRY_BACKOFF_SECONDS": "1",
    "JOB_START_TIMEOUT_MINUTES": "2",
    "JOB_RUN_TIMEOUT_MINUTES": "2",
}
LOCK_DURATION = timedelta(seconds=3)
"""What a dead host held comes back after seconds instead of minutes."""


PATIENCE_SECONDS = 60


@dataclass(frozen=True)
class ChaosStack:
    """The parts, who breaks them, and what was broken."""

    whole: WholeStack
    faults: ServiceBusFaults
    timing: Timing
    journal: Journal
    mended: Mended

    @property
    def parts(self) -> FailingParts:
        return FailingParts(self.whole.stack, self.journal)

    @property
    def data(self) -> Path:
        return self.whole.stack.settings.data

    @property
    def rows(self) -> Rows:
        return rows_of(self.data)

    @property
    def service_bus(self) -> str:
        return service_bus_connection(self.whole.stack.settings)

    def live_orchestrations(self) -> Sequence[str]:
        """The instance ids of all that have not ended."""
        answer = requests.get(
            f"{self._durable}/instances",
            params={"runtimeStatus": "Pending,Running,Suspended", "top": "10000"},
            headers={"x-functions-key": self.whole.host_key()},
            timeout=PATIENCE_SECONDS,
        )
        return [each["instanceId"] for each in answer.json()]

    def reconcile(self) -> None:
        """Start a pass now, as the timer does every few minutes."""
        requests.post(
            f"{self._host}/admin/functions/reconcile",
            headers={"x-functions-key": self.whole.host_key()},
            json={},
            timeout=PATIENCE_SECONDS,
        )

    def start_orchestration(self, name: str, instance_id: str, data: Mapping[str, str]) -> None:
        """Start one as the app does."""
        requests.post(
            f"{self._durable}/orchestrators/{name}/{instance_id}",
            headers={"x-functions-key": self.whole.host_key()},
            json=data,
            timeout=PATIENCE_SECONDS,
        ).raise_for_status()

    @property
    def _durable(self) -> str:
        return f"{self._host}/runtime/webhooks/durabletask"

    @property
    def _host(self) -> str:
        return host_url(self.whole.stack.settings)


@contextmanager
def chaos_stack(
    folder: Path,
    timing: Timing,
    patches: Sequence[Patch] = (),
    without: Sequence[str] = (),
) -> Iterator[ChaosStack]:
    """Start it on free ports, with everything in `folder`, and end it.

    The app is a patched copy; `without` are parts that are left out.
    """
    app = copy_app(folder / "app", patches)
    local = with_free_ports(folder / "data")
    with socket.create_server((HOST, 0)) as free:
        control = free.getsockname()[1]
    plan = partial(_plan, app=app, control=control, without=without)
    mended = Mended()
    with Stack(local, plan=plan, show=mended.hear) as running:
        with surround(local) as services:
            whole = WholeStack(running, services)
            yield ChaosStack(whole, ServiceBusFaults(control), timing, Journal(), mended)
        for part in running.parts.values():
            part.kill()  # nothing is kept: no one waits for it to end


def _plan(
    settings: LocalSettings,
    app: Path,
    control: int,
    without: Sequence[str],
) -> Sequence[Sequence[Part]]:
    steps = plan_embedded_azure(settings, OVERRIDES, LOCK_DURATION)
    _observe_statuses(topology_path(settings.data))
    adapt = partial(_adapted, app=app, control=control)
    return [[adapt(part) for part in step if part.name not in without] for step in steps]


def _adapted(part: Part, app: Path, control: int) -> Part:
    if part.name == "servicebus":
        return controlled(part, control)
    words = [str(app) if word == str(ROOT) else word for word in part.command]
    return replace(part, command=tuple(words))


def _observe_statuses(path: Path) -> None:
    config: dict[str, Any] = json.loads(path.read_text())
    for topic in config["UserConfig"]["Namespaces"][0]["Topics"]:
        if topic["Name"] == TOPICS["TOPIC_JOB_STATUS"]:
            watched = topic["Subscriptions"][-1]
            topic["Subscriptions"].append({**watched, "Name": OBSERVER})
    path.write_text(json.dumps(config))
