"""What the benchmarks print: plain tables, and the circumstances that they were measured under."""

import os
import platform
from collections.abc import Sequence

type Row = Sequence[str]


def show_circumstances() -> None:
    """The machine, and how busy it is: other work on it makes every time longer."""
    load = os.getloadavg()[0]
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} processors,"
        f" load average {load:.1f} at the start"
    )


def show_table(title: str, header: Row, rows: Sequence[Row]) -> None:
    """Print a table: the first column to the left, the others to the right."""
    print(f"\n{title}\n")
    for line in aligned([header, *rows]):
        print(f"  {line}", flush=True)


def aligned(rows: Sequence[Row]) -> list[str]:
    """The rows, of equal length, as lines whose columns stand below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [_line(row, widths) for row in rows]


def ratio(value: float, base: float) -> str:
    """How many times `base` a value is."""
    return f"{value / base:.2f}"


def _line(row: Row, widths: Sequence[int]) -> str:
    first, *others = [
        cell.rjust(width) if column else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "   ".join([first, *others]).rstrip()
