"""All parts together."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from local.supervisor.lock import AlreadyRunningError, find_running
from local.supervisor.ports import PortsError, with_free_ports
from local.supervisor.processes import PartFailedError
from local.supervisor.stack import Stack
from tests.unit.local.supervisor.fakes import (
    DIES_AT_START,
    STUBBORN,
    fake_part,
    is_running,
    plan_of,
    wait_until,
)


def test_parts_of_a_later_step_start_when_the_earlier_ones_are_ready(tmp_path: Path) -> None:
    lines: list[str] = []
    slow = "import time; time.sleep(0.3); print('ready fake', flush=True); time.sleep(600)"
    plan = plan_of([fake_part("broker", slow), fake_part("blob")], [fake_part("host")])

    with Stack(with_free_ports(tmp_path), plan=plan, announce=lines.append):
        pass

    assert [line.split()[0] for line in lines] == ["blob", "broker", "host"]
    assert "ready after 0." in lines[0]


def test_when_one_part_fails_the_others_are_ended_and_the_folder_is_free(tmp_path: Path) -> None:
    settings = with_free_ports(tmp_path)
    stack = Stack(settings, plan=plan_of([fake_part("blob")], [fake_part("host", DIES_AT_START)]))

    with pytest.raises(PartFailedError, match=r"^host ended"):
        stack.start()

    assert not stack.parts["blob"].alive
    assert find_running(settings.data) is None


def test_stopping_ends_all_parts_at_once_also_stubborn_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local.supervisor.stack.GRACE_SECONDS", 0.3)
    plan = plan_of([fake_part("one", STUBBORN), fake_part("two", STUBBORN), fake_part("three")])
    with Stack(with_free_ports(tmp_path), plan=plan) as stack:
        began = time.monotonic()
        stack.stop()
        took = time.monotonic() - began

    assert not any(process.alive for process in stack.parts.values())
    assert took < 0.6


def test_a_part_that_dies_is_started_again_and_it_is_said(tmp_path: Path) -> None:
    lines: list[str] = []
    plan = plan_of([fake_part("host")])
    with Stack(
        with_free_ports(tmp_path), plan=plan, keep_alive=True, announce=lines.append
    ) as stack:
        host = stack.parts["host"]
        first = host.pid
        assert first is not None

        os.kill(first, signal.SIGKILL)
        wait_until(lambda: "host is back" in lines)

        assert host.alive
        assert host.pid != first
    assert lines[1] == (
        f"host died (signal SIGKILL); it is started again in 1 s; see {host.log.path}"
    )


def test_a_part_that_is_killed_on_purpose_stays_dead(tmp_path: Path) -> None:
    plan = plan_of([fake_part("host"), fake_part("blob")])
    with Stack(with_free_ports(tmp_path), plan=plan, keep_alive=True) as stack:
        stack.parts["host"].kill()
        blob = stack.parts["blob"]
        assert blob.pid is not None
        os.kill(blob.pid, signal.SIGKILL)
        wait_until(lambda: blob.alive)

        assert not stack.parts["host"].alive


def test_a_second_stack_on_the_same_data_folder_is_refused_and_the_first_named(
    tmp_path: Path,
) -> None:
    first = with_free_ports(tmp_path)
    with Stack(first, plan=plan_of([fake_part()])):
        with pytest.raises(AlreadyRunningError) as refusal:
            Stack(with_free_ports(tmp_path), plan=plan_of([fake_part()])).start()

        running = find_running(tmp_path)

    assert running is not None
    assert running.settings == first
    assert str(refusal.value) == (
        f"a stack is running already: process {os.getpid()},"
        f" http://127.0.0.1:{first.host_port}, data in {tmp_path}"
    )


def test_a_port_in_use_stops_the_start_before_any_part_runs(tmp_path: Path) -> None:
    settings = with_free_ports(tmp_path)
    stack = Stack(settings, plan=plan_of([fake_part()]))

    with socket.create_server(("127.0.0.1", settings.blob_port)), pytest.raises(PortsError):
        stack.start()

    assert stack.parts == {}
    assert find_running(settings.data) is None


def test_a_stack_starts_again_on_the_folder_of_one_that_was_stopped(tmp_path: Path) -> None:
    settings = with_free_ports(tmp_path)
    for _ in range(2):
        with Stack(settings, plan=plan_of([fake_part()])) as stack:
            pass

    log = stack.logs / "fake.log"
    assert log.with_name("fake.log.1").exists()
    assert log.read_text().count("started") == 1


@pytest.mark.parametrize("how", ["prctl", "pipe"])
def test_no_part_outlives_a_supervisor_that_was_killed(tmp_path: Path, how: str) -> None:
    supervisor = subprocess.Popen(
        [sys.executable, "-c", _SUPERVISOR, str(tmp_path), how], stdout=subprocess.PIPE, text=True
    )
    assert supervisor.stdout is not None
    with supervisor.stdout as output:
        pids = [int(output.readline()) for _ in range(2)]
        assert all(is_running(pid) for pid in pids)

        supervisor.kill()
        supervisor.wait()

    wait_until(lambda: not any(is_running(pid) for pid in pids))


_SUPERVISOR = """
import sys, time
from pathlib import Path
from local.supervisor.log import Log
from local.supervisor.processes import PartProcess
from tests.unit.local.supervisor.fakes import STUBBORN, fake_part

for name in ("one", "two"):
    log = Log(name, Path(sys.argv[1]) / f"{name}.log")
    process = PartProcess(fake_part(name, STUBBORN), log, how=sys.argv[2])
    process.start()
    print(process.pid, flush=True)
time.sleep(600)
"""
