"""Dead letters on the whole stack: explained, handled again in place, discarded, over HTTP."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
import requests
from azure.servicebus import ServiceBusMessage
from sqlalchemy import delete

from local.identity.claims import Issuer, user_claims
from local.identity.keys import sign
from local.supervisor.environment import AUDIENCE, host_url, identity_url
from shared.adapters.database.tables import file as file_table
from shared.domain.jobs import JobStatus
from tests.integration.whole_stack import WholeStack

TOPIC, SUBSCRIPTION = "accepted-file", "extractor-subscription"
PATH = f"/v1/dead_letters/{SUBSCRIPTION}"

# The SDK leaves the sockets of connections that broke to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def call(stack: WholeStack, path: str, body: Any = None, role: str = "Administrator") -> Any:
    """What the service answers to an operator with this role."""
    settings = stack.stack.settings
    claims = user_claims(
        Issuer(identity_url(settings)),
        audience=AUDIENCE,
        client_id="web-console",
        email="admin@example.com",
        scopes=["EXTRACTED_ENTITIES_WRITE"],
        roles=[role],
    )
    answer = requests.request(
        "GET" if body is None else "POST",
        host_url(settings) + path,
        json=body,
        headers={"Authorization": f"Bearer {sign(settings.data, claims)}"},
        timeout=30,
    )
    return answer.json()


def letters(stack: WholeStack) -> Iterator[Any]:
    """All dead letters of accepted files, page by page."""
    page: Any = {"nextAfter": 0}
    while "nextAfter" in page:
        page = call(stack, f"{PATH}?limit=2&after={page['nextAfter']}")
        yield from page["deadLetters"]


def letter_with(stack: WholeStack, message_id: str) -> Any:
    return next((each for each in letters(stack) if each["messageId"] == message_id), None)


def resubmit(stack: WholeStack, number: int, **body: Any) -> tuple[str, str]:
    answer = call(stack, f"{PATH}/resubmit", {"sequenceNumbers": [number], **body})
    [result] = answer["results"]
    assert result["sequenceNumber"] == number
    return result["outcome"], result["code"]


def test_a_broken_message_is_explained_foretold_and_discarded(stack: WholeStack) -> None:
    message_id = str(uuid4())
    stack.services.files.publish(
        ServiceBusMessage('{"FileID": "none", "Timestamp": "soon"}', message_id=message_id)
    )
    stack.wait_for_dead_letter(TOPIC, SUBSCRIPTION, message_id)

    counted = call(stack, "/v1/dead_letters")["subscriptions"]
    letter = letter_with(stack, message_id)
    number = letter["sequenceNumber"]
    assert next(each["count"] for each in counted if each["subscription"] == SUBSCRIPTION) >= 1
    assert letter["reason"] == "MaxDeliveryCountExceeded"
    assert letter["explanation"]["code"] == "contract_broken"
    assert "FileID" in letter["explanation"]["text"]
    assert "Timestamp" in letter["explanation"]["text"]

    assert resubmit(stack, number) == ("wouldBeKept", "contract_broken")
    assert resubmit(stack, number, dryRun=False) == ("kept", "contract_broken")
    body = {"sequenceNumbers": [number], "reason": "sent by mistake"}
    assert call(stack, f"{PATH}/discard", body, "User")["error"] == "Forbidden"
    [result] = call(stack, f"{PATH}/discard", body)["results"]
    assert result["outcome"] == "discarded"
    assert letter_with(stack, message_id) is None
    stack.wait_for_log("host", '"reason": "sent by mistake"')


def test_a_file_whose_row_came_too_late_is_handled_again_and_extracted(stack: WholeStack) -> None:
    stored = stack.services.files.store(b"Invoice 31", "note.txt")
    with stack.services.database.engine.begin() as connection:
        connection.execute(delete(file_table).where(file_table.c.FileID == stored.file_id))
    stack.stack.parts["host"].kill()
    stack.services.files.announce(stored.file_id)
    number = stack.dead_letter_next(TOPIC, SUBSCRIPTION)
    stack.stack.parts["host"].start()
    assert resubmit(stack, number) == ("wouldBeKept", "file_unknown")

    stack.services.files.add_row(stored)
    assert resubmit(stack, number) == ("wouldBeHandled", "valid")
    assert resubmit(stack, number, dryRun=False) == ("handled", "handled")

    assert stack.wait_for_end(stored.job_id).status is JobStatus.SUCCEEDED
    assert stack.wait_for_orchestration(stored.job_id)["output"] == "Succeeded"
    assert stack.calls_of(stored.job_id)["called"] == 1
    assert resubmit(stack, number) == ("notFound", "not_found")
    event = stack.wait_for_event(stored.file_id, lambda event: event.kind.value == "dead letter")
    assert (event.actor, event.detail["sequenceNumber"]) == ("admin@example.com", number)
