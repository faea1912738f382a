"""What a person can do with a stack that runs: addresses, logs and commands to paste."""

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from local.demo.console import near
from local.demo.registrations import DEMO_CLIENT
from local.settings import LocalSettings
from local.supervisor.environment import host_url

DEFAULT_DATA = ".local"


def next_steps(settings: LocalSettings, addresses: dict[str, str]) -> Iterator[str]:
    """The lines to print. Commands hold no token: each makes a fresh one when it is run."""
    make = f"make{_data_variable(settings.data)}"
    yield "What to do next, in another terminal"
    yield f"  Submit a file       {make} submit FILE=path/to/file.pdf"
    yield f"  Look at the jobs    {make} jobs"
    yield f"  Follow the logs     {make} logs"
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
    python = os.path.relpath(sys.executable)
    data = shlex.quote(near(settings.data))
    token = f"$({python} -m local.identity.token --data {data} --role REGISTRATION_READ)"
    url = f"{host_url(settings)}/registration/{DEMO_CLIENT}/extractors"
    return f'curl -s -H "Authorization: Bearer {token}" {url}'


def _data_variable(data: Path) -> str:
    return "" if data == Path(DEFAULT_DATA).resolve() else f" LOCAL_DATA={shlex.quote(near(data))}"
