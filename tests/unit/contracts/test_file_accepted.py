"""FileAccepted is read tolerantly, and refused with the field and the rule."""

import json
from uuid import UUID

import pytest

from shared.contracts.file_accepted import read_file_accepted
from shared.contracts.wire import ContractError

FILE_ID = "0b8f3a52-7f0e-4e62-9a35-5d8d1f6f9a41"
GOOD = {"FileID": FILE_ID, "Timestamp": "2026-01-01T00:00:00Z"}


def body(document: object) -> bytes:
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    "sent",
    [
        body(GOOD),
        b"\xef\xbb\xbf" + body(GOOD),
        body(GOOD | {"Extra": {"nested": [1]}, "BlobName": "x"}),
        body({"fileId": FILE_ID, "timestamp": "2026-01-01T00:00:00.000Z"}),
        body({"fileID": FILE_ID.upper(), "timeStamp": "2026-01-01T01:00:00+01:00"}),
        body({"FileID": f"{{{FILE_ID}}}", "Timestamp": "2026-01-01T00:00:00.1234567Z"}),
        body({"FileID": FILE_ID.replace("-", ""), "Timestamp": "2026-01-01T00:00:00Z"}),
        b" \r\n" + body(GOOD) + b"\n",
    ],
    ids=["plain", "bom", "extra", "camel", "other-case", "braces", "no-hyphens", "blanks"],
)
def test_every_accepted_spelling_gives_the_same_file(sent: bytes) -> None:
    assert read_file_accepted(sent).FileID == UUID(FILE_ID)


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"", "body_empty"),
        (b"  \n", "body_empty"),
        (b"\xef\xbb\xbf", "body_not_json"),
        (b"{", "body_not_json"),
        (b'{"FileID": NaN}', "body_not_json"),
        (b"\xff\xfe{}", "body_not_json"),
        (b"[" * 100_000, "body_not_json"),
        (b"null", "body_not_object"),
        (b"[]", "body_not_object"),
        (b'"text"', "body_not_object"),
        (b"5", "body_not_object"),
        (
            b"@\x06string\x083http://schemas.microsoft.com/2003/10/Serialization/\x9a\x05{{}",
            "body_wrapped",
        ),
        (body({"Timestamp": GOOD["Timestamp"]}), "contract_broken"),
        (body(GOOD | {"FileID": None}), "contract_broken"),
        (body(GOOD | {"FileID": "not-a-guid"}), "contract_broken"),
        (body(GOOD | {"FileID": 5}), "contract_broken"),
        (body(GOOD | {"Timestamp": "yesterday"}), "contract_broken"),
        (body(GOOD | {"Timestamp": "2026-01-01T00:00:00"}), "contract_broken"),
    ],
)
def test_a_broken_message_is_refused_with_a_stable_code(sent: bytes, code: str) -> None:
    with pytest.raises(ContractError) as refused:
        read_file_accepted(sent)
    assert refused.value.code == code


def test_the_refusal_names_the_field_and_never_the_input() -> None:
    with pytest.raises(ContractError) as refused:
        read_file_accepted(body({"FileID": "s3cret-value", "Timestamp": "s3cret-time"}))
    assert "FileID" in str(refused.value)
    assert "Timestamp" in str(refused.value)
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("version", [None, "1.0", "1.7", "1", 1, 1.0])
def test_any_version_of_the_known_major_is_read(version: object) -> None:
    assert read_file_accepted(body(GOOD), version).FileID == UUID(FILE_ID)


@pytest.mark.parametrize("version", ["2.0", "0.9", "", "x", "1.x", 2])
def test_an_unknown_major_version_is_refused(version: object) -> None:
    with pytest.raises(ContractError) as refused:
        read_file_accepted(body(GOOD), version)
    assert refused.value.code == "version_unknown"
