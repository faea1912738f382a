"""Parts that fail: killed and started again, paused, stopped, or kept from their database."""

import random
import subprocess
import sys
import threading

from local.supervisor.environment import database_path
from local.supervisor.stack import Stack
from tests.chaos.journal import Journal, Kind, now
from tests.chaos.timing import Pace

KILLED = (
    *("host", "host", "host"),
    *("servicebus", "servicebus"),
    *("extractor", "extractor"),
    "identity",
)
"""By how often: most of what can break is in the host. Azurite forgets when it is killed."""

PAUSED = ("host", "servicebus", "extractor", "identity", "blob")
BLOB_GRACE_SECONDS = 20.0


class FailingParts:
    """Each method breaks one part and mends it again."""

    def __init__(self, stack: Stack, journal: Journal) -> None:
        self._stack = stack
        self._journal = journal

    def kill(self, name: str, dead: threading.Event | None = None, seconds: float = 0) -> None:
        """End a part with everything it was doing; `dead` ends its time early."""
        part = self._stack.parts[name]
        at = now()
        part.kill()
        if dead:
            dead.wait(seconds)
        part.start()
        self._journal.note(Kind.KILLED, name, at)

    def pause(self, name: str, over: threading.Event, seconds: float) -> None:
        """Freeze a part: it keeps its connections and answers nothing."""
        part = self._stack.parts[name]
        at = now()
        part.pause()
        over.wait(seconds)
        part.resume()
        self._journal.note(Kind.PAUSED, name, at)

    def stop_blobs(self, over: threading.Event, seconds: float) -> None:
        """End the blob store as an update does: it writes down what it has first."""
        part = self._stack.parts["blob"]
        at = now()
        part.stop(BLOB_GRACE_SECONDS)
        over.wait(seconds)
        part.start()
        self._journal.note(Kind.STOPPED, "blob", at)

    def lock_database(self, seconds: float) -> None:
        """Have another process hold the lock of the database's file."""
        path = database_path(self._stack.settings.data)
        command = [sys.executable, "-m", "tests.chaos.hold_lock", str(path), str(seconds)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
            assert holder.stdout is not None
            holder.stdout.readline()
            at = now()
        self._journal.note(Kind.LOCKED, "database", at)


def kill_at_random(
    parts: FailingParts, chance: random.Random, pace: Pace, calm: threading.Event
) -> None:
    """One after the other, until all is to be calm."""
    while not calm.wait(chance.uniform(0.2, pace.between_kills)):
        parts.kill(chance.choice(KILLED), calm, chance.uniform(0, pace.dead))


def stop_at_random(
    parts: FailingParts, chance: random.Random, pace: Pace, calm: threading.Event
) -> None:
    """Pauses, locks and a blob store that goes away, beside the kills."""
    while not calm.wait(chance.uniform(0.2, pace.between_stops)):
        what = chance.choice((*PAUSED, "the blob store stops", "the database is locked"))
        seconds = chance.uniform(0.5, pace.stopped)
        if what == "the blob store stops":
            parts.stop_blobs(calm, seconds)
        elif what == "the database is locked":
            parts.lock_database(seconds)
        else:
            parts.pause(what, calm, seconds)
