"""The one place that sets up logging: one record a line on standard error, times in UTC.

The worker shares this process, so the app's records come through the root logger too; those of a
call in progress are shown under `Function.<name>.User`, as the real host shows them.
"""

import logging
import time
from collections.abc import Mapping
from typing import TextIO

from local.host.worker import current_invocation

FORMAT = "%(asctime)s.%(msecs)03dZ %(levelname)s %(category)s: %(message)s"
QUIET = ("azure", "uamqp", "aiohttp.access", "asyncio")


def set_up(running: Mapping[str, str]) -> None:
    """Send every record to standard error; `running` names the function of each call id."""
    logging.basicConfig(level=logging.INFO, handlers=[make_handler(running)], force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def make_handler(running: Mapping[str, str]) -> logging.StreamHandler[TextIO]:
    """A handler that writes records as the console shows them."""
    formatter = _Lines(FORMAT, "%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime
    handler = logging.StreamHandler()
    handler.setFormatter(formatter)
    handler.addFilter(_Category(running))
    return handler


class _Category(logging.Filter):
    def __init__(self, running: Mapping[str, str]) -> None:
        super().__init__()
        self._running = running

    def filter(self, record: logging.LogRecord) -> bool:
        function = self._running.get(current_invocation() or "")
        from_library = record.name.startswith("azure.")
        record.category = (
            f"Function.{function}.User" if function and not from_library else record.name
        )
        return True


class _Lines(logging.Formatter):
    """Indents what follows a line break, so that a record begins where a line begins."""

    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).replace("\n", "\n    ")
