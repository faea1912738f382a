"""`python -m benchmarks.proton_echo PORT`: the least that a broker on Proton can do.

One queue in memory: what is sent is accepted, and given to whoever has credit. No entities, locks,
files or rules. What it does in a second is the ceiling for anything built like it.
"""

import sys
from collections import deque
from typing import Any

from proton import Delivery, Message, Sender
from proton.handlers import MessagingHandler
from proton.reactor import Container


class Echo(MessagingHandler):
    def __init__(self, port: int) -> None:
        super().__init__(prefetch=1_000, auto_settle=False)
        self._port = port
        self._waiting: deque[Message] = deque()
        self._receivers: list[Sender] = []

    def on_start(self, event: Any) -> None:
        event.container.listen(f"127.0.0.1:{self._port}")
        print(f"ready echo 127.0.0.1:{self._port}", flush=True)

    def on_link_opening(self, event: Any) -> None:
        event.link.source.copy(event.link.remote_source)
        event.link.target.copy(event.link.remote_target)
        if event.link.is_sender:
            self._receivers.append(event.link)

    def on_link_closed(self, event: Any) -> None:
        if event.link in self._receivers:
            self._receivers.remove(event.link)

    def on_disconnected(self, event: Any) -> None:
        self._receivers = [link for link in self._receivers if link.connection != event.connection]

    def on_message(self, event: Any) -> None:
        self._waiting.append(event.message)
        self._hand_out()

    def on_sendable(self, event: Any) -> None:
        self._hand_out()

    def on_accepted(self, event: Any) -> None:
        event.delivery.update(Delivery.ACCEPTED)
        event.delivery.settle()

    def _hand_out(self) -> None:
        for receiver in self._receivers:
            while self._waiting and receiver.credit > 0:
                receiver.send(self._waiting.popleft())


if __name__ == "__main__":
    Container(Echo(int(sys.argv[1]))).run()
