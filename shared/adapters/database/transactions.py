"""Units of work: each runs in one transaction, and again when a failure may pass."""

import logging
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from shared.adapters.database.calls import SqlCalls
from shared.adapters.database.entities import SqlEntities
from shared.adapters.database.events import SqlEvents
from shared.adapters.database.extractor_health import SqlExtractorHealths
from shared.adapters.database.files import SqlFiles
from shared.adapters.database.jobs import SqlJobs
from shared.adapters.database.mended import SqlMended
from shared.adapters.database.old_data import SqlOldData
from shared.adapters.database.outbox import SqlOutbox
from shared.adapters.database.registrations import SqlRegistrations
from shared.adapters.database.retries import SqlRetries
from shared.adapters.database.transient import passing_reason
from shared.domain.errors import TransientError
from shared.services.ports import Clock, ConflictError
from shared.telemetry import log_event

T = TypeVar("T")

MAX_TRIES = 6
GIVE_UP_AFTER = 20
"""Seconds after which no further try begins: what holds a message or a request waits better."""
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 2.0

logger = logging.getLogger(__name__)


class SqlTransaction:
    """The repositories of one transaction."""

    def __init__(self, connection: Connection, now: Clock) -> None:
        self.jobs = SqlJobs(connection)
        self.calls = SqlCalls(connection)
        self.events = SqlEvents(connection)
        self.outbox = SqlOutbox(connection, now)
        self.files = SqlFiles(connection)
        self.extractor_healths = SqlExtractorHealths(connection)
        self.registrations = SqlRegistrations(connection)
        self.retries = SqlRetries(connection)
        self.mended = SqlMended(connection)
        self.old_data = SqlOldData(connection)
        self.entities = SqlEntities(connection)


class SqlDatabase:
    """Runs units of work on an engine. `sleep` and `clock` take and give seconds.

    `now` dates what a unit leaves undated: the rows of the outbox.
    """

    def __init__(
        self,
        engine: Engine,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        now: Clock = lambda: datetime.now(UTC),
    ) -> None:
        self.engine = engine
        self._sleep = sleep
        self._clock = clock
        self._now = now

    def run(self, unit: Callable[[SqlTransaction], T]) -> T:
        """Run `unit` in one transaction and commit it.

        A failure that may pass (`transient.py`) and a ConflictError run the whole unit again, after
        doubling pauses with jitter. So `unit` must have no effect outside the transaction, and must
        do well when it finds its own work done: a connection can be lost after the commit.
        Raises TransientError when the tries or the time are used up; anything else as it is.
        """
        give_up_at = self._clock() + GIVE_UP_AFTER
        tries = 0
        while True:
            try:
                with self.engine.begin() as connection:
                    return unit(SqlTransaction(connection, self._now))
            except (ConflictError, SQLAlchemyError) as error:
                reason = passing_reason(error)
                if reason is None:
                    raise
            tries += 1
            if tries == MAX_TRIES or self._clock() >= give_up_at:
                raise TransientError("database", f"{reason} (try {tries} of {MAX_TRIES})")
            log_event(logger, "Transaction run again", logging.WARNING, reason=reason, tries=tries)
            self._sleep(_pause(tries))

    def close(self) -> None:
        """Close the connections that no one is using."""
        self.engine.dispose()


def _pause(tries: int) -> float:
    doubled: float = FIRST_PAUSE * 2 ** (tries - 1)
    return min(doubled, LONGEST_PAUSE) * random.uniform(0.5, 1.5)
