"""Connections: how they start, stay alive and end."""

import socket

import pytest

from local.servicebus.sasl import AMQP_HEADER, SASL_HEADER
from tests.contract.servicebus.raw_client import SUB, message, raw_client
from tests.contract.servicebus.running import RunningBus
from tests.contract.servicebus.wire import Wire


def test_an_idle_client_is_kept_alive_with_empty_frames(bus: RunningBus) -> None:
    with raw_client(bus.port, idle_timeout=0.4) as client:
        client.receiver(SUB)
        before = client.transport.frames_input
        client.until(lambda: client.transport.frames_input >= before + 3)
        assert "eof" not in client.events


def test_a_connection_that_closes_is_answered(bus: RunningBus) -> None:
    with raw_client(bus.port) as client:
        client.receiver(SUB, credit=5)
        client.engine.close()
        client.until(lambda: "PN_CONNECTION_REMOTE_CLOSE" in client.events)
        client.until(lambda: "eof" in client.events)


def test_a_client_that_vanishes_leaves_nothing_behind(bus: RunningBus) -> None:
    with raw_client(bus.port) as gone:
        gone.receiver(SUB, credit=100)
    with raw_client(bus.port) as client:
        client.until(lambda: len(bus.server.connections) == 1)
        client.send(client.sender("jobs"), message("a"))
        client.receiver(SUB, credit=1)
        assert client.next().body == "a"


@pytest.mark.parametrize("first", [AMQP_HEADER, b"AMQP\x02\x01\x00\x00", b"GET / HTTP/1.1\r\n\r\n"])
def test_a_client_that_does_not_speak_sasl_is_told_and_cut(bus: RunningBus, first: bytes) -> None:
    with socket.create_connection(("127.0.0.1", bus.port), timeout=5) as plain:
        plain.sendall(first)
        assert plain.recv(8) == SASL_HEADER
        assert plain.recv(8) == b""


@pytest.mark.parametrize(
    "garbage",
    [b"\x00\x00\x00\x02garbage!", b"\xff" * 100, b"\x00\x00\x00\x10\x02\x00\x00\x00abcdefgh"],
)
def test_garbage_ends_its_own_connection_only(bus: RunningBus, garbage: bytes) -> None:
    with Wire(bus.port) as wire:
        wire.socket.sendall(garbage)
        wire.until_eof()
    with raw_client(bus.port) as client:
        client.send(client.sender("jobs"), message("a"))


def test_the_dotnet_clients_mechanism_is_let_in(bus: RunningBus) -> None:
    with Wire(bus.port, mechanism="MSSBCBS") as wire:
        wire.open_link("/jobs")
        wire.transfer(message("a"), more=False)
        assert wire.outcome() == 0x24
