"""The process: how it starts, and how it ends."""

import resource
import signal
import socket
import sqlite3

import pytest

from tests.contract.servicebus.process import Process, config
from tests.contract.servicebus.raw_client import SUB, message, raw_client


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
