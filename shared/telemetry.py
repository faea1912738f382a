"""Log lines: one event a line, its facts as JSON behind it, and no secret in either."""

import asyncio
import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from types import MappingProxyType
from typing import Any, TypeVar

T = TypeVar("T")
Line = tuple[logging.Logger, int, str]

_traces = logging.Formatter()
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_context: ContextVar[Mapping[str, Any]] = ContextVar("log_context", default=_NOTHING)
_kept: ContextVar[list[Line] | None] = ContextVar("kept_lines", default=None)
"""Where the lines of a thread wait for the task that started it."""

_SECRETS = [
    re.compile(r"(?i)([?&;\s]sig=)[^&\s\"']+"),
    re.compile(r"(?i)([?&](?:code|(?:access_)?token|(?:api[-_]?)?key)=)[^&\s\"']+"),
    re.compile(r"(?i)(Shared(?:AccessKey|AccessSignature)\s*[=:]?\s*)(?!Name)[^;\s\"']+"),
    re.compile(r"(?i)(AccountKey=)[^;\s\"']+"),
    re.compile(r"(?i)(Bearer\s+)[A-Za-z0-9._~+/=-]+"),
    re.compile(r"(?i)((?:password|pwd|client_secret)=)[^;&\s\"']+"),
    re.compile(r"()\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+"),
]
"""What must not be logged, each with the part before it that may stay."""


@contextmanager
def log_context(**facts: Any) -> Iterator[None]:
    """Every event logged inside carries these facts too, in the threads started there as well."""
    token = _context.set({**_context.get(), **facts})
    try:
        yield
    finally:
        _context.reset(token)


def log_event(logger: logging.Logger, event: str, level: int = logging.INFO, **facts: Any) -> None:
    """One line: the event in words, then its facts (camelCase names; None is left out) as JSON.

    The facts of the surrounding `log_context` come with it; its own go before those.
    """
    all_facts = {**_context.get(), **facts}
    kept = {name: value for name, value in all_facts.items() if value is not None}
    text = f"{event} {json.dumps(kept, default=str, ensure_ascii=False)}" if kept else event
    _write((logger, level, redact(text)))


async def run_in_thread(work: Callable[[], T], threads: Executor | None = None) -> T:
    """Run blocking work in a thread (of the event loop's own, by default), in this log context.

    What it logs is logged here when it ends: the platform knows an invocation by its task, and
    drops the lines of threads that were started beside it.
    """
    lines: list[Line] = []
    context = copy_context()
    context.run(_kept.set, lines)
    try:
        return await asyncio.get_running_loop().run_in_executor(threads, context.run, work)
    finally:
        for line in lines:
            _write(line)


def _write(line: Line) -> None:
    kept = _kept.get()
    if kept is not None:
        kept.append(line)
    else:
        logger, level, text = line
        logger.log(level, "%s", text)


def redact_all_logs() -> None:
    """From here on no log record of this process holds a secret, whoever writes it.

    Libraries log addresses and exceptions of their own, so records are cleaned where they are made:
    a filter on the root logger would not see those of other loggers. Repeating changes nothing.
    """
    made = logging.getLogRecordFactory()
    if getattr(made, "redacts", False):
        return

    def make(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = made(*args, **kwargs)
        record.msg, record.args = redact(record.getMessage()), ()
        if record.exc_info:
            # A formatter takes this text instead of writing the exception itself.
            record.exc_text = redact(_traces.formatException(record.exc_info))
        return record

    make.redacts = True  # type: ignore[attr-defined]  # the mark by which a repeat is known
    logging.setLogRecordFactory(make)


def quiet_libraries() -> None:
    """From here on Azure's libraries log warnings and worse: at INFO they tell every request.

    The host's own filters cannot do it: all lines of an invocation have one category there.
    """
    logging.getLogger("azure").setLevel(logging.WARNING)


def redact(text: str) -> str:
    """The text without signatures, keys, tokens and passwords; the rest stays readable."""
    for pattern in _SECRETS:
        text = pattern.sub(r"\g<1>[redacted]", text)
    return text
