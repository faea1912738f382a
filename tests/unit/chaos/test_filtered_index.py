"""Two hosts that decide for one file at once make one job, because of the filtered unique index.

On SQLite the transaction's own lock comes first, so the second host is made to read too early.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from shared.adapters.database import SqlDatabase
from shared.adapters.database.transactions import SqlTransaction
from shared.services.handle_retry import HandleRetry
from shared.services.job_rules import JobRules
from tests.chaos.check_jobs import doubled_jobs
from tests.chaos.rows import Rows
from tests.chaos.settling import jobs_by_file
from tests.database import empty_database
from tests.unit.services.world import LIMITS, POLICY, RETENTION, World

RULES = JobRules(
    LIMITS, POLICY, "job-status", "extraction-retry", "extraction-result", lambda: 0.0, RETENTION
)


@dataclass
class EarlyReader:
    """A database whose reader sees a file's jobs as they stood before the others wrote.

    Once it was refused, it looks again.
    """

    database: SqlDatabase

    def run[T](self, unit: Callable[[SqlTransaction], T]) -> T:
        tries = count(1)

        def early(tx: SqlTransaction) -> T:
            if next(tries) == 1:
                tx.jobs.lock_of_file = lambda _: []  # type: ignore[method-assign]  # on purpose
            return unit(tx)

        return self.database.run(early)


@pytest.fixture
def database(tmp_path: Path) -> SqlDatabase:
    return empty_database(tmp_path)


def decide_at_once(database: SqlDatabase) -> list[str]:
    """What the check finds after two requests that were decided from the same reading."""
    world = World(database)
    world.retried(request="one")
    world.retry_use_case = HandleRetry(EarlyReader(database), world, RULES, world.clock)
    world.retried(request="two")
    jobs = Rows(Path(database.engine.url.database or "")).jobs()
    return doubled_jobs(jobs_by_file(jobs))


def test_two_hosts_that_decide_at_once_make_one_job(database: SqlDatabase) -> None:
    assert decide_at_once(database) == []


def test_without_the_index_the_check_turns_red(database: SqlDatabase) -> None:
    with database.engine.begin() as connection:
        connection.exec_driver_sql("DROP INDEX UX_Job_Active")
    assert any("had two active jobs at once" in found for found in decide_at_once(database))
