"""`python -m local.servicebus --config topology.json --port 5672 --data DIR`"""

import argparse
import asyncio
import logging
import signal
import sys
from pathlib import Path

from local.servicebus.server import listen
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
    return parser.parse_args()


async def _serve(topology: Topology, arguments: argparse.Namespace) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    server = await listen(topology, arguments.data, arguments.port)
    server.service.failure.add_done_callback(lambda failure: stop.set())
    sys.stdout.write(f"ready servicebus {HOST}:{server.port}\n")
    sys.stdout.flush()
    await stop.wait()
    await server.close()
    failure = server.service.failure
    if failure.done():
        logging.getLogger(__name__).critical("stopped by a failure", exc_info=failure.exception())
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
