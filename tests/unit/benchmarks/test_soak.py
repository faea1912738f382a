"""What is told of a soak."""

import pytest

from benchmarks.soak import show_change, told
from benchmarks.soak_stack import Lap

FIRST = Lap(100, 6.0, {"host": 5.0, "blob": 0.0}, {"host": 100 << 20, "blob": 50 << 20}, {"Job": 7})
LAST = Lap(100, 9.0, {"host": 5.5, "blob": 0.0}, {"host": 110 << 20, "blob": 50 << 20}, {"Job": 7})


def test_a_lap_is_told_in_one_line() -> None:
    assert told(FIRST) == (
        "60.0 ms a job, 50.0 ms of processors; MiB: host 100.0, blob 50.0; rows: Job 7"
    )


def test_the_last_lap_stands_beside_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    show_change([FIRST, FIRST, LAST])

    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "time 60.0 ms 90.0 ms 1.50" in lines
    assert "processor time, host 50.0 ms 55.0 ms 1.10" in lines
    assert "host 100.0 MiB 110.0 MiB 1.10" in lines
    assert "blob 50.0 MiB 50.0 MiB 1.00" in lines
