"""Starts everything but the host, for the Azure Functions Core Tools to run the app on."""

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from local.demo.console import near, say, say_part
from local.demo.live import LiveStatuses
from local.demo.stay import stay
from local.demo.surroundings import surround
from local.settings import LocalSettings
from local.supervisor.log import show_nothing
from local.supervisor.plan import func_settings_path, plan_for_core_tools
from local.supervisor.processes import ROOT
from local.supervisor.stack import Stack

CORE_TOOLS = "https://learn.microsoft.com/azure/azure-functions/functions-run-local"


def run_without_host(settings: LocalSettings, verbose: bool) -> None:
    """Start the parts, say how to start the host, and stay up until Ctrl-C.

    Raises what `Stack.start` raises.
    """
    say(f"Starting the embedded Azure without its host, with its data in {near(settings.data)}/")
    stack = Stack(
        settings,
        plan=plan_for_core_tools,
        keep_alive=True,
        announce=lambda line: say(f"  {line}"),
        show=say_part if verbose else show_nothing,
    )
    live = LiveStatuses()
    with stack, surround(settings, live):
        say()
        for line in how_to_start(settings, ROOT):
            say(line)
        live.shown = True
        stay(stack)


def how_to_start(settings: LocalSettings, app: Path) -> Iterator[str]:
    """The lines that say how the host is started. No file of the app's folder is touched."""
    ours = near(func_settings_path(settings.data))
    own = app / "local.settings.json"
    yield "Start the host, in another terminal"
    if shutil.which("func") is None:
        yield f"  The Azure Functions Core Tools are not on the path: {CORE_TOOLS}"
    if own.exists():
        yield f"  {own.name} is there already and has been left alone; compare it with"
        yield f"    {ours}"
    else:
        yield f"  cp {shlex.quote(ours)} {own.name}"
    yield f"  func start --port {settings.host_port}"
