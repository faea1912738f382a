"""A whole stack with a second host: on the same database and broker, with a hub of its own."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import requests

from local.demo.surroundings import surround
from local.settings import LocalSettings
from local.supervisor.environment import host_url
from local.supervisor.plan import plan_embedded_azure
from local.supervisor.ports import with_free_ports
from local.supervisor.processes import Part
from local.supervisor.stack import Stack
from tests.integration.whole_stack import LIVE, WholeStack

HOSTS = "AzureFunctionsJobHost__extensions"
OVERRIDES = {
    f"{HOSTS}__durableTask__storageProvider__workItemQueueVisibilityTimeout": "00:00:05",
    f"{HOSTS}__serviceBus__maxConcurrentCalls": "2",
    "EXTRACTOR_MAX_ACTIVE_JOBS": "3",
    "LOCAL_CLOCK_RATE": "10",
}
"""Neither host takes all messages; orchestrations look again soon."""


@dataclass(frozen=True)
class TwoHosts:
    """The stack, and where each of its hosts is."""

    whole: WholeStack
    hosts: Sequence[LocalSettings]

    @property
    def names(self) -> Sequence[str]:
        return ["host", "host-2"]

    def log_of(self, name: str) -> str:
        """What a host has said so far."""
        return self.whole.stack.parts[name].log.path.read_text(errors="replace")

    def reconcile(self) -> None:
        """Start a pass on both hosts at once."""
        for host in self.hosts:
            self._call(host, "POST", "/admin/functions/reconcile", json={}).raise_for_status()

    def orchestrations(self, job_ids: Sequence[UUID]) -> list[list[str | None]]:
        """The status of each job's orchestration on each host; None where there is none."""
        return [[self._status(host, job_id) for host in self.hosts] for job_id in job_ids]

    def live(self, job_ids: Sequence[UUID]) -> int:
        """How many orchestrations of these jobs are live, on both hosts together."""
        return sum(each in LIVE for row in self.orchestrations(job_ids) for each in row)

    def passes(self) -> list[int]:
        """How often reconciliation has gone over everything, as each host tells it."""
        answers = [
            requests.get(f"{host_url(each)}/health/ready", timeout=30) for each in self.hosts
        ]
        return [each.json().get("reconciliation", {}).get("passes", 0) for each in answers]

    def _status(self, host: LocalSettings, job_id: UUID) -> str | None:
        path = f"/runtime/webhooks/durabletask/instances/{job_id}"
        answer = self._call(host, "GET", path)
        return answer.json()["runtimeStatus"] if answer.status_code in {200, 202} else None

    def _call(self, host: LocalSettings, method: str, path: str, **more: Any) -> requests.Response:
        key = json.loads((host.data / "keys.json").read_text())["master"]
        headers = {"x-functions-key": key}
        return requests.request(method, host_url(host) + path, headers=headers, timeout=10, **more)


@contextmanager
def two_hosts(folder: Path) -> Iterator[TwoHosts]:
    """Start it on free ports, with everything in `folder`, and end it."""
    first = with_free_ports(folder / "data")
    second = replace(first, data=first.data / "second", host_port=with_free_ports(folder).host_port)
    with Stack(first, plan=partial(_plan, second=second)) as running, surround(first) as services:
        yield TwoHosts(WholeStack(running, services), [first, second])


def _plan(settings: LocalSettings, second: LocalSettings) -> Sequence[Sequence[Part]]:
    *others, [host] = plan_embedded_azure(settings, OVERRIDES, timedelta(seconds=5))
    return [*others, [host, _at(host, second)]]


def _at(host: Part, settings: LocalSettings) -> Part:
    """Another host of the same app."""
    address = host_url(settings)
    *command, _, _, _, _, app, root = host.command
    where = ("--port", str(settings.host_port), "--data", str(settings.data))
    own = {"REGISTRATION_URL": address, "PUBLIC_URL": address}
    return replace(
        host,
        name="host-2",
        command=(*command, *where, app, root),
        environment={**host.environment, **own},
        address=address,
    )
