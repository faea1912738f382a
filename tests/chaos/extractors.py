"""Extractors by their moods: sound ones, and those that lie, hang and answer 500 by turns."""

import random
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from uuid import UUID, uuid4

from sqlalchemy.exc import SQLAlchemyError

from local.demo.registrations import register_extractor
from shared.adapters.database import SqlDatabase
from tests.chaos.timing import Pace, Timing


class Wanted(Enum):
    """How a file must end, whatever happens on the way."""

    SUCCEEDED = "succeeded"
    ANY = "succeeded, or failed with every retry"
    FAILED_AT_ONCE = "failed, and not tried again"


SOUND = (
    "instant",
    "",
    "busy=0.5,instant",
    "slow=1,instant",
    "report-twice,instant",
    "report-late=0.5,instant",
    "html,instant",
    "big,instant",
)
"""Whatever they do, what they report of a job in the end is that it succeeded.

Most are instant: reading documents takes the time that the failures are to have.
"""

LYING = (
    *SOUND,
    "lose-answer,instant",
    "empty",
    "status=500",
    "status=503,retry-after=1",
    "retry-after=1",
    "fail-report",
)

SOUND_CLIENTS, LYING_CLIENTS = 5, 5
FIRST_ID = 100


@dataclass(frozen=True)
class Client:
    """A client application with its one extractor; `moods` are what it goes through by turns."""

    name: str
    extractor_id: int
    wanted: Wanted
    moods: Sequence[str]


@dataclass
class Extractors:
    """All the clients of a run. `url` is where the sample extractor takes jobs."""

    database: SqlDatabase
    url: str
    clients: Sequence[Client]
    ghosts: Sequence[UUID]
    """Jobs that do not exist, under whose ids lying extractors report."""

    def register(self) -> None:
        """All of them, each in its first mood."""
        for client in self.clients:
            self._turn(client, client.moods[0] if client.moods else "")

    def of(self, wanted: Wanted) -> Sequence[Client]:
        return [client for client in self.clients if client.wanted is wanted]

    def ghost_statuses(self) -> set[str]:
        """The message ids under which lying extractors may report of them."""
        return {
            f"{ghost}:{status}"
            for ghost in self.ghosts
            for status in ("Started", "Succeeded", "Failed")
        }

    def turn_at_random(self, chance: random.Random, pace: Pace, calm: threading.Event) -> None:
        """Change the mood of one after the other; at the end all are sound again."""
        moody = [client for client in self.clients if len(client.moods) > 1]
        while not calm.wait(chance.uniform(0, pace.between_moods)):
            client = chance.choice(moody)
            with suppress(SQLAlchemyError):  # the database may be locked just now
                self._turn(client, chance.choice(client.moods))
        self.register()

    def _turn(self, client: Client, mood: str) -> None:
        url = f"{self.url}?behaviour={mood}"
        register_extractor(
            self.database, client.extractor_id, client.name, url, active=bool(client.moods)
        )


def make_extractors(
    database: SqlDatabase, url: str, timing: Timing, *, hanging: bool
) -> Extractors:
    """Sound, lying and refusing extractors, and a client without one.

    `hanging` ones keep a job until the app's own deadlines end it, which takes minutes.
    """
    ghosts = (uuid4(), uuid4())
    lying = [*LYING, f"slow={timing.call_seconds + 1:g},instant"]
    if hanging:
        lying += ["silent", *(f"report-as={ghost},instant" for ghost in ghosts)]
    kinds: Sequence[tuple[str, Wanted, Sequence[str]]] = (
        *[("sound", Wanted.SUCCEEDED, SOUND)] * SOUND_CLIENTS,
        *[("lying", Wanted.ANY, lying)] * LYING_CLIENTS,
        ("refusing", Wanted.FAILED_AT_ONCE, ("refuse",)),
        ("without", Wanted.FAILED_AT_ONCE, ()),
    )
    clients = [
        Client(f"{name}-{number}", number, wanted, moods)
        for number, (name, wanted, moods) in enumerate(kinds, FIRST_ID)
    ]
    return Extractors(database, url, clients, ghosts)
