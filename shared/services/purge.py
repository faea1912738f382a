"""Removing what is no longer needed, in small batches."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from shared.domain.retention import Retention
from shared.services.ports import Clock, Database, Transaction

BATCH = 500
"""Rows of the outbox in one transaction."""
SMALL_BATCH = 50
"""Requests, or files with their jobs and events, in one transaction."""
MOST_BATCHES = 200
"""In one run; the next run takes the rest."""


class PurgeOldData:
    """Removes outbox rows that were sent long ago and, where that is wanted, finished work.

    That is requests first, then files' jobs that are in no request any more, with their calls and
    events. All jobs of a file go together, so that its timeline is whole or gone; what people did
    stays in it.
    """

    def __init__(self, database: Database, retention: Retention, clock: Clock) -> None:
        self._database = database
        self._retention = retention
        self._clock = clock

    @property
    def before(self) -> datetime:
        """What ended before this time is old."""
        return self._clock() - self._retention.keep

    def __call__(self) -> Mapping[str, int]:
        """How many of each kind were removed. Raises TransientError; what is removed by then is."""
        before = self.before
        removed = {"outboxRows": self._in_batches(lambda tx: tx.outbox.purge(before, BATCH), BATCH)}
        if self._retention.removes_jobs:
            removed["requests"] = self._in_batches(lambda tx: _remove_requests(tx, before))
            removed["jobs"] = self._remove_jobs(before)
        return removed

    def _in_batches(self, remove: Callable[[Transaction], int], size: int = SMALL_BATCH) -> int:
        removed = 0
        for _ in range(MOST_BATCHES):
            count = self._database.run(remove)
            removed += count
            if count < size:
                break
        return removed

    def _remove_jobs(self, before: datetime) -> int:
        """The files are looked for once: that reads the table of all jobs."""
        limit = SMALL_BATCH * MOST_BATCHES
        found = sorted(self._database.run(lambda tx: tx.old_data.files(before, limit)))
        batches = [
            found[start : start + SMALL_BATCH] for start in range(0, len(found), SMALL_BATCH)
        ]
        return sum(self._remove_files(batch, before) for batch in batches)

    def _remove_files(self, file_ids: Sequence[UUID], before: datetime) -> int:
        """The jobs of each file; it is locked first, so that none is made meanwhile."""

        def remove(tx: Transaction) -> int:
            removed = 0
            for file_id in file_ids:
                tx.jobs.lock_of_file(file_id)
                removed += tx.old_data.remove_jobs(file_id, before)
            return removed

        return self._database.run(remove)


def _remove_requests(tx: Transaction, before: datetime) -> int:
    found = tx.old_data.requests(before, SMALL_BATCH)
    tx.old_data.remove_requests(found)
    return len(found)
