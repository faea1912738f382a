"""The host answers HTTP as the real one did: request for request as recorded."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from tests.contract.host.hosts import RunningHost
from tests.contract.host.raw_http import Answer, exchange

RECORDED = json.loads(Path(__file__).with_name("recorded_http.json").read_text())
OWN_HEADERS = ("date", "server", "connection", "x-cust")


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["name"])
def test_answers_as_recorded(edges: RunningHost, case: dict[str, Any]) -> None:
    # Given a request whose answer the real host gave
    body = case["body"].encode("latin-1") if case["body"] is not None else None
    headers = [tuple(header) for header in case["headers"]]

    # When it is sent
    answer = exchange(edges.port, case["method"], case["path"], headers, body)

    # Then status, headers and body are the same
    assert answer.status == case["status"]
    if "answer_headers" in case:
        recorded = sorted([name.lower(), value] for name, value in case["answer_headers"])
        assert _compared_headers(answer, case) == recorded
    if "echo" in case:
        seen = json.loads(answer.body)
        seen["headers"].pop("connection", None)
        assert {key: seen.get(key) for key in case["echo"]} == case["echo"]
    if "answer" in case:
        assert answer.body == _recorded_body(case["answer"])


def _compared_headers(answer: Answer, case: dict[str, Any]) -> list[list[str]]:
    ignored = {*OWN_HEADERS, "content-length"} if case["path"] in ("/", "/item/..") else OWN_HEADERS
    named = [[name.lower(), value] for name, value in answer.headers]
    return sorted(header for header in named if header[0] not in ignored)


def _recorded_body(text: str) -> bytes:
    quoted = text.removeprefix("b64?")
    return ast.literal_eval(quoted) if quoted != text else text.encode()
