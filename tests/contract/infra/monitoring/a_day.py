"""A day of the service in small: its functions run, and what they log is kept.

Everything that a query reads happens at least once: files that succeed, fail and cannot be read,
parts that are away, retries that end, dead letters, and all that reconciliation mends.
"""

import json
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from azure.servicebus.exceptions import ServiceBusConnectionError

from shared import wiring
from shared.adapters.publisher import ServiceBusPublisher
from shared.contracts.incoming import Source
from shared.contracts.outgoing import OutgoingMessage
from shared.domain.errors import PermanentError, TransientError
from shared.domain.jobs import JobStatus
from shared.functions import (
    activities,
    dead_letters,
    holding,
    on_extraction_result,
    on_extraction_retry,
    on_file_accepted,
    on_job_status,
    reconcile,
)
from tests.database import add_file, empty_database
from tests.unit.functions.dead_letters import call, discarded, put_file, resubmitted
from tests.unit.functions.fakes import Message
from tests.unit.functions.test_reconcile import KnowingClient
from tests.unit.services.world import BUSY, REFUSED, World

accept = on_file_accepted.on_file_accepted._function.get_user_function().client_function
report = on_job_status.on_job_status._function.get_user_function().client_function
retry = on_extraction_retry.on_extraction_retry._function.get_user_function().client_function
result = on_extraction_result.on_extraction_result._function.get_user_function()
call_extractor = activities.call_extractor._function.get_user_function()
mend = reconcile.reconcile._function.get_user_function().client_function

SHORT = holding.Patience(
    held=timedelta(milliseconds=20),
    afterwards=timedelta(milliseconds=20),
    first_pause=timedelta(milliseconds=5),
)


@dataclass(frozen=True)
class Line:
    """A log line as Application Insights keeps it: the whole text is the message."""

    message: str

    @property
    def event(self) -> str:
        return self.message.partition(" {")[0]

    @property
    def facts(self) -> dict[str, Any]:
        _, brace, rest = self.message.partition("{")
        found: dict[str, Any] = json.loads(brace + rest) if brace else {}
        return found


async def a_day(folder: Path) -> list[Line]:
    """The lines that the day's scenes wrote, in order."""
    with _kept_lines() as lines:
        for number, scene in enumerate(SCENES):
            place = folder / str(number)
            place.mkdir()
            with pytest.MonkeyPatch.context() as patch:
                world = World(empty_database(place))
                patch.setattr(wiring, "_app", world.as_app)
                patch.setattr(holding, "PATIENCE", SHORT)
                await scene(world, KnowingClient())
        _messages_sent_and_not_sent()
    return lines


@contextmanager
def _kept_lines() -> Iterator[list[Line]]:
    lines: list[Line] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(Line(record.getMessage()))

    ours, keep = logging.getLogger("shared"), Keep()
    before = ours.level
    ours.setLevel(logging.INFO)
    ours.addHandler(keep)
    try:
        yield lines
    finally:
        ours.removeHandler(keep)
        ours.setLevel(before)


async def _a_file_succeeds(world: World, client: KnowingClient) -> None:
    await accept(_accepted(world), client)
    (job,) = world.jobs()
    call_extractor({"jobId": str(job.job_id)})
    for end in ("JobStarted", "JobSucceeded"):
        world.passes(seconds=30)
        await report(_status(world, job.job_id, end), client)


async def _a_file_fails_and_its_retry_succeeds(world: World, client: KnowingClient) -> None:
    world.answers = [BUSY]
    await accept(_accepted(world), client)
    (job,) = world.jobs()
    call_extractor({"jobId": str(job.job_id)})
    await report(_status(world, job.job_id, "JobFailed", ErrorMessage="no text"), client)
    await retry(_sent(world, "ExtractionRetryEvent"), client)
    again = world.jobs()[-1]
    await report(_status(world, again.job_id, "JobSucceeded"), client)
    await result(_sent(world, "ExtractionRetryResult"))


async def _an_extractor_refuses(world: World, client: KnowingClient) -> None:
    world.answers = [REFUSED]
    await accept(_accepted(world), client)
    call_extractor({"jobId": str(world.jobs()[0].job_id)})


async def _a_message_cannot_be_read(world: World, client: KnowingClient) -> None:
    with suppress(PermanentError):
        await accept(_accepted(world, FileID="none"), client)


async def _parts_are_out_of_reach(world: World, client: KnowingClient) -> None:
    world.down.add("database")
    with suppress(TransientError):
        await accept(_accepted(world), client)
    world.refused = TransientError("key server", "out of reach")
    call(dead_letters.list_dead_letters)


async def _dead_letters_are_handled_kept_and_discarded(world: World, client: KnowingClient) -> None:
    put_file(world)
    broken = put_file(world, FileID="none")
    await resubmitted(client, Source.ACCEPTED_FILE.value, all=True, dryRun=False)
    discarded(Source.ACCEPTED_FILE.value, broken)


async def _reconciliation_sends_starts_and_handles(world: World, client: KnowingClient) -> None:
    world.down.add("service bus")
    with suppress(TransientError):
        world.accepted()
    world.passes(days=3650)
    await _pass(client)
    world.down.clear()
    put_file(world)
    await _pass(client)


async def _reconciliation_ends_and_wakes(world: World, client: KnowingClient) -> None:
    late = world.accepted()
    world.calls(late)
    client.running = {str(late.job_id), "5f0f3a52-7f0e-5e62-9a35-5d8d1f6f9a41"}
    world.passes(minutes=18)
    await _pass(client)


async def _reconciliation_finishes_attempts(world: World, client: KnowingClient) -> None:
    (job,) = world.retried(request="lost").jobs
    world.reported(job, "JobFailed", ErrorMessage="no")
    world.file = add_file(world.sql, document_hash="hash-2")
    waited_for = world.accepted()
    world.retried(request="undecided")
    world.sql.run(lambda tx: tx.jobs.change(waited_for.job_id, JobStatus.SUCCEEDED, world.now))
    world.file = add_file(world.sql, document_hash="hash-3")
    world.accepted()
    world.retried(request="open")
    world.sql.run(lambda tx: tx.retries.count_down("open", 1, 1))
    world.passes(minutes=11)
    await _pass(client)


async def _pass(client: KnowingClient) -> None:
    await mend(None, client)


SCENES: list[Callable[[World, KnowingClient], Awaitable[None]]] = [
    _a_file_succeeds,
    _a_file_fails_and_its_retry_succeeds,
    _an_extractor_refuses,
    _a_message_cannot_be_read,
    _parts_are_out_of_reach,
    _dead_letters_are_handled_kept_and_discarded,
    _reconciliation_sends_starts_and_handles,
    _reconciliation_ends_and_wakes,
    _reconciliation_finishes_attempts,
]


class _Sender:
    """A sender of the SDK whose broker is there, or away."""

    def __init__(self, away: bool) -> None:
        self._away = away

    def __enter__(self) -> "_Sender":
        return self

    def send_messages(self, message: object, *, timeout: float) -> None:
        if self._away:
            raise ServiceBusConnectionError()

    def close(self) -> None:
        pass

    def get_topic_sender(self, topic: str) -> "_Sender":
        return self


def _messages_sent_and_not_sent() -> None:
    message = OutgoingMessage("job-status", "id:Queued", "JobQueued", "{}", "id", {})
    for away in (False, True):
        sender: Any = _Sender(away)
        publisher = ServiceBusPublisher(lambda sender=sender: sender, timedelta(milliseconds=10))
        with suppress(TransientError):
            publisher.publish(message)


def _accepted(world: World, **fields: Any) -> Message:
    document = {"FileID": str(world.file.file_id), "Timestamp": world.now.isoformat()}
    return Message(document | fields, enqueued_time_utc=world.now)


def _status(world: World, job_id: object, type_: str, **data: Any) -> Message:
    stamp = {"JobID": str(job_id), "Timestamp": world.now.isoformat()}
    return Message({"specversion": "1.0", "type": type_, "data": stamp | data})


def _sent(world: World, subject: str) -> Message:
    """What the service itself has sent comes in."""
    message = world.last(subject)
    assert message
    properties = dict(message.properties)
    return Message(json.loads(message.body), application_properties=properties)
