"""A message as the triggers see it, and a durable client that remembers what it was asked."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any


@dataclass
class Message:
    """A Service Bus message; `document` is its JSON."""

    document: Any
    delivery_count: int = 1
    application_properties: dict[str, Any] = field(default_factory=dict)
    enqueued_time_utc: datetime | None = datetime(2026, 1, 1, 12, tzinfo=UTC)

    def get_body(self) -> bytes:
        return json.dumps(self.document).encode()


@dataclass
class DurableClient:
    """Raises what the real one raises: bare exceptions whose text says what happened."""

    running: set[str] = field(default_factory=set)
    finished: set[str] = field(default_factory=set)
    started: list[tuple[str, str, Any]] = field(default_factory=list)
    raised: list[tuple[str, str, Any]] = field(default_factory=list)
    failures: int = 0

    async def start_new(self, name: str, instance_id: str, client_input: Any) -> str:
        self._may_fail()
        if instance_id in self.running:
            running = "An Orchestration instance with the status Running already exists."
            raise Exception({"Message": running})
        self.running.add(instance_id)
        self.started.append((name, instance_id, client_input))
        return instance_id

    async def raise_event(self, instance_id: str, name: str, data: Any) -> None:
        self._may_fail()
        if instance_id in self.finished:
            raise Exception(f"Instance with ID {instance_id} is gone: either completed or failed")
        if instance_id not in self.running:
            raise Exception(f"No instance with ID {instance_id} found.")
        self.raised.append((instance_id, name, data))

    def _may_fail(self) -> None:
        if self.failures:
            self.failures -= 1
            raise Exception("Webhook returned unrecognized status code 503")
