"""A document whose extraction fails on purpose, and the operator who restarts it."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid4

from local.demo.console import say, size
from local.demo.follow import announced_steps, show_steps
from local.demo.operator import REQUESTS, RESTART, Operator, is_over
from local.demo.registrations import UNLUCKY_CLIENT
from local.demo.surroundings import Surroundings
from shared.domain.retries import retry_job_id

NAME = "statement.txt"
REASON = "the extractor is well again"


@dataclass(frozen=True)
class FailedEntity:
    """An extracted entity whose file's first job has failed."""

    entity_id: int
    file_id: UUID


def fail_once(services: Surroundings) -> FailedEntity:
    """Submit a document, and show how its extraction fails. Raises JobStuckError."""
    content = f"Statement no. {uuid4().hex[:8]}: EUR 12.50 were paid on 2026-03-01.\n".encode()
    say()
    say(f"Submitting {NAME}, {size(len(content))}, to an extractor that fails on purpose")
    since = datetime.now(UTC)
    stored = services.files.submit(content, NAME, UNLUCKY_CLIENT)
    entity_id = services.documents.add_entity(stored.document_hash)
    say(f"  file    {stored.file_id}")
    say(f"  job     {stored.job_id}")
    say(f"  entity  {entity_id}")
    say()
    last = show_steps(announced_steps(services.statuses, stored.job_id), since)
    if last and last.reason:
        say(f"            {last.reason}")
    return FailedEntity(entity_id, stored.file_id)


def restart(services: Surroundings, operator: Operator, failed: FailedEntity) -> bool:
    """Restart an entity over HTTP and show its second job to the end; whether it succeeded.

    Raises JobStuckError, TimeoutError, and RequestException when the service cannot be reached.
    """
    body = {"extractedEntityIds": [failed.entity_id], "reason": REASON}
    say()
    say("Restarting it, as an operator does")
    say(f"  POST {RESTART} {json.dumps(body)}")
    since = datetime.now(UTC)
    response = operator.restart([failed.entity_id], REASON)
    answer = response.json()
    say(f"  {response.status_code}   {answer['message']}")
    if not response.ok:
        return False
    job_id = retry_job_id(answer["requestId"], 1, failed.file_id)
    say(f"  job   {job_id}, the file's second")
    say()
    show_steps(announced_steps(services.statuses, job_id), since)
    return _show_request(operator, answer["requestId"])


def _show_request(operator: Operator, request_id: str) -> bool:
    request = operator.wait_for_request(request_id, is_over)
    say()
    say(f"  GET {REQUESTS}/{request_id}")
    say(f"  200   {request['state']}, asked for by {request['initiatedBy']}")
    return bool(request["state"] == "succeeded")
