"""`python -m local.host --app DIR --port 7071 --data DIR`: run a Functions app on 127.0.0.1."""

import argparse
import asyncio
import contextlib
import logging
import math
import os
from pathlib import Path

from local.durable.clock import Clock
from local.host.host import run
from local.settings import DEFAULT_PORTS


def main() -> None:
    """Read the command line and run until told to end."""
    options = _options()
    options.data.mkdir(parents=True, exist_ok=True)
    app, data, clock = options.app.resolve(), options.data.resolve(), Clock(options.clock_rate)
    code = asyncio.run(run(app, options.port, data, clock))
    logging.shutdown()
    # Threads of functions that were given up would keep the interpreter from ending.
    os._exit(code)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m local.host")
    parser.add_argument("--app", type=Path, default=Path(), help="the folder of function_app.py")
    parser.add_argument("--port", type=int, default=DEFAULT_PORTS["LOCAL_HOST_PORT"])
    parser.add_argument("--data", type=Path, required=True, help="the folder for what is kept")
    parser.add_argument(
        "--clock-rate",
        type=_rate,
        default=os.environ.get("LOCAL_CLOCK_RATE", "1"),
        help="how fast time passes for timers, durable ones too: 60 makes a minute a second",
    )
    return parser.parse_args()


def _rate(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 < float(text) < math.inf:
            return float(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")


main()
