"""Messages of the run's own: statuses that come too early or too late, and what must be refused."""

import json
from collections.abc import Mapping
from itertools import count
from typing import Any
from uuid import UUID, uuid4

from local.supervisor.environment import TOPICS
from shared.contracts.wire import format_timestamp
from tests.chaos.journal import now
from tests.chaos.sent import Sent
from tests.chaos.topics import Topics

ACCEPTED_FILE = TOPICS["TOPIC_ACCEPTED_FILE"]
JOB_STATUS = TOPICS["TOPIC_JOB_STATUS"]

FIELDS: Mapping[str, Mapping[str, Any]] = {
    "Started": {},
    "Succeeded": {"ResultSummary": {"pages": 1}},
    "Failed": {"ErrorMessage": "The chaos run says so."},
}
BROKEN: tuple[tuple[str, bytes], ...] = (
    (ACCEPTED_FILE, b"{"),
    (ACCEPTED_FILE, b'{"FileID": "no-guid", "Timestamp": "2026-01-01T00:00:00Z"}'),
    (JOB_STATUS, b"\xff\xfe\xfd"),
    (JOB_STATUS, b'{"specversion": "1.0", "type": "JobLost", "data": {}}'),
    (JOB_STATUS, b'{"specversion": "1.0", "type": "JobStarted", "data": {}}'),
    (TOPICS["TOPIC_EXTRACTION_RETRY"], b"[]"),
    (TOPICS["TOPIC_EXTRACTION_RESULT"], b'{"requestId": ""}'),
)
"""What breaks the contract, by topic."""


class Statuses:
    """Sends them, and writes down what the check must know of."""

    def __init__(self, topics: Topics, sent: Sent) -> None:
        self._topics = topics
        self._sent = sent
        self._numbers = count(1)

    def send_early(self, job_id: UUID) -> None:
        """The whole story of a job, under the ids of its extractor, before there is a job."""
        for status in ("Started", "Succeeded"):
            self._sent.early.add(message_id := f"{job_id}:{status}")
            self._send_status(job_id, status, message_id)

    def send_late(self, job_id: UUID, status: str) -> None:
        """A status of a job that has ended: the same again, or another one."""
        self._sent.late += 1
        self._send_status(job_id, status, f"{job_id}:{status}:late-{next(self._numbers)}")

    def send_of_no_job(self, status: str) -> None:
        """A status of a job that does not exist."""
        job_id = uuid4()
        self._sent.refused.add(message_id := f"{job_id}:{status}")
        self._send_status(job_id, status, message_id)

    def accept_no_file(self) -> None:
        """FileAccepted of a file that does not exist."""
        body = json.dumps({"FileID": str(uuid4()), "Timestamp": format_timestamp(now())})
        self._send_refused(ACCEPTED_FILE, body.encode(), "FileAccepted")

    def send_broken(self, which: int) -> None:
        """One of the BROKEN messages."""
        topic, body = BROKEN[which % len(BROKEN)]
        self._send_refused(topic, body, None)

    def _send_refused(self, topic: str, body: bytes, subject: str | None) -> None:
        self._sent.refused.add(message_id := f"refused-{next(self._numbers)}-{uuid4()}")
        self._topics.send(topic, body, message_id, subject)

    def _send_status(self, job_id: UUID, status: str, message_id: str) -> None:
        stamp = format_timestamp(now())
        envelope = {
            "specversion": "1.0",
            "id": message_id,
            "source": "/chaos",
            "type": f"Job{status}",
            "subject": str(job_id),
            "time": stamp,
            "data": {"JobID": str(job_id), "Timestamp": stamp, **FIELDS[status]},
        }
        self._topics.send(JOB_STATUS, json.dumps(envelope), message_id, f"Job{status}")
