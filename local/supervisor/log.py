"""What a part says: kept in a file of bounded size, and shown where that is asked."""

import logging
from collections import deque
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path

Show = Callable[[str, str], None]
"""Gets the name of a part and a line of its output."""

MEGABYTES = 10
TAIL_LINES = 15


def show_nothing(_part: str, _line: str) -> None:
    """The console stays quiet; the file has it."""


class Log:
    """The log of one part: `path`, an older piece beside it as `path.1`, and the last lines."""

    def __init__(self, part: str, path: Path, show: Show = show_nothing) -> None:
        self.path = path
        self._part = part
        self._show = show
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = RotatingFileHandler(path, maxBytes=MEGABYTES * 2**20, backupCount=1)
        if path.stat().st_size:
            self._file.doRollover()

    @property
    def tail(self) -> list[str]:
        """The last lines since the part was started last."""
        return list(self._tail)

    def last_words(self) -> str:
        """The end of a message about the part: where its log is, and the last lines below."""
        return "\n".join(
            [f"the last lines of {self.path}:", *(f"    {line}" for line in self.tail)]
        )

    def write(self, line: str) -> None:
        """Keep a line, without its line end, and show it."""
        self._tail.append(line)
        # A record without arguments is written as it is, whatever it contains.
        self._file.handle(logging.makeLogRecord({"msg": line}))
        self._show(self._part, line)

    def begin(self, line: str) -> None:
        """The part starts again: forget the last lines, not the file."""
        self._tail.clear()
        self.write(line)

    def close(self) -> None:
        self._file.close()
