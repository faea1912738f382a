"""Removing what is no longer needed, in small batches."""

from datetime import datetime, timedelta

from shared.services.ports import Clock, Database

BATCH = 500
MOST_BATCHES = 200
"""In one run; the next run takes the rest."""


class PurgeOldData:
    """Removes outbox rows that were sent before `keep` ago. Jobs and file events stay."""

    def __init__(self, database: Database, keep: timedelta, clock: Clock) -> None:
        self._database = database
        self._keep = keep
        self._clock = clock

    @property
    def before(self) -> datetime:
        """What ended before this time is old."""
        return self._clock() - self._keep

    def __call__(self) -> int:
        """How many rows were removed. Raises TransientError."""
        before = self.before
        removed = 0
        for _ in range(MOST_BATCHES):
            count = self._database.run(lambda tx: tx.outbox.purge(before, BATCH))
            removed += count
            if count < BATCH:
                break
        return removed
