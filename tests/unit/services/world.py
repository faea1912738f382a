"""The use cases on a real database, with collaborators that behave: topic, clock, extractor."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from shared.adapters.database import SqlDatabase
from shared.auth import Access, Caller
from shared.callbacks import Callbacks
from shared.contracts.file_accepted import FileAccepted
from shared.contracts.incoming import Source
from shared.contracts.job_status import read_job_status
from shared.contracts.outgoing import OutgoingMessage
from shared.contracts.retry import ExtractionRetryEvent, read_retry_result
from shared.domain.deadlines import TimeLimits
from shared.domain.errors import TransientError
from shared.domain.extractor_calls import Answer, Callback, Reading
from shared.domain.jobs import Call, Extractor, File, Job
from shared.domain.retention import Retention
from shared.domain.retries import RetryPolicy
from shared.domain.tracking import Step
from shared.services.accept_file import AcceptFile
from shared.services.call_extractor import CallExtractor
from shared.services.cancel_job import CancelJob
from shared.services.dead_letters import DeadLetters
from shared.services.expire_job import ExpireJob
from shared.services.explain_dead_letters import ExplainDeadLetters
from shared.services.extractors import Extractors
from shared.services.handle_dead_letters import HandleDeadLetters, Subscription
from shared.services.handle_retry import Asked, HandleRetry
from shared.services.health import CheckHealth
from shared.services.job_rules import JobRules
from shared.services.job_views import JobViews
from shared.services.outbox import SendOutbox, TryToSendOutbox
from shared.services.ports import Transaction
from shared.services.purge import PurgeOldData
from shared.services.reconcile import Reconcile
from shared.services.record_callback import RecordCallback
from shared.services.record_report import Recorded, RecordReport
from shared.services.restart import RestartExtraction
from shared.services.retry_requests import RetryRequests
from shared.services.stage_mapper import StageMapper
from shared.wiring import App
from tests.database import add_extractor, add_file
from tests.unit.services.dead_letter_queue import DeadLetterQueue

T = TypeVar("T")

LIMITS = TimeLimits(
    call=timedelta(minutes=60),
    start=timedelta(minutes=15),
    run=timedelta(minutes=60),
    max_wait=timedelta(hours=48),
)
POLICY = RetryPolicy(
    automatic=True, first_backoff=timedelta(seconds=30), longest_backoff=timedelta(hours=1)
)
RETENTION = Retention(timedelta(days=30))
KEYS = ["k" * 32, "old" * 11]
OPERATOR = Caller("web-console", "operator@example.com")
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TAKEN = Answer(Reading.TAKEN, '{"accepted": true}', 202)
BUSY = Answer(Reading.PASSING, "The extractor answered 503 Service Unavailable", 503)
REFUSED = Answer(Reading.REFUSED, "The extractor answered 400 Bad Request", 400)


class Crash(BaseException):
    """The process dies here."""


@dataclass
class Steps:
    """Counts the steps that leave the process; dies at number `crash_at`, or never (0)."""

    crash_at: int = 0
    taken: int = 0

    def step(self) -> None:
        self.taken += 1
        if self.taken == self.crash_at:
            raise Crash


@dataclass
class World:
    """A file, its extractor and everything around; `steps` crashes before or after any of them."""

    sql: SqlDatabase
    now: datetime = datetime(2026, 1, 1, 12, tzinfo=UTC)
    steps: Steps = field(default_factory=Steps)
    sent: list[OutgoingMessage] = field(default_factory=list)
    called: list[tuple[str, str, UUID, str]] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    down: set[str] = field(default_factory=set)
    oldest_report: datetime | None = None
    registered: list[Extractor] | None = None
    refused: Exception | None = None
    callback: Callback | None = None
    automatic: bool = True
    most_active: int = 100
    removes_jobs: bool = False
    caller: Caller = OPERATOR
    longest_call: timedelta = timedelta(seconds=30)
    while_calling: Callable[[], object] = lambda: None

    def __post_init__(self) -> None:
        self.file: File = add_file(self.sql, blob_name="a b/report.pdf")
        self.extractor = add_extractor(self.sql)
        self.dead = {source: DeadLetterQueue(self._service_bus) for source in Source}
        self.wire()

    def wire(self) -> None:
        """Make the use cases, as the settings of this world are now."""
        retention = replace(RETENTION, removes_jobs=self.removes_jobs)
        rules = JobRules(
            limits=LIMITS,
            retries=replace(POLICY, automatic=self.automatic),
            status_topic="job-status",
            retry_topic="extraction-retry",
            result_topic="extraction-result",
            jitter=lambda: 0.0,
            most_active=self.most_active,
            retention=retention,
        )
        self.callbacks = Callbacks("https://app.example", KEYS, timedelta(minutes=90), self.clock)
        outbox = SendOutbox(self, self, self.clock)
        self.send_outbox = outbox
        self.accept = AcceptFile(self, self, rules, self.clock)
        self.report_use_case = RecordReport(self, rules, self.clock)
        self.call_use_case = CallExtractor(
            self, outbox, self, self, self.callbacks.for_job, rules, self.clock
        )
        try_to_send = TryToSendOutbox(outbox)
        self.callback_use_case = RecordCallback(self, try_to_send, self, rules, self.clock)
        self.expire_use_case = ExpireJob(self, outbox, self, rules, self.clock)
        self.retry_use_case = HandleRetry(self, self, rules, self.clock)
        self.stage_mapper = StageMapper(self, self, rules, self.clock)
        self.restart_use_case = RestartExtraction(self, self.stage_mapper, self.clock)
        self.requests = RetryRequests(self)
        self.reconcile = Reconcile(
            self, outbox, self.expire_use_case, self.stage_mapper, rules, self.clock
        )
        parts = {"database": lambda: self.run(lambda tx: None), "service bus": self.oldest}
        self.health = CheckHealth(parts, self.reconcile.counted, self.clock)
        self.extractor_views = Extractors(self, self.clock)
        self.purge = PurgeOldData(self, retention, self.clock)
        explain = ExplainDeadLetters(self, retention, self.clock)
        self.dead_letters = DeadLetters(
            [Subscription(source, f"{source}s", source, self.dead[source]) for source in Source],
            explain,
            HandleDeadLetters(explain, self, self.clock),
            self.clock,
        )
        self.job_views = JobViews(self, self.clock)
        self.cancel_use_case = CancelJob(self, rules, self.clock)

    # What the use cases see: Database, Publisher, RegistrationApi, BlobLinks, ExtractorApi, …

    def clock(self) -> datetime:
        return self.now

    def run(self, unit: Callable[[Transaction], T]) -> T:
        self._step("database")
        result = self.sql.run(unit)
        self.steps.step()
        return result

    def publish(self, message: OutgoingMessage) -> None:
        self._step("service bus")
        self.sent.append(message)
        self.steps.step()

    def extractors_of(self, client_application_id: str) -> Sequence[Extractor]:
        self._step("registration")
        if self.registered is not None:
            return self.registered
        return self.sql.run(lambda tx: tx.registrations.active(client_application_id))

    def sign(self, container: str, name: str) -> str:
        self._step("blob storage")
        if ".." in name:
            raise ValueError("the name has dot segments")
        return f"https://blobs.example/{container}/{name}?sig=s"

    def call(
        self,
        url: str,
        file_url: str,
        job_id: UUID,
        trace_parent: str,
        callback: Callback | None = None,
    ) -> Answer:
        self.steps.step()
        self.callback = callback
        self.called.append((url, file_url, job_id, trace_parent))
        self.while_calling()
        self.steps.step()
        return self.answers.pop(0) if self.answers else TAKEN

    def oldest(self) -> datetime | None:
        self._step("service bus")
        return self.oldest_report

    def _service_bus(self) -> None:
        self._step("service bus")

    def _step(self, part: str) -> None:
        self.steps.step()
        if part in self.down:
            raise TransientError(part, "out of reach")

    def authorize(self, authorization: str | None, access: Access) -> Caller:
        if self.refused:
            raise self.refused
        return self.caller

    def authorize_service(self, authorization: str | None, role: str) -> None:
        if self.refused:
            raise self.refused

    def as_app(self) -> App:
        """The use cases as the triggers find them."""
        return App(
            accept_file=self.accept,
            record_report=self.report_use_case,
            call_extractor=self.call_use_case,
            expire_job=self.expire_use_case,
            send_outbox=self.send_outbox,
            handle_retry=self.retry_use_case,
            stage_mapper=self.stage_mapper,
            restart=self.restart_use_case,
            retry_requests=self.requests,
            job_views=self.job_views,
            cancel_job=self.cancel_use_case,
            try_to_send_outbox=TryToSendOutbox(self.send_outbox),
            reconcile=self.reconcile,
            dead_letters=self.dead_letters,
            extractors=self.extractor_views,
            purge=self.purge,
            check_health=self.health,
            version="1.2.3",
            commit="abc",
            record_callback=self.callback_use_case,
            check_callback=self.callbacks.check,
            active_extractors=lambda client: self.run(lambda tx: tx.registrations.active(client)),
            authorize=self.authorize,
            authorize_service=self.authorize_service,
        )

    # What the tests do and look at.

    def accepted(self, enqueued_at: datetime | None = None) -> Job:
        """FileAccepted is handled as the trigger does: accept, then send."""
        message = FileAccepted(FileID=self.file.file_id, Timestamp=self.now)
        job = self.accept(message, enqueued_at or self.now, TRACE)
        self.send_outbox(job.job_id)
        return job

    def calls(self, job: Job) -> Step:
        return self.call_use_case(job.job_id)

    def expires(self, job: Job) -> Step:
        return self.expire_use_case(job.job_id)

    def reported(self, job: Job, type_: str, **data: Any) -> Recorded:
        """A status message about the job comes in from the topic."""
        stamp = {"JobID": str(job.job_id), "Timestamp": self.now.isoformat()}
        envelope = {"specversion": "1.0", "type": type_, "data": stamp | data}
        return self.report_use_case(read_job_status(json.dumps(envelope).encode()), "topic")

    def retried(
        self, *refs: str, request: str = "r1", attempt: int = 1, at: datetime | None = None
    ) -> Asked:
        """ExtractionRetryEvent is handled as the trigger does: ask, then send."""
        event = ExtractionRetryEvent(
            requestId=request,
            fileIds=list(refs or [self.file.document_hash]),
            reason="manual_restart",
            retryAttempt=attempt,
            maxRetries=3,
            clientApplicationId=self.file.client_application_id,
            initiatedBy="ada@example.com",
            timestamp=at or self.now,
        )
        asked = self.retry_use_case(event, TRACE)
        for kept_by in asked.outboxes:
            self.send_outbox(kept_by)
        return asked

    def mapped(self) -> OutgoingMessage | None:
        """The stage mapper handles the last result; the next attempt's message, if there is one."""
        result = self.last("ExtractionRetryResult")
        assert result
        attempt = result.properties["retryAttempt"]
        before = len(self.sent)
        kept_by = self.stage_mapper.ask_for_next_attempt(
            read_retry_result(result.body.encode()), attempt
        )
        if kept_by:
            self.send_outbox(kept_by)
        return self.sent[-1] if len(self.sent) > before else None

    def last(self, subject: str) -> OutgoingMessage | None:
        """The last message of this kind that went out."""
        return next((each for each in reversed(self.sent) if each.subject == subject), None)

    def passes(self, **time: float) -> None:
        self.now += timedelta(**time)

    def row(self, job: Job) -> Job:
        found = self.sql.run(lambda tx: tx.jobs.get(job.job_id))
        assert found
        return found

    def call_row(self, job: Job) -> Call:
        found = self.sql.run(lambda tx: tx.calls.get(job.job_id))
        assert found
        return found

    def jobs(self) -> Sequence[Job]:
        return self.sql.run(lambda tx: tx.jobs.lock_of_file(self.file.file_id))

    def events(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Kind, source and detail of everything written down about the file."""
        found = self.sql.run(lambda tx: tx.events.of_file(self.file.file_id))
        return [(event.kind.value, event.source, event.detail) for event in found]

    def announced(self) -> list[str]:
        """The subjects that went out, in order."""
        return [message.subject for message in self.sent]
