"""`python -m local.host --app DIR --port 7071 --data DIR`: run a Functions app on 127.0.0.1."""

import argparse
import asyncio
import logging
import os
from pathlib import Path

from local.host.host import run
from local.settings import DEFAULT_PORTS


def main() -> None:
    """Read the command line and run until told to end."""
    parser = argparse.ArgumentParser(prog="python -m local.host")
    parser.add_argument("--app", type=Path, default=Path(), help="the folder of function_app.py")
    parser.add_argument("--port", type=int, default=DEFAULT_PORTS["LOCAL_HOST_PORT"])
    parser.add_argument("--data", type=Path, required=True, help="the folder for what is kept")
    options = parser.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)
    code = asyncio.run(run(options.app.resolve(), options.port, options.data.resolve()))
    logging.shutdown()
    # Threads of functions that were given up would keep the interpreter from ending.
    os._exit(code)


main()
