"""Starts the stack, shows a document's job and the restart of a failed one, and stays up."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

from requests import RequestException

from local.demo.console import near, say, say_part, size
from local.demo.document import Document
from local.demo.follow import JobStuckError, announced_steps, show_job
from local.demo.live import LiveStatuses
from local.demo.operator import Operator
from local.demo.restart import fail_once, restart
from local.demo.stay import stay
from local.demo.surroundings import Surroundings, surround
from local.settings import LocalSettings
from local.supervisor.log import show_nothing
from local.supervisor.stack import Stack


def run(settings: LocalSettings, document: Document, once: bool, verbose: bool) -> bool:
    """Whether the document's job succeeded; without `once`, True after Ctrl-C.

    Raises what `Stack.start` raises, and AzureError.
    """
    began = time.monotonic()
    say(f"Starting the embedded Azure, with its data in {near(settings.data)}/")
    stack = Stack(
        settings,
        keep_alive=True,
        announce=lambda line: say(f"  {line}"),
        show=say_part if verbose else show_nothing,
    )
    live = LiveStatuses()
    with stack, surround(settings, live) as services:
        say(f"All parts are ready after {time.monotonic() - began:.1f} s.")
        say()
        succeeded = _show(stack, lambda: _show_one(services, document))
        if once:
            return succeeded
        _show(stack, lambda: _show_restart(services, Operator(settings)))
        live.shown = True
        stay(stack)
    return True


def _show(stack: Stack, act: Callable[[], bool]) -> bool:
    """Whether it went well; what got stuck is told with what the host said last."""
    try:
        return act()
    except (JobStuckError, TimeoutError, RequestException) as problem:
        say(f"{problem}; {stack.parts['host'].log.last_words()}")
        return False


def _show_restart(services: Surroundings, operator: Operator) -> bool:
    return restart(services, operator, fail_once(services))


def _show_one(services: Surroundings, document: Document) -> bool:
    say(f"Submitting {document.name}, {size(len(document.content))}")
    since = datetime.now(UTC)
    stored = services.files.submit(document.content, document.name)
    say(f"  file  {stored.file_id}")
    say(f"  job   {stored.job_id}")
    say()
    return show_job(announced_steps(services.statuses, stored.job_id), since)
