"""How a part of the embedded Azure that speaks HTTP starts, says that it is ready, and ends."""

import asyncio
import signal
import socket
import sys
from collections.abc import Callable

from aiohttp import web

from local.settings import HOST

GRACE_SECONDS = 0.5
"""How long requests in hand may take to finish once the process is told to end."""


async def serve(name: str, port: int, make_app: Callable[[str], web.Application]) -> None:
    """Serve until SIGTERM or SIGINT; port 0 means any free one.

    `make_app` gets the base URL, `http://127.0.0.1:PORT`, which is known before the first request.
    Prints `ready NAME URL` on standard output once connections are accepted.
    Raises SystemExit with a message when the port is taken.
    """
    listener = _listen(name, port)
    url = f"http://{HOST}:{listener.getsockname()[1]}"
    runner = web.AppRunner(make_app(url), access_log=None, shutdown_timeout=GRACE_SECONDS)
    told_to_end = _end_signal()
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        sys.stdout.write(f"ready {name} {url}\n")
        sys.stdout.flush()
        await told_to_end.wait()
    finally:
        await runner.cleanup()


def _listen(name: str, port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise SystemExit(f"{name} cannot listen on {HOST}:{port}: {error.strerror}") from None


def _end_signal() -> asyncio.Event:
    told = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    return told
