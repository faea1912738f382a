"""The fault switches of a local Service Bus that was started with `--control PORT`.

A part of the embedded Azure gets them with `controlled(part, port)`.
"""

import json
from contextlib import closing
from dataclasses import replace
from http.client import HTTPConnection

from local.settings import HOST
from local.supervisor.processes import Part


class ServiceBusFaults:
    """Every call returns when the broker has done what it says."""

    def __init__(self, port: int) -> None:
        self._port = port

    def pause(self) -> None:
        """Have the broker stand still, while its clock runs on."""
        self.set(paused=True)

    def resume(self) -> None:
        self.set(paused=False)

    def delay(self, seconds: float) -> None:
        """Let everything that the broker says leave that much later."""
        self.set(delay_seconds=seconds)

    def lose_requests(self, count: int = 1) -> None:
        """Cut the connections of the next senders before their messages are stored."""
        self.set(lost_requests=count)

    def lose_answers(self, count: int = 1) -> None:
        """Accept what the next senders send, and cut their connections instead of saying so."""
        self.set(lost_answers=count)

    def duplicate(self, count: int = 1) -> None:
        """Hand out the next messages twice, each copy with a lock of its own."""
        self.set(duplicates=count)

    def duplicate_share(self, share: float) -> None:
        """Hand out this share of all messages twice, evenly spread."""
        self.set(duplicate_share=share)

    def reorder(self) -> None:
        """Hand out the youngest messages first."""
        self.set(newest_first=True)

    def break_connections(self) -> None:
        self.set(break_connections=True)

    def speed_clock(self, times: float) -> None:
        """Let the broker's clock run faster; those of its clients do not."""
        self.set(clock_speed=times)

    def advance_clock(self, seconds: float) -> None:
        self.set(advance_seconds=seconds)

    def reset(self) -> None:
        """Switch everything off; what the clock was put forward stays."""
        self._request("DELETE")

    def told(self) -> dict[str, object]:
        """How the switches stand."""
        return self._request("GET")

    def set(self, **switches: object) -> dict[str, object]:
        """Set switches by name. Raises ValueError, with what the broker says, when it refuses."""
        return self._request("POST", json.dumps(switches))

    def _request(self, method: str, body: str | None = None) -> dict[str, object]:
        with closing(HTTPConnection(HOST, self._port, timeout=10)) as connection:
            connection.request(method, "/", body)
            response = connection.getresponse()
            text = response.read().decode()
        if response.status != 200:
            raise ValueError(text)
        switches: dict[str, object] = json.loads(text)
        return switches


def controlled(part: Part, port: int) -> Part:
    """The Service Bus part with its switches on `port`."""
    return replace(part, command=(*part.command, "--control", str(port)))
