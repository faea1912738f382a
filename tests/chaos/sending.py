"""The files of a run, one after the other, and everything that is sent around them."""

import json
import random
import time
from collections.abc import Callable, Sequence
from uuid import uuid4

from local.demo.file_service import StoredFile
from shared.contracts.wire import format_timestamp
from tests.chaos.extractors import Client, Extractors, Wanted
from tests.chaos.journal import now
from tests.chaos.rows import Rows
from tests.chaos.sent import Sent, SentFile
from tests.chaos.statuses import ACCEPTED_FILE, Statuses
from tests.chaos.timing import Pace
from tests.chaos.topics import Topics

LYING_SHARE, REFUSED_SHARE = 0.25, 0.04
TWICE_SHARE = 0.3
EARLY_SHARE, LATE_SHARE, AGAIN_SHARE = 0.05, 0.15, 0.05
NO_JOB_SHARE, NO_FILE_SHARE, BROKEN_SHARE = 0.02, 0.01, 0.03

STATUSES = ("Started", "Succeeded", "Failed")

Store = Callable[[bytes, str, str], StoredFile]
"""Content, name and client application: puts a file into the blob store and writes its row."""


class Sending:
    """Sends files and writes down what it sent. The same `chance` sends the same."""

    def __init__(self, topics: Topics, rows: Rows, sent: Sent, chance: random.Random) -> None:
        self._topics = topics
        self._rows = rows
        self._sent = sent
        self._chance = chance
        self._statuses = Statuses(topics, sent)

    def send(self, files: Sequence[SentFile], pace: Pace, tell: Callable[[int], None]) -> None:
        """All of them, with pauses; `tell` hears how many were sent."""
        for number, file in enumerate(files, 1):
            self._announce_at_random(file)
            self._disturb_at_random(number)
            tell(number)
            time.sleep(self._chance.uniform(0, pace.between_files))

    def _announce_at_random(self, file: SentFile) -> None:
        if file.wanted is Wanted.SUCCEEDED and self._hits(EARLY_SHARE):
            self._statuses.send_early(file.job_id)
        self._sent.files.append(file)
        for _ in range(1 + self._hits(TWICE_SHARE)):
            announce(self._topics, file)

    def _disturb_at_random(self, number: int) -> None:
        if self._hits(LATE_SHARE):
            file, status = self._chance.choice(self._sent.files), self._chance.choice(STATUSES)
            if file.file_id in self._rows.ended_files():
                self._statuses.send_late(file.job_id, status)
        if self._hits(AGAIN_SHARE):
            announce(self._topics, self._chance.choice(self._sent.files))
        if self._hits(NO_JOB_SHARE):
            self._statuses.send_of_no_job(self._chance.choice(STATUSES))
        if self._hits(NO_FILE_SHARE):
            self._statuses.accept_no_file()
        if self._hits(BROKEN_SHARE):
            self._statuses.send_broken(number)

    def _hits(self, share: float) -> bool:
        return self._chance.random() < share


def announce(topics: Topics, file: SentFile) -> None:
    """FileAccepted; each time it is a message of its own."""
    body = json.dumps({"FileID": file.file_id, "Timestamp": format_timestamp(now())})
    topics.send(ACCEPTED_FILE, body, str(uuid4()), "FileAccepted")


def store_files(
    store: Store, extractors: Extractors, count: int, chance: random.Random
) -> list[SentFile]:
    """Before anything fails: what is tested is what becomes of files once they are accepted."""
    stored = []
    for number in range(count):
        client = _choose(extractors, chance)
        file = store(f"Invoice {number}".encode(), "note.txt", client.name)
        stored.append(SentFile(file, client.wanted))
    return stored


def _choose(extractors: Extractors, chance: random.Random) -> Client:
    share = chance.random()
    if share < REFUSED_SHARE:
        return chance.choice(extractors.of(Wanted.FAILED_AT_ONCE))
    lying = share < REFUSED_SHARE + LYING_SHARE
    return chance.choice(extractors.of(Wanted.ANY if lying else Wanted.SUCCEEDED))
