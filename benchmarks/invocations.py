"""Where the host's time goes: the calls of functions that its log tells of."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

_EXECUTED = re.compile(
    r"(?P<at>\S+Z) .*Executed 'Functions\.(?P<name>\w+)' \(.*Duration=(?P<milliseconds>\d+)ms\)"
)


def read_invocations(log: Path, since: datetime) -> Mapping[str, Sequence[float]]:
    """Seconds of each call that ended since then, by function; the log's older piece counts too."""
    pieces = [log.with_name(f"{log.name}.1"), log]
    lines = (line for piece in pieces if piece.exists() for line in piece.open(errors="replace"))
    return invocations(lines, since)


def invocations(lines: Iterable[str], since: datetime) -> Mapping[str, Sequence[float]]:
    """The same of these lines."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for line in lines:
        executed = _EXECUTED.match(line)
        if executed and datetime.fromisoformat(executed["at"]).astimezone(UTC) >= since:
            found[executed["name"]].append(int(executed["milliseconds"]) / 1000)
    return found
