"""The whole stack as the integration tests see it: what goes in, and every place to look."""

import itertools
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import requests
from azure.servicebus import (
    ServiceBusClient,
    ServiceBusMessage,
    ServiceBusReceivedMessage,
    ServiceBusSubQueue,
)

from local.demo.file_service import StoredFile
from local.demo.registrations import DEMO_CLIENT, register_extractor, registered_id
from local.demo.surroundings import Surroundings
from local.supervisor.environment import (
    TOPICS,
    extraction_url,
    host_url,
    service_bus_connection,
)
from local.supervisor.stack import Stack
from shared.domain.events import FileEvent
from shared.domain.extractor_health import ExtractorHealth
from shared.domain.jobs import Call, Job

LIVE = {"Pending", "Running", "Suspended"}
OBSERVER = "observer"
"""The tests' own subscription on the results of retries, which nobody empties."""

_numbers = itertools.count(1000)


@dataclass(frozen=True)
class WholeStack:
    """The parts, the services around them, and the secrets in all of it, by what they are."""

    stack: Stack
    services: Surroundings
    secrets: dict[str, str] = field(default_factory=dict)

    # What goes in.

    def submit(
        self, content: bytes, name: str = "note.txt", client: str = DEMO_CLIENT
    ) -> StoredFile:
        """Store a file and announce it."""
        return self.services.files.submit(content, name, client)

    def client_with(self, url: str) -> str:
        """A client application of its own whose extractor has this address."""
        number = next(_numbers)
        client = f"client-{number}"
        register_extractor(self.services.database, number, client, url)
        return client

    def register(self, client: str, url: str, *, active: bool = True) -> None:
        """Give a client application an extractor, or its extractor another address."""
        number = registered_id(self.services.database, client)
        register_extractor(self.services.database, number, client, url, active=active)

    @property
    def extraction_url(self) -> str:
        """Where the sample extractor takes jobs; `?behaviour=` makes it misbehave."""
        return extraction_url(self.stack.settings)

    # What stands in the database.

    def job(self, job_id: UUID) -> Job | None:
        """The job's row."""
        return self.services.database.run(lambda tx: tx.jobs.get(job_id))

    def jobs_of(self, file_id: UUID) -> list[Job]:
        """Every job of a file, oldest first."""
        return list(self.services.database.run(lambda tx: tx.jobs.lock_of_file(file_id)))

    def call(self, job_id: UUID) -> Call | None:
        """How the call of the job's extractor stands."""
        return self.services.database.run(lambda tx: tx.calls.get(job_id))

    def health_of(self, client: str) -> ExtractorHealth:
        """How the extractor of a client stands that `client_with` has made."""
        number = int(client.removeprefix("client-"))
        healths = self.services.database.run(lambda tx: tx.extractor_healths.all())
        return healths.get(number) or ExtractorHealth(number)

    def events_of(self, file_id: UUID) -> list[FileEvent]:
        """All that is written down about a file, in order of time."""
        return list(self.services.database.run(lambda tx: tx.events.of_file(file_id)))

    def wait_for_job(self, job_id: UUID, true: Callable[[Job], bool], seconds: float = 30.0) -> Job:
        """The job's row as soon as the condition holds; fails when it does not in time."""
        return wait_for(lambda: (job := self.job(job_id)) and true(job) and job, seconds)

    def wait_for_end(self, job_id: UUID, seconds: float = 30.0) -> Job:
        """The job's row once it has ended."""
        return self.wait_for_job(job_id, lambda job: not job.active, seconds)

    def wait_for_event(self, file_id: UUID, true: Callable[[FileEvent], bool]) -> FileEvent:
        """The first event of a file for which the condition holds."""
        return wait_for(lambda: next(filter(true, self.events_of(file_id)), None))

    # What the extractor, the host and the broker say.

    def calls_of(self, job_id: UUID) -> dict[str, Any]:
        """How often the extractor was called for a job, and how often it took it."""
        address = self.stack.parts["extractor"].part.address
        answer = requests.get(f"{address}/calls/{job_id}", timeout=5)
        calls: dict[str, Any] = answer.json()
        return calls

    def wait_for_orchestration(self, job_id: UUID) -> dict[str, Any]:
        """The orchestration's status document with its history, once it is no longer running."""

        def ended() -> dict[str, Any] | None:
            status = self.orchestration(job_id)
            return status if status and status["runtimeStatus"] not in LIVE else None

        return wait_for(ended)

    def orchestration(self, job_id: UUID) -> dict[str, Any] | None:
        """The orchestration's status document with its history; None when there is none."""
        answer = self.durable("GET", f"instances/{job_id}", showHistory="true")
        return answer.json() if answer.status_code in {200, 202} else None

    def durable(self, method: str, path: str, **query: str) -> requests.Response:
        """A call of the durable management API."""
        return requests.request(
            method,
            f"{host_url(self.stack.settings)}/runtime/webhooks/durabletask/{path}",
            params={**query, "code": self.host_key()},
            timeout=5,
        )

    def wait_for_log(self, part: str, text: str) -> None:
        """Until the part's log holds the text."""
        path = self.stack.parts[part].log.path
        wait_for(lambda: text in path.read_text(errors="replace"))

    def wait_until_drained(self, topic: str, subscription: str) -> None:
        """Until no message waits in the subscription, locked ones included."""

        with self._bus() as bus, bus.get_subscription_receiver(topic, subscription) as receiver:
            wait_for(lambda: not receiver.peek_messages(1, sequence_number=1))

    def wait_for_dead_letter(
        self, topic: str, subscription: str, message_id: str
    ) -> ServiceBusReceivedMessage:
        """The message with this id, looked at in the dead-letter queue."""

        with (
            self._bus() as bus,
            bus.get_subscription_receiver(
                topic, subscription, sub_queue=ServiceBusSubQueue.DEAD_LETTER
            ) as receiver,
        ):

            def found() -> ServiceBusReceivedMessage | None:
                peeked = receiver.peek_messages(100, sequence_number=1)
                return next((each for each in peeked if each.message_id == message_id), None)

            return wait_for(found, 60)

    def dead_letter_next(self, topic: str, subscription: str) -> int:
        """Dead-letter the message that waits, as a subscription does; its sequence number."""
        with self._bus() as bus, bus.get_subscription_receiver(topic, subscription) as receiver:
            [message] = receiver.receive_messages(1, max_wait_time=10)
            receiver.dead_letter_message(message, reason="MaxDeliveryCountExceeded")
        assert message.sequence_number
        return message.sequence_number

    def results_of(self, request_id: str) -> list[ServiceBusReceivedMessage]:
        """What was announced of a retry request's attempts, in the order it came."""
        topic = TOPICS["TOPIC_EXTRACTION_RESULT"]
        with self._bus() as bus, bus.get_subscription_receiver(topic, OBSERVER) as receiver:
            found: list[ServiceBusReceivedMessage] = []
            after = 0
            while page := receiver.peek_messages(100, sequence_number=after + 1):
                found.extend(each for each in page if each.correlation_id == request_id)
                after = page[-1].sequence_number or 0
            return found

    def publish(self, topic: str, message: ServiceBusMessage) -> None:
        """Send a message as another service does."""
        with self._bus() as bus, bus.get_topic_sender(topic) as sender:
            sender.send_messages(message)

    def _bus(self) -> ServiceBusClient:
        return ServiceBusClient.from_connection_string(service_bus_connection(self.stack.settings))

    def host_key(self) -> str:
        """The host's master key."""
        keys = json.loads((self.stack.settings.data / "keys.json").read_text())
        return str(keys["master"])


def wait_for[T](look: Callable[[], T | bool | None], seconds: float = 30.0) -> T:
    """What `look` gives as soon as it gives something true; fails when it does not in time."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, f"did not happen within {seconds:.0f} s"
        time.sleep(0.05)
    return found  # type: ignore[return-value]  # what is true is a T
