"""An operator restarts extractions: read the entities, publish one event."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4, uuid5

from shared.contracts.retry import ExtractionRetryEvent
from shared.domain.errors import TransientError
from shared.domain.jobs import JOB_NAMESPACE
from shared.domain.restart import RestartPlan, plan_restart
from shared.services.ports import Clock, Database
from shared.services.stage_mapper import StageMapper

MAX_RETRIES = 3


class RestartNotSentError(Exception):
    """The event could not be sent in time; it may have started something all the same."""

    def __init__(self, request_id: str) -> None:
        super().__init__(f"The restart request {request_id} could not be sent")
        self.request_id = request_id


@dataclass(frozen=True)
class Restart:
    """Who wants what restarted, and why. `idempotency_key` makes a repeat the same request."""

    entity_ids: Sequence[int]
    reason: str
    initiated_by: str
    client_application_id: str
    body: bytes
    idempotency_key: str | None = None

    @property
    def request_id(self) -> str:
        """A UUIDv5 of caller, key and body when there is a key, else one of its own."""
        if not self.idempotency_key:
            return str(uuid4())
        caller = [self.client_application_id, self.initiated_by, self.idempotency_key]
        return str(uuid5(uuid5(JOB_NAMESPACE, json.dumps(caller)), self.body.hex()))


@dataclass(frozen=True)
class Restarted:
    """What a restart came to."""

    request_id: str
    plan: RestartPlan


class RestartExtraction:
    """Reads the entities with their documents and publishes once; writes nothing."""

    def __init__(self, database: Database, stage_mapper: StageMapper, clock: Clock) -> None:
        self._database = database
        self._stage_mapper = stage_mapper
        self._clock = clock

    def __call__(self, restart: Restart, trace_parent: str | None = None) -> Restarted:
        """Raises TransientError when the entities cannot be read, RestartNotSentError."""
        ids = list(dict.fromkeys(restart.entity_ids))
        known = self._database.run(lambda tx: tx.entities.get_entities_with_documents_by_ids(ids))
        plan = plan_restart(ids, known)
        restarted = Restarted(restart.request_id, plan)
        if plan.entity_ids:
            self._send(restart, restarted, trace_parent)
        return restarted

    def _send(self, restart: Restart, restarted: Restarted, trace_parent: str | None) -> None:
        event = ExtractionRetryEvent(
            requestId=restarted.request_id,
            fileIds=list(restarted.plan.file_hashes),
            reason=restart.reason,
            retryAttempt=1,
            maxRetries=MAX_RETRIES,
            clientApplicationId=restart.client_application_id,
            initiatedBy=restart.initiated_by,
            timestamp=self._clock(),
            metadata={"extractedEntityIds": list(restarted.plan.entity_ids)},
        )
        try:
            self._stage_mapper.send_extraction_retry_event(event, trace_parent)
        except TransientError as error:
            raise RestartNotSentError(restarted.request_id) from error
