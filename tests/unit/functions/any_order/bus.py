"""The subscriptions in memory: messages wait, come twice, in any order, or never in time."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from shared.contracts.incoming import DeadLetter, Incoming, Source
from shared.contracts.job_status import message_id
from shared.contracts.outgoing import OutgoingMessage
from shared.domain.jobs import JobStatus
from shared.functions import (
    on_extraction_result,
    on_extraction_retry,
    on_file_accepted,
    on_job_status,
)
from tests.unit.functions.any_order.hub import Hub
from tests.unit.functions.fakes import Message
from tests.unit.services.world import World

MAX_DELIVERIES = 10
TIME_TO_LIVE = timedelta(days=7)

accept = on_file_accepted.on_file_accepted._function.get_user_function().client_function
report = on_job_status.on_job_status._function.get_user_function().client_function
ask = on_extraction_retry.on_extraction_retry._function.get_user_function().client_function
decide = on_extraction_result.on_extraction_result._function.get_user_function()

TRIGGERS: dict[Source, Callable[[Any, Hub], Coroutine[Any, Any, None]]] = {
    Source.ACCEPTED_FILE: accept,
    Source.JOB_STATUS: report,
    Source.EXTRACTION_RETRY: ask,
    Source.EXTRACTION_RESULT: lambda message, _: decide(message),
}
SOURCES = {
    "job-status": Source.JOB_STATUS,
    "extraction-retry": Source.EXTRACTION_RETRY,
    "extraction-result": Source.EXTRACTION_RESULT,
}


@dataclass(eq=False)
class Waiting:
    """A message in one of the subscriptions."""

    source: Source
    message: Message

    @property
    def enqueued_at(self) -> datetime:
        assert self.message.enqueued_time_utc
        return self.message.enqueued_time_utc


class Bus:
    """Takes what the service sends, and hands it to its triggers when it is told to."""

    def __init__(self, world: World, hub: Hub, runner: asyncio.Runner) -> None:
        self._world = world
        self._hub = hub
        self._runner = runner
        self._seen = 0
        self._dead = 0
        self.waiting: list[Waiting] = []
        self.heard: set[str] = set()
        """What other subscribers know: `jobId:Status`, `requestId:retryAttempt`."""

    def put(self, source: Source, document: Any) -> Waiting:
        """Another service sends a message."""
        waiting = Waiting(source, Message(document, 0, {}, self._world.now))
        self.waiting.append(waiting)
        return waiting

    def report(self, job_id: UUID, status: JobStatus) -> Waiting:
        """An extractor sends a report."""
        data = {"JobID": str(job_id), "Timestamp": self._world.now.isoformat()}
        self.heard.add(message_id(job_id, status))
        envelope = {"specversion": "1.0", "type": f"Job{status}", "data": data}
        return self.put(Source.JOB_STATUS, envelope)

    def collect(self) -> None:
        """What the service has sent comes back to its own subscriptions."""
        sent, self._seen = self._world.sent[self._seen :], len(self._world.sent)
        self.heard |= {each.message_id for each in sent}
        self.waiting += [self._incoming(each) for each in sent if each.subject != "JobQueued"]

    def due(self) -> list[Waiting]:
        """What is not scheduled for later, in the order it was sent."""
        return [each for each in self.waiting if each.enqueued_at <= self._world.now]

    def deliver(self, waiting: Waiting, again: bool = False) -> bool:
        """Hand it to its trigger; whether that succeeded. It stays when it comes `again`.

        What fails too often becomes a dead letter. A Crash passes through.
        """
        waiting.message.delivery_count += 1
        try:
            self._runner.run(TRIGGERS[waiting.source](waiting.message, self._hub))
        except Exception:
            if waiting.message.delivery_count >= MAX_DELIVERIES:
                self.bury(waiting)
            return False
        if not again:
            self.waiting.remove(waiting)
        return True

    def expire(self) -> None:
        """What has waited for a week becomes a dead letter."""
        for waiting in [*self.waiting]:
            if self._world.now - waiting.enqueued_at > TIME_TO_LIVE:
                self.bury(waiting)

    def bury(self, waiting: Waiting) -> None:
        """It becomes a dead letter."""
        self._dead += 1
        message = waiting.message
        content = Incoming(message.get_body(), message.application_properties, waiting.enqueued_at)
        letter = DeadLetter(self._dead, content, message.delivery_count)
        self._world.dead[waiting.source].letters.append(letter)
        self.waiting.remove(waiting)

    def _incoming(self, sent: OutgoingMessage) -> Waiting:
        at = sent.not_before or self._world.now
        message = Message(json.loads(sent.body), 0, sent.properties, max(at, self._world.now))
        return Waiting(SOURCES[sent.topic], message)
