"""A Service Bus on a thread of its own, whose clock the test can put forward."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from local.servicebus.clock import AdjustableClock
from local.servicebus.server import Server, listen
from local.servicebus.topology import Topology


@dataclass(frozen=True)
class RunningBus:
    """A broker that accepts connections."""

    server: Server
    loop: asyncio.AbstractEventLoop
    clock: AdjustableClock

    @property
    def port(self) -> int:
        return self.server.port

    @property
    def connection_string(self) -> str:
        return connection_string(self.port)

    def pass_time(self, seconds: float) -> None:
        """Put the clock forward and let the broker do what has come due."""

        def forward() -> None:
            self.clock.advance(int(seconds * 1000))
            self.server.service.turn()

        self.run(forward)

    def run[T](self, call: Callable[[], T]) -> T:
        """Do something on the broker's own thread, where alone its state is safe to read."""
        done: Future[T] = Future()

        def step() -> None:
            try:
                done.set_result(call())
            except BaseException as error:
                done.set_exception(error)

        self.loop.call_soon_threadsafe(step)
        return done.result(10)


def connection_string(port: int) -> str:
    return (
        f"Endpoint=sb://localhost:{port};SharedAccessKeyName=Root;SharedAccessKey=abc;"
        "UseDevelopmentEmulator=true;"
    )


@contextmanager
def running(topology: Topology, folder: Path) -> Iterator[RunningBus]:
    """Serve `topology` until the block ends."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    clock = AdjustableClock()
    try:
        start = asyncio.run_coroutine_threadsafe(listen(topology, folder, 0, clock), loop)
        server = start.result(10)
        try:
            yield RunningBus(server, loop, clock)
        finally:
            asyncio.run_coroutine_threadsafe(server.close(), loop).result(10)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
