"""What the demo prints: plain aligned text, a whole line at a time, from any thread."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def say(line: str = "") -> None:
    """Print one line at once, in one piece."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def say_part(part: str, line: str) -> None:
    """Print a line of a part's output behind the part's name."""
    say(f"{part:<11}| {line}")


def complain(line: str) -> None:
    """Print one line on standard error."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def in_words(name: str) -> str:
    """`documentNumbers` as `document numbers`."""
    return "".join(f" {char.lower()}" if char.isupper() else char for char in name).strip()


def facts(values: Mapping[str, Any], indent: str = "  ") -> Iterator[str]:
    """A line for each fact, names and values aligned; facts of a fact stand below it."""
    width = max((len(in_words(name)) for name in values), default=0)
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield f"{indent}{in_words(name)}"
            yield from facts(value, indent + "  ")
        else:
            yield f"{indent}{in_words(name):<{width}}  {value}"


def size(count: int) -> str:
    """A number of bytes for people."""
    return f"{count} bytes" if count < 1024 else f"{count / 1024:,.1f} KB"


def near(path: Path) -> str:
    """A path as seen from the working directory, where that is shorter."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
