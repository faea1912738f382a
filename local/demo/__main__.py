"""`make run`: start the embedded Azure, show one job from end to end, and restart a failed one.

`FILE` in the environment names a document of one's own.
"""

import argparse
import logging
import os
import signal
import sys
from pathlib import Path
from types import FrameType

from azure.core.exceptions import AzureError

from local.demo.console import complain
from local.demo.core_tools import run_without_host
from local.demo.document import INVOICE, DocumentError, read_document
from local.demo.laptop import settings_for
from local.demo.prerequisites import MissingError, check_prerequisites
from local.demo.run import run
from local.supervisor.data import DataFolderError
from local.supervisor.lock import AlreadyRunningError
from local.supervisor.ports import PortsError
from local.supervisor.processes import PartFailedError

EXPECTED = (
    AlreadyRunningError,
    AzureError,
    DataFolderError,
    DocumentError,
    MissingError,
    PartFailedError,
    PortsError,
)
"""Problems that a person can do something about: told in one piece, without a stack trace."""


def main() -> int:
    """0 when the job succeeded or Ctrl-C ended a running stack; otherwise 1, with the reason."""
    logging.getLogger("azure").setLevel(logging.CRITICAL)  # what fails is said in our words
    options = _options()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    settings = settings_for("make run")
    try:
        if options.host == "func":
            check_prerequisites()
            run_without_host(settings, options.verbose)
            return 0
        document = read_document(Path(os.environ.get("FILE") or INVOICE))
        check_prerequisites()
        succeeded = run(settings, document, options.once, options.verbose)
        return 0 if succeeded else 1
    except EXPECTED as error:
        complain(f"make run: {error}")
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:  # as in `make run | head`: nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m local.demo", description=__doc__)
    parser.add_argument("--once", action="store_true", help="end when the job has ended")
    parser.add_argument("--verbose", action="store_true", help="show what every part prints")
    parser.add_argument(
        "--host",
        choices=("embedded", "func"),
        default="embedded",
        help="func: start everything but the host, and say how the Core Tools run the app",
    )
    options = parser.parse_args()
    if options.once and options.host == "func":
        parser.error("--once shows a job, and without the embedded host there is none to show")
    return options


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """Being told to end, and losing the terminal, are handled as Ctrl-C is."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
