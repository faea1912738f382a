"""The envelope of job status messages, known to this module only: CloudEvents 1.0 as JSON."""

import json
from datetime import datetime
from typing import Any

from pydantic import BaseModel

from shared.contracts.wire import (
    SCHEMA_VERSION,
    Contract,
    check_schema_version,
    format_timestamp,
    read_json_object,
)

SOURCE = "/extractor-service"


class Envelope(Contract):
    """What we read of an envelope; senders may add any CloudEvents attribute."""

    type: str
    data: dict[str, Any]
    specversion: str = "1.0"
    schemaversion: str | None = None


def make_envelope(data: BaseModel, message_id: str, subject: str, time: datetime) -> str:
    """The JSON text of an envelope around `data`, whose class name is the message type.

    `message_id` becomes the CloudEvents `id`, `subject` the JobID; times are written as `…000Z`.
    """
    return json.dumps(
        {
            "specversion": "1.0",
            "id": message_id,
            "source": SOURCE,
            "type": type(data).__name__,
            "subject": subject,
            "time": format_timestamp(time),
            "datacontenttype": "application/json",
            "schemaversion": SCHEMA_VERSION,
            "data": {name: _plain(value) for name, value in data},
        },
        ensure_ascii=False,
    )


def read_envelope(body: bytes, schema_version: object = None) -> Envelope:
    """Read an envelope. Raises ContractError; an unknown major version in either place is one."""
    check_schema_version(schema_version)
    document = read_json_object(body)
    envelope = Envelope.read(document)
    check_schema_version(envelope.schemaversion)
    return envelope


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return format_timestamp(value)
    if value is None or isinstance(value, dict | str | int):
        return value
    return str(value)
