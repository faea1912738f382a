"""The restores of `docs/operations/restore.md`, rehearsed: all that was lost comes to its end."""

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import requests
from sqlalchemy import Table, select, update

from local.demo.file_service import StoredFile
from local.demo.operator import Operator, is_over
from local.demo.surroundings import surround
from local.supervisor.environment import database_path, host_url
from local.supervisor.plan import plan_embedded_azure
from local.supervisor.ports import with_free_ports
from local.supervisor.stack import Stack
from shared.adapters.database.tables import job as job_table
from shared.adapters.database.tables import job_call, outbox
from shared.adapters.database.types import Timestamp
from shared.domain.jobs import Job, JobStatus
from shared.services.extractors import Extractors
from tests.integration.conftest import OVERRIDES
from tests.integration.whole_stack import WholeStack, wait_for
from tests.pages import DOCS, blocks

# The SDK leaves the sockets of connections that broke to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.xdist_group("restore"),
]

PAGE = DOCS / "operations" / "restore.md"
FILES_WITHOUT_A_JOB, SEND_AGAIN = (
    block.text for block in blocks(PAGE) if block.info == "sql" and "@Since" in block.text
)
RETRY_SECONDS = "3"
"""Long enough to lose a scheduled retry before it is due."""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeStack]:
    """A stack of its own: its stores are taken away."""
    settings = with_free_ports(tmp_path_factory.mktemp("restore"))
    overrides = OVERRIDES | {"RETRY_BACKOFF_SECONDS": RETRY_SECONDS}
    plan = partial(plan_embedded_azure, overrides=overrides, lock_duration=timedelta(seconds=5))
    with Stack(settings, plan=plan) as running, surround(settings) as services:
        yield WholeStack(running, services)


def client_that(stack: WholeStack, behaviour: str) -> str:
    return stack.client_with(f"{stack.extraction_url}?behaviour={behaviour}")


def started(stack: WholeStack, stored: StoredFile) -> None:
    stack.wait_for_job(stored.job_id, lambda job: job.status is JobStatus.STARTED)


def time_passes(stack: WholeStack, table: Table, column: Any, ids: Sequence[UUID]) -> None:
    """Two hours, for the rows of these ids: everything in them was that much earlier."""
    times = [each for each in table.c if isinstance(each.type, Timestamp)]
    with stack.services.database.engine.begin() as connection:
        for row in connection.execute(select(table).where(column.in_(ids))).all():
            earlier = {
                each.name: value - timedelta(hours=2)
                for each in times
                if (value := row._mapping[each])
            }
            key = next(iter(table.primary_key))
            connection.execute(update(table).where(key == row._mapping[key]).values(earlier))


def jobs_grow_old(stack: WholeStack, *stored: StoredFile) -> None:
    ids = [each.job_id for each in stored]
    time_passes(stack, job_table, job_table.c.JobID, ids)
    time_passes(stack, job_call, job_call.c.JobID, ids)


def reconcile(stack: WholeStack) -> None:
    """What the timer does every five minutes."""
    answer = requests.post(
        f"{host_url(stack.stack.settings)}/admin/functions/reconcile",
        headers={"x-functions-key": stack.host_key()},
        json={},
        timeout=10,
    )
    assert answer.status_code == 202


def last_job(stack: WholeStack, stored: StoredFile, jobs: int) -> Job:
    """The file's last job, once it has so many and none is active."""

    def ended() -> Job | None:
        found = stack.jobs_of(stored.file_id)
        over = len(found) == jobs and not any(job.active for job in found)
        return found[-1] if over else None

    return wait_for(ended)


def run_sql(stack: WholeStack, sql: str, since: datetime) -> list[tuple[Any, ...]]:
    """A statement of the page on SQLite, which has no schemas."""
    statement = sql.replace("[extractor].", "").replace("[file].", "")
    moment = since.isoformat(timespec="microseconds").replace("+00:00", "Z")
    path = database_path(stack.stack.settings.data)
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(statement, {"Since": moment}).fetchall()


def take_a_copy(stack: WholeStack, target: Path) -> None:
    with (
        closing(sqlite3.connect(database_path(stack.stack.settings.data))) as source,
        closing(sqlite3.connect(target)) as copy,
    ):
        source.backup(copy)


def put_back(stack: WholeStack, copy: Path) -> None:
    stack.services.database.engine.dispose()
    remove(database_path(stack.stack.settings.data))
    shutil.copy(copy, database_path(stack.stack.settings.data))


def remove(store: Path) -> None:
    """A SQLite file with what belongs to it."""
    for path in store.parent.glob(f"{store.name}*"):
        path.unlink()


def test_a_database_of_two_hours_ago_comes_to_its_end(stack: WholeStack, tmp_path: Path) -> None:
    host, operator = stack.stack.parts["host"], Operator(stack.stack.settings)
    extractors = Extractors(stack.services.database, lambda: datetime.now(UTC))
    paused = int(client_that(stack, "instant").removeprefix("client-"))

    # Before the copy: one file is done, one is being extracted, one is being called for.
    done = stack.submit(b"Invoice 51")
    assert stack.wait_for_end(done.job_id).status is JobStatus.SUCCEEDED
    extractors.pause(paused, "maintenance", "ada@example.com")
    in_hand = stack.submit(b"Invoice 52", client=client_that(stack, "busy=5"))
    started(stack, in_hand)
    called = stack.submit(b"Invoice 53", client=client_that(stack, "slow=2"))
    wait_for(lambda: is_being_called(stack, called.job_id))
    take_a_copy(stack, tmp_path / "copy")

    # After it: both end, another file is extracted, and someone asks for one again.
    since = datetime.now(UTC)
    extractors.resume(paused)
    late = stack.submit(b"Invoice 54")
    asked = operator.post(f"/v1/retry/{done.file_id}", {}).json()["requestId"]
    operator.wait_for_request(asked, is_over)
    for each in (called, in_hand, late):
        assert stack.wait_for_end(each.job_id, 90).status is JobStatus.SUCCEEDED

    # The database is lost, and the copy put back two hours later.
    host.kill()
    put_back(stack, tmp_path / "copy")
    jobs_grow_old(stack, done, called, in_hand)
    host.start()

    # As the page says: what was not in the copy is asked for again.
    assert [each.registered.extractor_id for each in extractors.all() if each.health.paused_at] == [
        paused
    ]
    assert operator.get(f"/v1/requests/{asked}").status_code == 404
    stack.services.files.add_row(late)
    assert (str(late.file_id),) in [row[:1] for row in run_sql(stack, FILES_WITHOUT_A_JOB, since)]
    stack.services.files.announce(late.file_id)
    reconcile(stack)

    # Its extractors have the jobs already and are silent: their time passes, and they are retried.
    for each in (called, late):
        wait_for(lambda each=each: stack.calls_of(each.job_id)["called"] == 2)
        stack.wait_for_event(each.file_id, lambda event: event.kind.value == "call")
    jobs_grow_old(stack, called, late)
    reconcile(stack)

    assert [job.status for job in stack.jobs_of(done.file_id)] == [JobStatus.SUCCEEDED]
    for each in (called, in_hand, late):
        assert last_job(stack, each, jobs=2).status is JobStatus.SUCCEEDED
        stack.wait_for_orchestration(each.job_id)


def test_a_namespace_that_is_made_anew_gets_what_was_lost_in_it(stack: WholeStack) -> None:
    host, bus = stack.stack.parts["host"], stack.stack.parts["servicebus"]
    since = datetime.now(UTC)

    # A report and a file lie in the namespace unread, and a retry waits there for its time.
    reported = stack.submit(b"Invoice 61", client=client_that(stack, "busy=1"))
    started(stack, reported)
    retried = stack.submit(b"Invoice 62", client=client_that(stack, "fail-reports=1"))
    assert stack.wait_for_end(retried.job_id).status is JobStatus.FAILED
    wait_for(lambda: not unsent(stack, retried.job_id))
    host.kill()
    accepted = stack.submit(b"Invoice 63")
    wait_for(lambda: jobs_in_hand(stack) == 0)

    bus.kill()
    remove(stack.stack.settings.data / "servicebus.sqlite3")
    bus.start()
    host.start()

    run_sql(stack, SEND_AGAIN, since)
    assert (str(accepted.file_id),) in [
        row[:1] for row in run_sql(stack, FILES_WITHOUT_A_JOB, since)
    ]
    stack.services.files.announce(accepted.file_id)
    time_passes(stack, outbox, outbox.c.JobID, [retried.job_id])
    jobs_grow_old(stack, reported)
    reconcile(stack)

    assert last_job(stack, accepted, jobs=1).status is JobStatus.SUCCEEDED
    assert last_job(stack, retried, jobs=2).status is JobStatus.SUCCEEDED
    assert last_job(stack, reported, jobs=2).status is JobStatus.SUCCEEDED


def test_lost_orchestrations_are_started_again_and_no_extractor_is_called_twice(
    stack: WholeStack,
) -> None:
    host = stack.stack.parts["host"]
    stored = stack.submit(b"Invoice 71", client=client_that(stack, "busy=6"))
    started(stack, stored)

    host.kill()
    remove(stack.stack.settings.data / "durable.sqlite3")
    host.start()
    assert stack.orchestration(stored.job_id) is None
    time_passes(stack, job_table, job_table.c.JobID, [stored.job_id])
    reconcile(stack)

    assert wait_for(lambda: stack.orchestration(stored.job_id))["runtimeStatus"] == "Running"
    assert stack.wait_for_end(stored.job_id).status is JobStatus.SUCCEEDED
    assert stack.wait_for_orchestration(stored.job_id)["output"] == "Succeeded"
    assert stack.calls_of(stored.job_id)["called"] == 1


def is_being_called(stack: WholeStack, job_id: UUID) -> bool:
    call = stack.services.database.run(lambda tx: tx.calls.get(job_id))
    return call is not None and call.lease_until is not None and call.called_at is None


def jobs_in_hand(stack: WholeStack) -> int:
    """How many jobs the extractor has not reported to their end."""
    address = stack.stack.parts["extractor"].part.address
    return int(requests.get(f"{address}/health", timeout=5).json()["jobsInHand"])


def unsent(stack: WholeStack, job_id: UUID) -> bool:
    return bool(stack.services.database.run(lambda tx: tx.outbox.unsent(job_id)))
