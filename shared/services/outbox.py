"""Sending what stands in the outbox."""

from uuid import UUID

from shared.domain.errors import TransientError
from shared.services.ports import Clock, Database, Publisher


class SendOutbox:
    """Sends a job's unsent messages in the order written, stopping at the first failure."""

    def __init__(self, database: Database, publisher: Publisher, clock: Clock) -> None:
        self._database = database
        self._publisher = publisher
        self._clock = clock

    def __call__(self, job_id: UUID) -> None:
        """Send what is unsent. Raises TransientError; what was sent by then is marked.

        A message whose mark was lost goes out again under the same id.
        """
        for row_id, message in self._database.run(lambda tx: tx.outbox.unsent(job_id)):
            self._publisher.publish(message)
            self._mark(row_id)

    def _mark(self, row_id: int) -> None:
        self._database.run(lambda tx: tx.outbox.mark_sent(row_id, self._clock()))


class TryToSendOutbox:
    """Sends what can be sent now; what cannot stays in the outbox, where it is not lost."""

    def __init__(self, send: SendOutbox) -> None:
        self._send = send

    def __call__(self, job_id: UUID) -> bool:
        """Whether everything was sent."""
        try:
            self._send(job_id)
        except TransientError:
            return False
        return True
