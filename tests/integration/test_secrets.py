"""Secrets of every kind go through the whole stack, the ways on which things fail among them.

None of them may stand in any log. What lies beside them must: a log that is empty proves nothing.
The stack's end searches all logs once more, for all of them.
"""

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
import requests
from azure.servicebus import ServiceBusMessage

from local.demo.file_service import StoredFile
from local.demo.operator import RESTART, Operator
from local.supervisor.environment import TOPICS, host_url
from shared.domain.jobs import JobStatus
from tests.contract.web_server import Reply, WebServer
from tests.integration.secrets import leaks
from tests.integration.whole_stack import WholeStack, wait_for

DOCUMENT = b"""Invoice 4711 of 2024-01-31
The melting point of kryptonite is confidential.
Write to jane.planted@secret.example; pay to DE89 3704 0044 0532 0130 00.
"""
NOWHERE = "http://127.0.0.1:9/extract"


def plant(stack: WholeStack, what: str, text: str) -> str:
    """A secret that is searched for from here on."""
    stack.secrets[what] = text
    return text


def key(stack: WholeStack, what: str) -> str:
    return plant(stack, what, f"planted-{uuid4().hex}")


def post(stack: WholeStack, path: str, token: str, body: object = None) -> requests.Response:
    headers = {"Authorization": f"Bearer {token}"}
    return requests.post(
        host_url(stack.stack.settings) + path, json=body or {}, headers=headers, timeout=10
    )


def searched(stack: WholeStack) -> list[str]:
    return leaks(stack.stack.logs, stack.secrets)


def called_and_cancelled(stack: WholeStack, stored: StoredFile) -> None:
    """The job's extractor was called, and is not called again."""
    stack.wait_for_event(stored.file_id, lambda event: event.kind.value == "call")
    operator = Operator(stack.stack.settings)
    operator.post(f"/v1/jobs/{stored.job_id}/cancel", {"reason": "seen enough"})
    stack.wait_for_end(stored.job_id)
    stack.wait_for_log("host", f'"jobId": "{stored.job_id}"')


def test_what_is_in_a_document_stays_there(stack: WholeStack) -> None:
    plant(stack, "sentence of a document", "melting point of kryptonite")
    plant(stack, "e-mail address in a document", "jane.planted@secret.example")
    plant(stack, "bank account in a document", "3704 0044 0532 0130")
    stored = stack.submit(DOCUMENT)
    assert stack.wait_for_end(stored.job_id).status is JobStatus.SUCCEEDED
    stack.wait_for_log("extractor", f"job {stored.job_id} taken")
    stack.wait_for_log("host", f'"jobId": "{stored.job_id}"')
    assert searched(stack) == []


def test_tokens_stay_out_good_ones_and_bad_ones(stack: WholeStack) -> None:
    operator = Operator(stack.stack.settings)
    good = plant(stack, "token of an operator", operator.token())
    head, payload, signature = good.split(".")
    bad = plant(stack, "forged token", f"{head}.{payload}x.{signature}")
    opaque = key(stack, "token of another kind")
    in_address = key(stack, "key in an address")
    said = {"extractedEntityIds": [key(stack, "id that is none")]}

    assert post(stack, RESTART, good, said).status_code == 400
    assert post(stack, RESTART, good, {"extractedEntityIds": [987654321]}).status_code == 404
    assert post(stack, RESTART, bad).status_code == 401
    assert post(stack, RESTART, opaque).status_code == 401
    assert post(stack, f"{RESTART}?code={in_address}&access_token={good}", bad).status_code == 401

    stack.wait_for_log("host", "Token refused")
    assert searched(stack) == []


def test_the_token_of_a_call_back_stays_out(stack: WholeStack, extractor: WebServer) -> None:
    stored = stack.submit(b"Invoice 91", client=stack.client_with(extractor.url))
    call = wait_for(lambda: next(iter(extractor.requests), None))
    token = plant(stack, "token of a call-back", call.headers["x-extractor-callback-token"])
    link = urlsplit(json.loads(call.body)["fileUrl"])
    plant(stack, "signature of a link", parse_qs(link.query)["sig"][0])
    said = key(stack, "what an extractor says")
    path = f"/v1/jobs/{stored.job_id}/status"

    guessed = key(stack, "guessed call-back token")
    other = f"/v1/jobs/{uuid4()}/status"
    report = {"status": "Failed", "errorMessage": said, "resultSummary": said}
    assert post(stack, path, guessed).status_code == 401
    assert post(stack, other, token, {"status": "Started"}).status_code == 403
    assert post(stack, path, token, {"status": said}).status_code == 400
    assert post(stack, path, token, report).status_code == 202

    assert stack.wait_for_end(stored.job_id).status is JobStatus.FAILED
    stack.wait_for_log("host", f'"jobId": "{stored.job_id}"')
    assert searched(stack) == []


@pytest.mark.parametrize("status", [200, 307, 400, 500])
def test_what_an_extractor_answers_and_its_address_stay_out(
    stack: WholeStack, extractor: WebServer, status: int
) -> None:
    answer = key(stack, f"body of an answer {status}")
    place = f"https://elsewhere.example/?sig={key(stack, f'header of an answer {status}')}"
    extractor.answer = lambda _: Reply(status, answer.encode(), {"Location": place})
    code = key(stack, f"key in the address of an extractor that answers {status}")
    client = stack.client_with(f"{extractor.url}/extract?code={code}")
    called_and_cancelled(stack, stack.submit(b"Invoice 92", client=client))
    assert extractor.requests
    assert searched(stack) == []


def test_the_address_of_an_extractor_that_is_away_stays_out(stack: WholeStack) -> None:
    code = key(stack, "key in the address of an extractor that is away")
    client = stack.client_with(f"{NOWHERE}?code={code}")
    called_and_cancelled(stack, stack.submit(b"Invoice 93", client=client))
    assert searched(stack) == []


def test_a_link_that_leads_nowhere_stays_out(stack: WholeStack) -> None:
    file_id = uuid4()
    stored = StoredFile(file_id, "gone.txt", "ab" * 32, f"{file_id}/gone.txt")
    stack.services.files.add_row(stored)
    stack.services.files.announce(file_id)
    failed = stack.wait_for_end(stored.job_id)
    assert "could not be downloaded" in (failed.status_message or "")
    stack.wait_for_log("extractor", f"job {stored.job_id} taken")
    assert searched(stack) == []


@pytest.mark.parametrize("kind", ["ACCEPTED_FILE", "JOB_STATUS", "EXTRACTION_RETRY"])
def test_what_is_in_a_message_that_is_refused_stays_out(stack: WholeStack, kind: str) -> None:
    said = key(stack, f"content of a refused message, {kind}")
    document = {"FileID": said, "type": said, "specversion": "1.0", "fileIds": said, "reason": said}
    message_id = str(uuid4())
    message = ServiceBusMessage(json.dumps(document), message_id=message_id, subject="x")
    stack.publish(TOPICS[f"TOPIC_{kind}"], message)
    topic, subscription = TOPICS[f"TOPIC_{kind}"], TOPICS[f"SUBSCRIPTION_{kind}"]
    stack.wait_for_dead_letter(topic, subscription, message_id)
    stack.wait_for_log("host", "Message refused")
    assert searched(stack) == []


def test_the_search_finds_what_is_there(tmp_path: Path) -> None:
    secrets = {"key": "s3cret/key="}
    harmless = "File accepted sig=[redacted] eyJ.x Bearer [redacted] secret/key"
    (tmp_path / "host.log").write_text(f"{harmless}\nKey=s3cret/key=;\n{harmless}")
    (tmp_path / "host.log.1").write_text("GET /?code=s3cret%2Fkey%3D")
    (tmp_path / "blob.log").write_text(
        "?se=2026&sig=AbC%2Fd12345 Bearer eyJhbGciOiJ.eyJpc3Mi-_x.c2"
    )
    assert leaks(tmp_path, secrets) == [
        "blob.log:1: a token",
        "blob.log:1: a link's signature",
        "host.log:2: key",
        "host.log.1:1: key",
    ]
