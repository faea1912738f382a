"""The whole app in one process, on a database of its own, with all around it in memory."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

import pytest

from shared import wiring
from shared.adapters.database import SqlDatabase
from shared.contracts.incoming import Source
from shared.domain.errors import ConflictingStateError, NotFoundError, TransientError
from shared.domain.extractor_calls import Answer
from shared.domain.jobs import File, Job, JobStatus
from shared.functions import holding, reconcile
from shared.functions.handling import handle_here
from shared.functions.holding import Patience
from shared.services.cancel_job import Cancellation
from shared.services.handle_dead_letters import Operator
from shared.services.record_callback import CallbackReport
from tests.database import add_file, empty_database
from tests.unit.functions.any_order.bus import Bus, Waiting
from tests.unit.functions.any_order.checks import (
    all_attempts,
    all_jobs,
    check_announcements,
    check_files,
    check_retries,
)
from tests.unit.functions.any_order.hub import Hub
from tests.unit.services.world import TAKEN, Crash, Steps, World

run_reconcile = reconcile.reconcile._function.get_user_function().client_function

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
HASHES = ("hash-a", "hash-a")
OPERATOR = Operator("operator", "ada", "calm again")
NO_PATIENCE = Patience(held=timedelta(0), not_yet=timedelta(0), afterwards=timedelta(0))


Trouble = int | str | None
PARTS = ("database", "service bus", "registration", "blob storage", "durable")


class Service:
    """The app's triggers, activities, orchestrator and timer, with two files of one content.

    `trouble` is the step, counted from 1, at which the process dies, or the part that is away.
    """

    def __init__(self) -> None:
        self._folder = TemporaryDirectory()
        self._patch = pytest.MonkeyPatch()
        self._runner = asyncio.Runner()
        engine = empty_database(Path(self._folder.name)).engine
        sql = SqlDatabase(engine, sleep=lambda _: None, now=lambda: self.world.now)
        self.world = World(sql, now=START, removes_jobs=True)
        self.files = [
            add_file(sql, UUID(int=number), document_hash=hash_, created_at=START)
            for number, hash_ in enumerate(HASHES, 1)
        ]
        self.hub = Hub(self.world)
        self.bus = Bus(self.world, self.hub, self._runner)
        app = self.world.as_app()
        self._patch.setattr(wiring, "_app", lambda: app)
        self._patch.setattr(holding, "PATIENCE", NO_PATIENCE)
        self.accepted: set[UUID] = set()
        self._not_ours: set[int] = set()
        self._ended: dict[UUID, Job] = {}
        self._taken: Counter[UUID] = Counter()
        self._unrecorded: Counter[UUID] = Counter()

    def close(self) -> None:
        self._runner.close()
        self.world.sql.close()
        self._patch.undo()
        self._folder.cleanup()

    def accept(self, file: File) -> None:
        """The file service announces a file."""
        document = {"FileID": str(file.file_id), "Timestamp": self.world.now.isoformat()}
        self.bus.put(Source.ACCEPTED_FILE, document)
        self.accepted.add(file.file_id)

    def deliver(self, waiting: Waiting, again: bool = False, trouble: Trouble = None) -> bool:
        """Hand a message to its trigger; whether it is done with."""
        with self._in(trouble):
            return self.bus.deliver(waiting, again)
        return False

    def work(
        self,
        job_id: UUID,
        answer: Answer = TAKEN,
        meanwhile: Callable[[], object] = lambda: None,
        trouble: Trouble = None,
    ) -> None:
        """An orchestration goes on; `meanwhile` happens while the extractor is being called."""
        posts = len(self.world.called)
        self.world.answers, self.world.while_calling = [answer], meanwhile
        with self._in(trouble):
            self.hub.work(str(job_id))
        self.world.answers, self.world.while_calling = [], lambda: None
        posts = len(self.world.called) - posts
        assert posts <= 1, "called twice at once"
        if posts and answer is TAKEN:
            call = self.world.sql.run(lambda tx: tx.calls.get(job_id))
            self._taken[job_id] += 1
            self._unrecorded[job_id] += call is None or call.called_at is None

    def report_by_callback(self, job_id: UUID, status: JobStatus, trouble: Trouble = None) -> None:
        """The extractor reports over HTTPS; what we then publish without a database is its own."""
        sent = len(self.world.sent)
        with self._in(trouble):
            self.world.callback_use_case(CallbackReport(job_id, status, "{}"))
        if trouble == "database":
            self._not_ours |= {id(message) for message in self.world.sent[sent:]}

    def cancel(self, job_id: UUID, trouble: Trouble = None) -> None:
        """An operator cancels a job."""
        with self._in(trouble):
            self.world.cancel_use_case(Cancellation(job_id, "wrong file", "ada"))

    def pause_or_resume(self) -> None:
        """An operator pauses the extractor, or resumes it."""
        with self._in(None):
            (view,) = self.world.extractor_views.all()
            if view.health.paused_at:
                self.world.extractor_views.resume(view.registered.extractor_id)
            else:
                self.world.extractor_views.pause(view.registered.extractor_id, "moved", "ada")

    def reconcile(self, trouble: Trouble = None) -> None:
        """The timer makes a pass; it fails as a whole when the durable backend is away."""
        with self._in(trouble), suppress(Exception):
            self._runner.run(run_reconcile(None, self.hub))

    def purge(self, trouble: Trouble = None) -> None:
        """The nightly timer; what is gone may begin anew under the same ids."""
        before = {job.job_id: job for job in all_jobs(self.world.sql)}
        with self._in(trouble):
            self.world.purge()
        left = {job.job_id for job in all_jobs(self.world.sql)}
        gone = {job_id: job for job_id, job in before.items() if job_id not in left}
        assert not any(job.active for job in gone.values())
        self.accepted -= {job.file_id for job in gone.values()}
        self._not_ours |= {
            id(each) for each in self.world.sent if each.correlation_id in map(str, gone)
        }
        for kept in (self._ended, self._taken, self._unrecorded):
            for job_id in gone:
                kept.pop(job_id, None)

    def let_pass(self, **time: float) -> None:
        """Time goes by, and with it messages that nobody has received."""
        self.world.passes(**time)
        self.bus.expire()

    def resubmit_dead_letters(self) -> None:
        """An operator has all dead letters handled again; what cannot be is kept."""

        async def resubmit() -> None:
            handle, views = handle_here(self.hub), self.world.dead_letters
            for source in [each for each in Source if self.world.dead[each].letters]:
                await asyncio.to_thread(views.resubmit, source.value, None, OPERATOR, handle)

        self._runner.run(resubmit())
        self.bus.collect()

    def dead_letters(self) -> list[tuple[Source, str]]:
        """Where dead letters lie, and why."""
        return [
            (source, explanation.code)
            for source in Source
            for _, explanation in self.world.dead_letters.peek(source.value, 0, 100)
        ]

    def use_extractor(self) -> None:
        """The extractor is registered and called."""
        self.world.registered = None
        self.world.extractor_views.resume(101)

    def job(self, job_id: UUID) -> Job | None:
        """The job's row."""
        return self.world.sql.run(lambda tx: tx.jobs.get(job_id))

    def check(self) -> None:
        """What must hold after every step."""
        jobs = all_jobs(self.world.sql)
        check_files(jobs)
        check_retries(all_attempts(self.world.sql), jobs)
        ours = [each for each in self.world.sent if id(each) not in self._not_ours]
        check_announcements(jobs, ours)
        for job in jobs:
            assert self._ended.get(job.job_id, job) == job, "an end has changed"
            assert self._taken[job.job_id] <= 1 + self._unrecorded[job.job_id], "called twice"
        self._ended |= {job.job_id: job for job in jobs if not job.active}

    @contextmanager
    def _in(self, trouble: Trouble) -> Iterator[None]:
        """Until the process dies, or what was asked is refused; what was sent by then is sent."""
        if isinstance(trouble, str):
            self.world.down = {trouble}
        elif trouble:
            self.world.steps = Steps(trouble)
        with suppress(Crash, TransientError, NotFoundError, ConflictingStateError):
            yield
        self.world.steps, self.world.down = Steps(), set()
        self.bus.collect()
