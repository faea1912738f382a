"""The process: how it starts, how it ends, and what a kill leaves behind."""

import json
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from proton import Disposition

from tests.contract.servicebus.raw_client import SUB, RawClient, message, raw_client
from tests.contract.waiting import wait_until

SETTLEMENTS = (
    Disposition.ACCEPTED,
    Disposition.RELEASED,
    Disposition.MODIFIED,
    Disposition.REJECTED,
)


def config(**subscription: object) -> dict[str, object]:
    return {
        "UserConfig": {
            "Namespaces": [
                {
                    "Name": "n",
                    "Topics": [
                        {
                            "Name": "jobs",
                            "Subscriptions": [{"Name": "sub", "Properties": subscription}],
                        }
                    ],
                }
            ]
        }
    }


class Process:
    """`python -m local.servicebus` on a folder; `start` waits for its ready line."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = 0
        self.configure(config())

    def configure(self, document: object) -> None:
        (self.folder / "config.json").write_text(json.dumps(document))

    def spawn(self) -> None:
        command = [sys.executable, "-m", "local.servicebus", "--port", str(self.port)]
        command += ["--config", str(self.folder / "config.json")]
        command += ["--data", str(self.folder / "data")]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def start(self) -> None:
        self.spawn()
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("ready servicebus 127.0.0.1:"), line
        self.port = int(line.rsplit(":", 1)[1])

    def end(self, number: signal.Signals) -> float:
        """Send a signal; answers the seconds until the process was gone."""
        began = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(10)
        self.close()
        return time.monotonic() - began

    def close(self) -> str:
        """Make sure that it is gone; answers what it wrote to its error stream."""
        self.process.kill()
        return self.process.communicate()[1]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Process]:
    process = Process(tmp_path)
    yield process
    if process.process.stdout and not process.process.stdout.closed:
        process.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_when_it_is_ready_and_ends_within_a_second(
    broker: Process, number: signal.Signals
) -> None:
    broker.start()
    with raw_client(broker.port) as client:
        client.receiver(SUB, credit=10)
        assert broker.end(number) < 1
        assert broker.process.returncode == 0
        client.until(lambda: "PN_CONNECTION_REMOTE_CLOSE" in client.events)
        assert client.engine.remote_condition is not None
        assert client.engine.remote_condition.name == "amqp:connection:forced"


def test_a_client_that_does_not_read_does_not_hold_up_the_end(broker: Process) -> None:
    broker.start()
    with raw_client(broker.port) as client:
        sender = client.sender("jobs")
        for _ in range(200):
            client.send(sender, message(b"x" * 100_000))
        client.receiver(SUB, credit=200, settled=True)
        client.paused = True
        client.idle(0.2)
        assert broker.end(signal.SIGTERM) < 1
        assert broker.process.returncode == 0


@pytest.mark.parametrize(
    ("subscription", "reason"),
    [
        ({"RequiresSession": True}, "subscription 'sub': RequiresSession is not supported"),
        ({"Colour": "red"}, "subscription 'sub': unknown setting Colour"),
    ],
)
def test_a_config_that_it_cannot_follow_stops_the_start(
    broker: Process, subscription: dict[str, object], reason: str
) -> None:
    broker.configure(config(**subscription))
    broker.spawn()
    assert broker.process.wait(10) == 2
    assert reason in broker.close()


def test_a_port_that_is_taken_stops_the_start(broker: Process) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        broker.port = taken.getsockname()[1]
        broker.spawn()
        assert broker.process.wait(10) == 2
    assert "address already in use" in broker.close()


def test_a_foreign_file_stops_the_start(broker: Process) -> None:
    data = broker.folder / "data"
    data.mkdir()
    with sqlite3.connect(data / "servicebus.sqlite3") as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    broker.spawn()
    assert broker.process.wait(10) == 2
    assert "holds schema version 99" in broker.close()


class Work(threading.Thread):
    """Repeats a step, with a connection of its own, through any number of lost brokers."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self.port = port
        self.stop = threading.Event()

    def run(self) -> None:
        while not self.stop.is_set():
            with suppress(OSError), raw_client(self.port) as client:
                self.work(client)

    def work(self, client: RawClient) -> None:
        raise NotImplementedError


class Sending(Work):
    """Counts up; `accepted` holds what the broker confirmed."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.accepted: list[int] = []
        self.next = 0

    def work(self, client: RawClient) -> None:
        link = client.sender("jobs")
        while not self.stop.is_set():
            number = self.next
            self.next += 1
            if client.send(link, message(number)).remote_state == Disposition.ACCEPTED:
                self.accepted.append(number)


class Completing(Work):
    """`tried` holds what it wanted completed, `completed` what the broker confirmed."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.tried: set[int] = set()
        self.completed: set[int] = set()
        self.came_back: list[int] = []

    def work(self, client: RawClient) -> None:
        link = client.receiver(SUB, credit=10)
        while not self.stop.is_set():
            client.until(lambda: client.arrived or self.stop.is_set(), seconds=30)
            while client.arrived:
                arrived = client.next()
                number = arrived.body
                if number in self.completed:
                    self.came_back.append(number)
                self.tried.add(number)
                delivery = client.settle(arrived, Disposition.ACCEPTED)
                if delivery.remote_state == Disposition.ACCEPTED:
                    self.completed.add(number)
                link.flow(1)


def test_a_kill_loses_nothing_accepted_and_brings_nothing_completed_back(broker: Process) -> None:
    broker.configure(config(LockDuration="PT1S", MaxDeliveryCount=1_000))
    broker.start()
    sending, completing = Sending(broker.port), Completing(broker.port)
    workers: list[Work] = [sending, completing]
    for worker in workers:
        worker.start()
    try:
        for _ in range(3):
            goal = len(completing.completed) + 200
            wait_until(lambda goal=goal: len(completing.completed) >= goal, 30)  # type: ignore[misc]
            broker.process.kill()
            broker.close()
            broker.start()
        sending.stop.set()
        sending.join(30)
        wait_until(lambda: completing.tried >= set(sending.accepted), 30)
    finally:
        for worker in workers:
            worker.stop.set()
        for worker in workers:
            worker.join(30)
    assert completing.came_back == []


def test_what_was_settled_before_a_kill_stays_settled(broker: Process) -> None:
    broker.start()
    with raw_client(broker.port) as client:
        sender = client.sender("jobs")
        for n in range(100):
            client.send(sender, message(n))
        client.receiver(SUB, credit=100)
        client.until(lambda: len(client.arrived) == 100)
        for n, arrived in enumerate(client.arrived):
            client.settle(arrived, SETTLEMENTS[n % 4])
    broker.process.kill()
    broker.close()
    broker.start()
    with raw_client(broker.port) as client:
        client.receiver(SUB, credit=100, settled=True)
        client.receiver(f"{SUB}/$DeadLetterQueue", credit=100, settled=True)
        client.until(lambda: len(client.arrived) == 75)
        bodies = sorted(each.body for each in client.arrived)
        assert bodies == [n for n in range(100) if n % 4 != 0]


def test_a_broker_that_cannot_write_ends_instead_of_accepting(broker: Process) -> None:
    broker.start()
    with raw_client(broker.port) as client:
        sender = client.sender("jobs")
        client.send(sender, message("kept"))
        resource.prlimit(broker.process.pid, resource.RLIMIT_FSIZE, (0, 0))
        unanswered = sender.delivery("t")
        sender.stream(message("lost"))
        sender.advance()
        client.until(lambda: "eof" in client.events)
        assert unanswered.remote_state == 0
    assert broker.process.wait(10) == 1
    assert "stopped by a failure" in broker.close()
    broker.start()
    with raw_client(broker.port) as client:
        client.receiver(SUB, credit=2)
        assert client.next().body == "kept"
        client.idle(0.05)
        assert not client.arrived
