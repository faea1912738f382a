"""One part as a process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from local.supervisor.log import Log
from local.supervisor.processes import Part, PartFailedError, PartProcess
from tests.unit.local.supervisor.fakes import (
    DIES_AT_START,
    NEVER_READY,
    STUBBORN,
    fake_part,
    is_running,
    wait_until,
)


class Starter:
    """Makes processes and leaves none behind."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made: list[PartProcess] = []

    def __call__(self, part: Part) -> PartProcess:
        log = Log(part.name, self.folder / f"{part.name}.log")
        self.made.append(PartProcess(part, log))
        return self.made[-1]


@pytest.fixture
def process_of(tmp_path: Path) -> Iterator[Starter]:
    starter = Starter(tmp_path)
    yield starter
    for process in starter.made:
        process.kill()
        process.log.close()


def test_a_part_is_started_once_it_says_that_it_is_ready(process_of: Starter) -> None:
    process = process_of(fake_part())

    process.start()

    assert process.alive
    assert "ready fake" in process.log.path.read_text().splitlines()


def test_a_part_that_dies_at_start_is_named_with_its_last_lines(process_of: Starter) -> None:
    process = process_of(fake_part("broker", DIES_AT_START))

    with pytest.raises(PartFailedError) as failure:
        process.start()

    first, *rest = str(failure.value).splitlines()
    assert first.startswith("broker ended with exit code 3; the last lines of ")
    assert rest[-1] == "    no such table: Job"


def test_a_part_that_is_not_ready_in_time_is_named(process_of: Starter) -> None:
    process = process_of(fake_part("broker", NEVER_READY, start_seconds=0.5))

    with pytest.raises(PartFailedError, match=r"^broker was not ready after 0 s"):
        process.start()


def test_a_killed_part_can_be_started_again(process_of: Starter) -> None:
    process = process_of(fake_part())
    process.start()
    first = process.pid

    process.kill()
    assert process.describe_end() == "signal SIGKILL"
    process.start()

    assert process.alive
    assert process.pid != first


def test_a_part_that_ignores_the_request_to_end_is_killed_after_the_grace(
    process_of: Starter,
) -> None:
    process = process_of(fake_part(program=STUBBORN))
    process.start()

    process.stop(grace_seconds=0.2)

    assert process.describe_end() == "signal SIGKILL"


def test_what_a_part_has_started_is_killed_with_it(process_of: Starter) -> None:
    program = (
        "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'input()'],"
        " stdin=subprocess.PIPE); print('child', child.pid); print('ready fake', flush=True);"
        " child.wait()"
    )
    process = process_of(fake_part(program=program))
    process.start()
    child = int(process.log.tail[-2].removeprefix("child "))

    process.kill()

    wait_until(lambda: not is_running(child))


def test_a_paused_part_says_nothing_and_goes_on_when_resumed(process_of: Starter) -> None:
    program = (
        "import itertools, time\nprint('ready fake', flush=True)\n"
        "for i in itertools.count(): print(i, flush=True); time.sleep(0.001)"
    )
    process = process_of(fake_part(program=program))
    process.start()

    process.pause()
    wait_until(lambda: _state(process.pid) == "T")
    process.resume()
    written = process.log.path.stat().st_size

    wait_until(lambda: process.log.path.stat().st_size > written)


def test_a_paused_part_can_be_stopped(process_of: Starter) -> None:
    process = process_of(fake_part())
    process.start()
    process.pause()
    wait_until(lambda: _state(process.pid) == "T")

    process.stop()

    assert process.describe_end() == "signal SIGTERM"


def test_bytes_that_are_not_utf_8_do_not_stop_the_log(process_of: Starter) -> None:
    program = (
        "import os, time; os.write(1, b'caf\\xe9 100%s\\n'); print('ready fake', flush=True);"
        " time.sleep(600)"
    )
    process = process_of(fake_part(program=program))

    process.start()

    assert "caf� 100%s" in process.log.path.read_text().splitlines()


def _state(pid: int | None) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
