"""Stands for the Status service: it receives every job status message and completes it."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self
from uuid import UUID

from azure.servicebus import ServiceBusClient, ServiceBusReceivedMessage, ServiceBusReceiver

from local.settings import LocalSettings
from local.supervisor.environment import TOPICS, service_bus_connection
from local.supervisor.topology import STATUS_SERVICE
from shared.contracts.job_status import StatusReport, read_job_status
from shared.contracts.wire import ContractError
from shared.domain.jobs import JobStatus

WAIT_SECONDS = 0.25
AT_ONCE = 20


@dataclass(frozen=True)
class Announcement:
    """A status message as it came: what it says, and under which id and properties."""

    report: StatusReport
    message_id: str
    subject: str
    properties: dict[str, Any]
    received_at: datetime

    @property
    def job_id(self) -> UUID:
        return self.report.job_id

    @property
    def status(self) -> JobStatus:
        return self.report.status


class StatusService:
    """Receives from a thread of its own, and again after the broker was away.

    What breaks the contract is completed and not kept. `listener` is called with each announcement.
    """

    def __init__(
        self, settings: LocalSettings, listener: Callable[[Announcement], None] = lambda _: None
    ) -> None:
        self._bus = service_bus_connection(settings)
        self._listener = listener
        self._announcements: list[Announcement] = []
        self._changed = threading.Condition()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="status-service", daemon=True)

    def of_job(self, job_id: UUID) -> Sequence[Announcement]:
        """All announcements of a job, repeats too, in the order they came."""
        with self._changed:
            return [each for each in self._announcements if each.job_id == job_id]

    def wait_for(
        self, job_id: UUID, done: Callable[[Sequence[Announcement]], bool], seconds: float
    ) -> Sequence[Announcement]:
        """The announcements of a job as soon as `done` likes them. Raises TimeoutError."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while not done(found := self.of_job(job_id)):
                left = deadline - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    seen = ", ".join(each.status for each in found) or "nothing"
                    raise TimeoutError(f"job {job_id}: {seen} was announced in {seconds:.0f} s")
            return found

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self._receive()
            except Exception:  # whatever the SDK makes of a broker that went away
                self._ended.wait(WAIT_SECONDS)

    def _receive(self) -> None:
        with (
            ServiceBusClient.from_connection_string(self._bus, retry_total=0) as bus,
            # Without prefetching the SDK gives back what arrives between two calls, and that comes
            # again behind its successors: a job's statuses would be heard out of order.
            bus.get_subscription_receiver(
                TOPICS["TOPIC_JOB_STATUS"], STATUS_SERVICE.name, prefetch_count=AT_ONCE
            ) as receiver,
        ):
            while not self._ended.is_set():
                for message in receiver.receive_messages(AT_ONCE, max_wait_time=WAIT_SECONDS):
                    self._take(receiver, message)

    def _take(self, receiver: ServiceBusReceiver, message: ServiceBusReceivedMessage) -> None:
        try:
            report = read_job_status(b"".join(message.body))
        except ContractError:
            receiver.complete_message(message)
            return
        announcement = Announcement(
            report=report,
            message_id=message.message_id or "",
            subject=message.subject or "",
            properties=_text_properties(message),
            received_at=datetime.now(UTC),
        )
        with self._changed:
            self._announcements.append(announcement)
            self._changed.notify_all()
        self._listener(announcement)
        receiver.complete_message(message)


def _text_properties(message: ServiceBusReceivedMessage) -> dict[str, Any]:
    """The SDK gives application properties as bytes."""
    return {
        _text(name): _text(value) for name, value in (message.application_properties or {}).items()
    }


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value
