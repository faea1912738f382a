"""Starts the stack, shows a document's job and the restart of a failed one, and stays up."""

import signal
import time
from collections.abc import Callable
from datetime import UTC, datetime

from requests import RequestException

from local.demo.console import near, say, say_part, size
from local.demo.document import Document
from local.demo.follow import JobStuckError, announced_steps, show_job
from local.demo.next_steps import next_steps
from local.demo.operator import Operator
from local.demo.restart import fail_once, restart
from local.demo.status_service import Announcement
from local.demo.surroundings import Surroundings, surround
from local.settings import LocalSettings
from local.supervisor.log import show_nothing
from local.supervisor.stack import Stack


class LiveStatuses:
    """Prints what the Status service hears of jobs, once the first one has been shown."""

    def __init__(self) -> None:
        self.shown = False

    def __call__(self, announcement: Announcement) -> None:
        if self.shown:
            reason = announcement.report.text
            say(
                f"{announcement.received_at.astimezone():%H:%M:%S}  job {announcement.job_id}"
                f"  {announcement.status}{f': {reason}' if reason else ''}"
            )


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
        _stay(stack)
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


def _stay(stack: Stack) -> None:
    say()
    addresses = {name: process.part.address for name, process in stack.parts.items()}
    for line in next_steps(stack.settings, addresses):
        say(line)
    say()
    try:
        while True:
            signal.pause()
    except KeyboardInterrupt:
        say("\nStopping.")
        stack.stop()  # first of all, the connections to it afterwards
