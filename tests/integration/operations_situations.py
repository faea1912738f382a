"""The situations that sections of `docs/operations/` begin with, made on the whole stack."""

from collections.abc import Callable
from uuid import uuid4

from azure.servicebus import ServiceBusMessage

from local.demo.file_service import StoredFile
from local.demo.operator import Operator, is_over
from shared.domain.jobs import JobStatus
from tests.integration.whole_stack import WholeStack, wait_for

type Prepare = Callable[[WholeStack], dict[str, str]]
"""Makes a situation; the variables that its reader knows."""

TOPIC, SUBSCRIPTION = "accepted-file", "extractor-subscription"


def dead_letters(stack: WholeStack) -> dict[str, str]:
    """One that breaks its contract, and one that came while the service was down."""
    broken = str(uuid4())
    stack.publish(TOPIC, ServiceBusMessage('{"FileID": "none"}', message_id=broken))
    stack.wait_for_dead_letter(TOPIC, SUBSCRIPTION, broken)
    stored = stack.services.files.store(b"Invoice 41", "note.txt")
    stack.stack.parts["host"].kill()
    stack.services.files.announce(stored.file_id)
    stack.dead_letter_next(TOPIC, SUBSCRIPTION)
    stack.stack.parts["host"].start()
    return {}


def silent_extractor(stack: WholeStack) -> dict[str, str]:
    """A job that its extractor took, and never reports on."""
    stored = client_of(stack, "quiet-client", "silent")
    wait_for(lambda: stack.calls_of(stored.job_id).get("taken"))
    return {}


def no_extractor(stack: WholeStack) -> dict[str, str]:
    """A job that failed because its client had no active extractor, which it has by now."""
    stack.register("late-client", stack.extraction_url, active=False)
    stored = stack.submit(f"Invoice {uuid4()}".encode(), client="late-client")
    assert stack.wait_for_end(stored.job_id).status is JobStatus.FAILED
    stack.register("late-client", stack.extraction_url)
    entity_id = stack.services.documents.add_entity(stored.document_hash)
    return {"FILE_ID": str(stored.file_id), "EXTRACTED_ENTITY_ID": str(entity_id)}


def restarted(stack: WholeStack) -> dict[str, str]:
    """A file whose extraction failed, was asked for again, and succeeded."""
    known = no_extractor(stack)
    operator = Operator(stack.stack.settings)
    answer = operator.post(f"/v1/retry/{known['FILE_ID']}", {"reason": "asked for"}).json()
    operator.wait_for_request(answer["requestId"], is_over)
    return {**known, "REQUEST_ID": answer["requestId"]}


def broken_extractor(stack: WholeStack) -> dict[str, str]:
    """An extractor that has failed five times in a row."""
    for _ in range(5):
        client_of(stack, "broken-client", "status=503")
    return {}


def no_service_bus(stack: WholeStack) -> dict[str, str]:
    stack.stack.parts["servicebus"].kill()
    return {}


def master_key(stack: WholeStack) -> dict[str, str]:
    return {"MASTER_KEY": stack.host_key()}


def client_of(stack: WholeStack, client: str, behaviour: str) -> StoredFile:
    """A file of a client whose extractor behaves like this."""
    stack.register(client, f"{stack.extraction_url}?behaviour={behaviour}")
    return stack.submit(f"Invoice {uuid4()}".encode(), client=client)


SITUATIONS: dict[str, Prepare] = {
    "runbook.md#dead-letters": dead_letters,
    "runbook.md#jobs-do-not-move": silent_extractor,
    "runbook.md#jobs-fail": no_extractor,
    "runbook.md#an-extractor-fails": broken_extractor,
    "runbook.md#restarts-fail-or-are-slow": no_extractor,
    "runbook.md#what-became-of-a-restart": restarted,
    "runbook.md#one-file-was-not-extracted": restarted,
    "runbook.md#the-service-is-not-ready": no_service_bus,
    "runbook.md#reconcile-now": master_key,
}
