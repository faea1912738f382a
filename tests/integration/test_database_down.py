"""Nobody can write to the database for a while: who asks is told so, what is said is not lost."""

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any

import pytest
import requests

from local.demo.operator import RESTART, Operator, is_over
from local.supervisor.environment import database_path, host_url
from shared.domain.jobs import JobStatus
from tests.contract.web_server import WebServer
from tests.integration.whole_stack import WholeStack, wait_for

ANSWERED_WITHIN = 60
"""Seconds. A unit of work is tried for twenty, and all of these wait for one connection."""


@contextmanager
def locked_database(stack: WholeStack) -> Iterator[None]:
    """Another program holds the lock of the file."""
    path = database_path(stack.stack.settings.data)
    with closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("ROLLBACK")


def ask(
    stack: WholeStack, method: str, path: str, token: str, body: Any = None
) -> Callable[[], requests.Response]:
    return lambda: requests.request(
        method,
        host_url(stack.stack.settings) + path,
        json=body,
        headers={"Authorization": f"Bearer {token}"},
        timeout=ANSWERED_WITHIN,
    )


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_requests_are_503_and_reports_are_taken_until_the_database_is_back(
    stack: WholeStack, extractor: WebServer
) -> None:
    operator = Operator(stack.stack.settings)
    stored = stack.submit(b"Invoice 96", client=stack.client_with(extractor.url))
    wait_for(lambda: (call := stack.call(stored.job_id)) and call.called_at)
    call_back = extractor.requests[0].headers["x-extractor-callback-token"]
    user, job = operator.token(), f"/v1/jobs/{stored.job_id}"
    report = {"status": "Succeeded", "resultSummary": {"pages": 1}}
    questions = {
        "read": ask(stack, "GET", job, user),
        "list": ask(stack, "GET", "/v1/jobs", user),
        "requests": ask(stack, "GET", "/v1/requests", user),
        "restart": ask(stack, "POST", RESTART, user, {"extractedEntityIds": [1]}),
        "cancel": ask(stack, "POST", f"{job}/cancel", user, {"reason": "too late"}),
        "health": ask(stack, "GET", "/health/ready", user),
        "retry": ask(stack, "POST", f"/v1/retry/{stored.file_id}", user, {}),
        "call-back": ask(stack, "POST", f"{job}/status", call_back, report),
    }

    with locked_database(stack), ThreadPoolExecutor(len(questions)) as people:
        asked = {name: people.submit(question) for name, question in questions.items()}
        answers = {name: future.result() for name, future in asked.items()}

    taken = {name: answers.pop(name) for name in ("retry", "call-back")}
    assert {name: answer.status_code for name, answer in taken.items()} == dict.fromkeys(taken, 202)
    assert {each.status_code for each in answers.values()} == {503}
    assert all(int(each.headers["Retry-After"]) > 0 for each in answers.values())
    assert answers["read"].json()["message"] == "The database is out of reach; try again later"
    assert "database" in answers["health"].json()["down"]

    assert stack.wait_for_end(stored.job_id).status is JobStatus.SUCCEEDED
    request = operator.wait_for_request(taken["retry"].json()["requestId"], is_over)
    assert request["state"] == "succeeded", "whichever was first, the report or the request"
    assert len(stack.jobs_of(stored.file_id)) == 1
    assert operator.get(job).json()["status"] == "Succeeded"
    wait_for(lambda: operator.get("/health/ready").status_code == 200)
