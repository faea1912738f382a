"""The body of a call: what is understood, and which field is named when it is not."""

import json
from uuid import UUID

import pytest

from local.extractor.calls import Call, CallError, read_call

JOB_ID = "7F0C4A2E-3F4B-4A53-9D3F-0D3B8B1F0A11"
FILE_URL = "https://files.example.com/in/a%20b.pdf?sv=1&sig=a%2Bb%2F"


def body(**fields: object) -> bytes:
    return json.dumps({"fileUrl": FILE_URL, "jobId": JOB_ID, **fields}).encode()


def test_a_call_names_the_file_and_the_job():
    assert read_call(body(extra=1)) == Call(UUID(JOB_ID), FILE_URL)


def test_a_byte_order_mark_does_no_harm():
    assert read_call(b"\xef\xbb\xbf" + body()).job_id == UUID(JOB_ID)


def test_the_files_address_leaves_the_signature_out():
    assert read_call(body()).file == "https://files.example.com/in/a%20b.pdf"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"jobId": None}, "jobId"),
        ({"jobId": 5}, "jobId"),
        ({"jobId": "five"}, "jobId"),
        ({"fileUrl": None}, "fileUrl"),
        ({"fileUrl": ["a"]}, "fileUrl"),
        ({"fileUrl": ""}, "fileUrl"),
        ({"fileUrl": "file:///etc/passwd"}, "fileUrl"),
        ({"fileUrl": "https://"}, "fileUrl"),
        ({"fileUrl": "https://[::1"}, "fileUrl"),
        ({"fileUrl": "https://files.example.com/a b"}, "fileUrl"),
        ({"fileUrl": "https://files.example.com/\r\nX: y"}, "fileUrl"),
    ],
)
def test_a_wrong_field_is_named(fields: dict[str, object], field: str):
    with pytest.raises(CallError, match=field) as caught:
        read_call(body(**fields))

    assert caught.value.field == field


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe{\x00}\x00"])
def test_a_body_must_be_a_json_object(content: bytes):
    with pytest.raises(CallError, match="the body must be") as caught:
        read_call(content)

    assert caught.value.field == ""
