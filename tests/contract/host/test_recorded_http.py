"""The host answers HTTP as the real one did: request for request as recorded."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.contract.host.hosts import RunningHost
from tests.contract.host.raw_http import Answer, exchange, receive
from tests.recordings import blurred, replayed

RECORDED = json.loads(Path(__file__).with_name("recorded_http.json").read_text())
BY_NAME = {case["name"]: case for case in RECORDED}
REQUESTS = {name: case for name, case in BY_NAME.items() if "wire" not in case}
ON_THE_WIRE = {name: case for name, case in BY_NAME.items() if "wire" in case}
OWN_HEADERS = ("date", "server", "connection", "x-cust")


@pytest.mark.parametrize("case", replayed("HTTP requests", REQUESTS))
def test_answers_as_recorded(edges: RunningHost, case: dict[str, Any]) -> None:
    # Given a request whose answer the real host gave
    case = written_out(case, edges)
    body = case["body"].encode("latin-1") if case["body"] is not None else None
    headers = [tuple(header) for header in case["headers"]]

    # When it is sent
    answer = exchange(edges.port, case["method"], case["path"], headers, body)

    # Then status, headers and body are the same
    assert answer.status == case["status"]
    if "answer_headers" in case:
        assert _compared_headers(answer, case) == _sorted(case["answer_headers"])
    if "echo" in case:
        seen = json.loads(answer.body)
        seen["headers"].pop("connection", None)
        assert blurred(seen, case["echo"]) == case["echo"]
    if "answer_json" in case:
        assert blurred(json.loads(answer.body), case["answer_json"]) == case["answer_json"]
    if "answer" in case:
        assert answer.body == _recorded_body(case["answer"])


@pytest.mark.parametrize("case", replayed("HTTP answers on the wire", ON_THE_WIRE))
def test_answers_on_the_wire_as_recorded(edges: RunningHost, case: dict[str, Any]) -> None:
    # Given a request to which the real host's answer was kept byte for byte
    plain = f"GET {case.get('path')} HTTP/1.1\r\nHost: localhost:7071\r\nConnection: close\r\n\r\n"
    recorded = _parts(case["wire"].encode("latin-1"))

    # When it is sent
    received = receive(edges.port, case.get("request", plain).encode(), until=recorded[2])

    # Then headers, framing and body are the same, but for the time and the headers' order
    assert _parts(received) == recorded


def written_out(case: dict[str, Any], host: RunningHost) -> dict[str, Any]:
    """The case with the host's keys for `<master>` and such, and `{x*9}` as nine of them."""
    keys: dict[str, Any] = json.loads((host.data / "keys.json").read_text())
    named = {name: key for name, key in keys.items() if isinstance(key, str)}
    text = re.sub("<(master|function|system)>", lambda match: named[match[1]], json.dumps(case))
    text = re.sub(r"\{(\\u....|.)\*(\d+)\}", lambda match: match[1] * int(match[2]), text)
    written: dict[str, Any] = json.loads(text)
    return written


def _compared_headers(answer: Answer, case: dict[str, Any]) -> list[list[str]]:
    ignored = OWN_HEADERS
    if case["path"] in ("/", "/item/..") or "answer_json" in case:
        ignored = (*OWN_HEADERS, "content-length")
    return _sorted(header for header in answer.headers if header[0].lower() not in ignored)


def _sorted(headers: Any) -> list[list[str]]:
    return sorted([name.lower(), value] for name, value in headers)


def _recorded_body(text: str) -> bytes:
    quoted = text.removeprefix("b64?")
    return ast.literal_eval(quoted) if quoted != text else text.encode()


def _parts(answer: bytes) -> tuple[bytes, list[bytes], bytes]:
    """Status line, headers in order of names, and everything behind them."""
    head, _, rest = answer.partition(b"\r\n\r\n")
    status, *headers = re.sub(rb"Date: \w{3}, [^\r]*", b"Date: <date>", head).split(b"\r\n")
    return status, sorted(_lower_name(one) for one in headers if one != b"X-Cust: yes"), rest


def _lower_name(header: bytes) -> bytes:
    name, colon, value = header.partition(b":")
    return name.lower() + colon + value
