"""The AsyncAPI document of the four topics, made of the declared topology and the messages' models.

`python -m shared.contracts.asyncapi docs/asyncapi.json` writes it; a test holds the file to it.
"""

import sys
from pathlib import Path
from typing import Any

from shared.contracts.schemas import as_text, message_schemas
from shared.contracts.topology import (
    DUPLICATE_DETECTION,
    LOCK_DURATION,
    MAX_DELIVERY_COUNT,
    NOT_JOB_QUEUED,
    TIME_TO_LIVE,
)

STATUS_MESSAGES = ("JobQueued", "JobStarted", "JobSucceeded", "JobFailed", "JobCancelled")
REPORTED = ("JobStarted", "JobSucceeded", "JobFailed")

CHANNELS: dict[str, tuple[str, tuple[str, ...]]] = {
    "accepted-file": ("The file service has accepted a file", ("FileAccepted",)),
    "job-status": ("Every change of a job, once under its one id", STATUS_MESSAGES),
    "extraction-retry": ("Files are to be extracted again", ("ExtractionRetryEvent",)),
    "extraction-result": ("What became of an attempt", ("ExtractionRetryResult",)),
}
"""By default topic name: what is said there, and in which messages."""

SENT = {
    "job-status": STATUS_MESSAGES,
    "extraction-retry": ("ExtractionRetryEvent",),
    "extraction-result": ("ExtractionRetryResult",),
}
RECEIVED = {
    "accepted-file": ("FileAccepted",),
    "job-status": REPORTED,
    "extraction-retry": ("ExtractionRetryEvent",),
    "extraction-result": ("ExtractionRetryResult",),
}


def asyncapi_document() -> dict[str, Any]:
    """The document, seen from the Extractor Service: what it sends and what it receives."""
    schemas = message_schemas()
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Extractor Service messages",
            "version": "1.0.0",
            "description": _INTRODUCTION,
        },
        "defaultContentType": "application/json",
        "channels": {topic: _channel(topic) for topic in CHANNELS},
        "operations": {
            **{f"send-{topic}": _operation("send", topic, names) for topic, names in SENT.items()},
            **{
                f"receive-{topic}": _operation("receive", topic, names)
                for topic, names in RECEIVED.items()
            },
        },
        "components": {
            "messages": {
                name: {"name": name, "payload": schemas[name], "headers": _HEADERS}
                for _, names in CHANNELS.values()
                for name in names
            }
        },
    }


_INTRODUCTION = (
    "Delivery is at least once, under a stable message id: consumers deduplicate on it."
    f" Topics keep messages for {TIME_TO_LIVE.days} days and detect duplicates for"
    f" {DUPLICATE_DETECTION.total_seconds():.0f} seconds; subscriptions lock for"
    f" {LOCK_DURATION.total_seconds():.0f} seconds and deliver {MAX_DELIVERY_COUNT} times at most."
    f" The service's own subscription on job-status has the filter: {NOT_JOB_QUEUED}."
)
_HEADERS = {
    "type": "object",
    "description": "Application properties",
    "properties": {
        "schemaVersion": {"type": "string", "description": "`major.minor`; absent means 1.0"},
        "traceparent": {"type": "string", "description": "W3C trace context"},
        "willRetry": {"type": "boolean", "description": "of a JobFailed that the service sends"},
        "retryAttempt": {"type": "integer", "description": "of an ExtractionRetryResult"},
    },
}


def _channel(topic: str) -> dict[str, Any]:
    description, names = CHANNELS[topic]
    return {
        "address": topic,
        "description": description,
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in names},
    }


def _operation(action: str, topic: str, names: tuple[str, ...]) -> dict[str, Any]:
    return {
        "action": action,
        "channel": {"$ref": f"#/channels/{topic}"},
        "messages": [{"$ref": f"#/channels/{topic}/messages/{name}"} for name in names],
    }


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(as_text(asyncapi_document()), encoding="utf-8")
