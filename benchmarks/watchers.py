"""Who sees what comes of a job: one looks into the database, one receives from the topic."""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from azure.servicebus import ServiceBusClient, ServiceBusReceiveMode

from benchmarks.stamps import Stamps, Step

LOOK_SECONDS = 0.002
"""Between two looks into the database: so much later than it was a change may be seen."""

RECEIVE_SECONDS = 0.5
AHEAD = 100
"""Messages that the broker may send before they are asked for."""

NEW_EVENTS = """
SELECT FileEventID, JobID, Detail FROM FileEvent
WHERE FileEventID > ? AND Kind = 'status' ORDER BY FileEventID
"""
"""File events behind a number: the number, the job and what it tells of it."""


@contextmanager
def watching_records(path: Path, stamps: Stamps) -> Iterator[None]:
    """Note when the success of a job is committed.

    A job's row changes in one transaction with the file event that tells of it, and file events are
    numbered as they are written. Whoever only reads does not wait for writers, nor they for him.
    """

    def watch(ended: threading.Event) -> None:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            seen = 0
            while not ended.wait(LOOK_SECONDS):
                for number, job_id, detail in connection.execute(NEW_EVENTS, (seen,)).fetchall():
                    seen = number
                    if json.loads(detail).get("status") == "Succeeded":
                        stamps.note(job_id, Step.RECORDED)

    with _in_thread(watch):
        yield


@contextmanager
def watching_topic(bus: str, topic: str, subscription: str, stamps: Stamps) -> Iterator[None]:
    """Note when the message of a job's success is received."""

    def watch(ended: threading.Event) -> None:
        with (
            ServiceBusClient.from_connection_string(bus) as client,
            client.get_subscription_receiver(
                topic,
                subscription,
                receive_mode=ServiceBusReceiveMode.RECEIVE_AND_DELETE,
                prefetch_count=AHEAD,
            ) as receiver,
        ):
            while not ended.is_set():
                # Asked for one: asked for more, the client waits for them before it returns one.
                for message in receiver.receive_messages(1, max_wait_time=RECEIVE_SECONDS):
                    if message.subject == "JobSucceeded":
                        stamps.note(str(message.correlation_id), Step.ANNOUNCED)

    with _in_thread(watch):
        yield


@contextmanager
def _in_thread(watch: Callable[[threading.Event], None]) -> Iterator[None]:
    ended = threading.Event()
    thread = threading.Thread(target=watch, args=(ended,))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
