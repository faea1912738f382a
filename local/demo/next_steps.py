"""What a person can do with a stack that runs: addresses, logs and commands to paste."""

import json
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from local.demo.console import near
from local.demo.operator import REQUESTS, RESTART, ROLE, SCOPE
from local.demo.registrations import DEMO_CLIENT
from local.settings import LocalSettings
from local.supervisor.environment import host_url

DEFAULT_DATA = ".local"
_OPERATOR = f"--scope {SCOPE} --role {ROLE}"


def next_steps(settings: LocalSettings, addresses: dict[str, str]) -> Iterator[str]:
    """The lines to print. Commands hold no token: each makes a fresh one when it is run."""
    make = f"make{_data_variable(settings.data)}"
    yield "What to do next, in another terminal"
    yield f"  Submit a file       {make} submit FILE=path/to/file.pdf"
    yield f"  Look at the jobs    {make} jobs"
    yield f"  Follow the logs     {make} logs"
    yield "  Restart extracted entities, up to 100 at once"
    yield f"    {restart_call(settings)}"
    yield "  See what became of all restarts and retries"
    yield f"    {requests_call(settings)}"
    yield "  Ask the service which extractors the demo client has"
    yield f"    {registration_call(settings)}"
    yield ""
    yield "Addresses"
    for name, address in addresses.items():
        yield f"  {name:<11} {address}"
    yield ""
    yield f"Logs   {near(settings.data / 'logs')}/"
    yield "Stop   Ctrl-C"


def registration_call(settings: LocalSettings) -> str:
    """A curl command with a token of the role that the registration endpoint asks for."""
    return _call(settings, f"/registration/{DEMO_CLIENT}/extractors", "--role REGISTRATION_READ")


def restart_call(settings: LocalSettings) -> str:
    """A curl command by which an operator restarts the first entity of the data folder."""
    body = shlex.quote(json.dumps({"extractedEntityIds": [1]}))
    return f"{_call(settings, RESTART, _OPERATOR)} -H 'Content-Type: application/json' -d {body}"


def requests_call(settings: LocalSettings) -> str:
    """A curl command that lists the newest requests."""
    return _call(settings, REQUESTS, _OPERATOR)


def _call(settings: LocalSettings, path: str, rights: str) -> str:
    python = os.path.relpath(sys.executable)
    data = shlex.quote(near(settings.data))
    token = f"$({python} -m local.identity.token --data {data} {rights})"
    return f'curl -s -H "Authorization: Bearer {token}" {host_url(settings)}{path}'


def _data_variable(data: Path) -> str:
    return "" if data == Path(DEFAULT_DATA).resolve() else f" LOCAL_DATA={shlex.quote(near(data))}"
