"""`python -m local.servicebus --config topology.json --port 5672 --data DIR`"""

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from local.servicebus.clock import AdjustableClock
from local.servicebus.faults import Faults
from local.servicebus.server import Server, listen
from local.servicebus.settings_reader import TopologyError
from local.servicebus.store import StoreError
from local.servicebus.topology import Topology, load_topology
from local.settings import HOST


def main() -> int:
    """Serve until SIGTERM or SIGINT; answers the exit status, 2 for what cannot be started."""
    arguments = _arguments()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    try:
        return asyncio.run(_serve(load_topology(arguments.config), arguments))
    except (TopologyError, StoreError, OSError) as error:
        sys.stderr.write(f"servicebus: {error}\n")
        return 2


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m local.servicebus", description=__doc__)
    parser.add_argument("--config", type=Path, required=True, help="the emulator's config file")
    parser.add_argument("--port", type=int, default=5672, help="0 picks a free one")
    parser.add_argument("--data", type=Path, required=True, help="folder of the stored messages")
    parser.add_argument("--control", type=int, help="port of the fault switches, for tests")
    return parser.parse_args()


async def _serve(topology: Topology, arguments: argparse.Namespace) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with _listening(topology, arguments) as server:
        failure = server.service.failure
        failure.add_done_callback(lambda _: stop.set())
        sys.stdout.write(f"ready servicebus {HOST}:{server.port}\n")
        sys.stdout.flush()
        await stop.wait()
    if failure.done():
        logging.getLogger(__name__).critical("stopped by a failure", exc_info=failure.exception())
        return 1
    return 0


@asynccontextmanager
async def _listening(topology: Topology, arguments: argparse.Namespace) -> AsyncIterator[Server]:
    async with AsyncExitStack() as stack:
        if arguments.control is None:
            server = await listen(topology, arguments.data, arguments.port)
            stack.push_async_callback(server.close)
        else:
            # Only tests need an HTTP server.
            from local.servicebus.control import serve_switches

            clock, faults = AdjustableClock(), Faults()
            server = await listen(topology, arguments.data, arguments.port, clock, faults)
            stack.push_async_callback(server.close)
            switches = await serve_switches(arguments.control, server, faults, clock)
            stack.push_async_callback(switches.cleanup)
        yield server


if __name__ == "__main__":
    sys.exit(main())
