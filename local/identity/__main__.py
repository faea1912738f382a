"""`python -m local.identity --port 7081 --data DIR`: serve tokens and keys on 127.0.0.1."""

import argparse
import asyncio
import logging
from pathlib import Path

from local.identity.clients import clients_path, default_clients, write_clients
from local.identity.server import create_app
from local.serving import serve
from local.settings import DEFAULT_PORTS


def main() -> None:
    """Read the command line and serve until told to end."""
    parser = argparse.ArgumentParser(prog="python -m local.identity")
    parser.add_argument("--port", type=int, default=DEFAULT_PORTS["LOCAL_IDENTITY_PORT"])
    parser.add_argument("--data", type=Path, required=True, help="the folder for keys and clients")
    parser.add_argument(
        "--clients",
        action="store_true",
        help="when there is no clients.json yet, write one with two clients and fresh secrets",
    )
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
    if options.clients and not clients_path(options.data).exists():
        write_clients(clients_path(options.data), default_clients())
    asyncio.run(serve("identity", options.port, lambda url: create_app(url, options.data)))


main()
