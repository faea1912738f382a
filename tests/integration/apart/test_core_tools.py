"""The parts without the host: another host runs the app on them with the settings in the file."""

import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import requests

from local.settings import HOST, LocalSettings
from local.supervisor.environment import host_url, storage_ports
from local.supervisor.plan import func_settings_path, plan_for_core_tools
from local.supervisor.ports import with_free_ports
from local.supervisor.processes import ROOT
from local.supervisor.stack import Stack


def test_a_host_that_is_given_only_the_written_settings_runs_the_app(tmp_path: Path) -> None:
    # Given the parts without a host, as `make run HOST=func` starts them
    settings = with_free_storage_ports(tmp_path / "data")
    with Stack(settings, plan=plan_for_core_tools) as stack:
        assert set(stack.parts) == {"blob", "servicebus", "identity", "extractor"}

        # And that blobs, queues and tables answer
        for service, port in storage_ports(settings).items():
            server = requests.get(f"http://{HOST}:{port}/devstoreaccount1/x").headers["Server"]
            assert server.startswith(f"Azurite-{service.capitalize()}/")

        # When the app is copied to a folder with the settings beside it
        app = tmp_path / "app"
        app.mkdir()
        for name in ("function_app.py", "host.json"):
            shutil.copy(ROOT / name, app)
        shutil.copy(func_settings_path(settings.data), app / "local.settings.json")

        # Then a host runs it, and everything that it needs is there
        with running_host(app, settings):
            answer = requests.get(f"{host_url(settings)}/health/ready")
            assert answer.status_code == 200, answer.text


def with_free_storage_ports(data: Path) -> LocalSettings:
    """Free ports, three of them in a row."""
    while True:
        settings = with_free_ports(data)
        start = settings.host_port + 20
        with ExitStack() as held:
            try:
                for port in range(start, start + 3):
                    held.enter_context(socket.create_server((HOST, port)))
            except OSError:
                continue
        return replace(settings, blob_port=start)


@contextmanager
def running_host(app: Path, settings: LocalSettings) -> Iterator[None]:
    """The embedded host in the place of `func start`: it is told nothing but these two."""
    data = settings.data / "host"
    command = [sys.executable, "-m", "local.host", "--app", str(app), "--data", str(data)]
    with subprocess.Popen(
        [*command, "--port", str(settings.host_port)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert any(line.startswith("ready host") for line in process.stdout)
            yield
        finally:
            process.kill()
