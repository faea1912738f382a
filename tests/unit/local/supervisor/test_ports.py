"""Ports that cannot be used are named before anything starts."""

import os
import socket
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from local.supervisor.ports import PortsError, check_ports, with_free_ports


def test_free_ports_are_fine(tmp_path: Path) -> None:
    check_ports(with_free_ports(tmp_path))


def test_a_port_in_use_is_named_with_its_variable_and_its_holder(tmp_path: Path) -> None:
    settings = with_free_ports(tmp_path)

    with socket.create_server(("127.0.0.1", settings.host_port)):
        lines = _problems(settings)

    (line,) = lines
    assert line.startswith(f"port {settings.host_port} is in use by process {os.getpid()} (")
    assert line.endswith("; set LOCAL_HOST_PORT to another port")


def test_every_port_in_use_has_its_line(tmp_path: Path) -> None:
    settings = with_free_ports(tmp_path)

    with (
        socket.create_server(("127.0.0.1", settings.blob_port)),
        socket.create_server(("", settings.extractor_port)),
    ):
        lines = _problems(settings)

    assert [line.rpartition("set ")[2] for line in lines] == [
        "LOCAL_BLOB_PORT to another port",
        "LOCAL_EXTRACTOR_PORT to another port",
    ]


def test_a_holder_that_cannot_be_seen_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_kind: str) -> None:
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil, "net_connections", refuse)
    settings = with_free_ports(tmp_path)

    with socket.create_server(("127.0.0.1", settings.host_port)):
        (line,) = _problems(settings)

    assert "is in use by a process that this user cannot see;" in line


def test_two_parts_cannot_have_one_port(tmp_path: Path) -> None:
    settings = with_free_ports(tmp_path)
    settings = replace(settings, blob_port=settings.host_port)

    assert _problems(settings) == [
        f"port {settings.host_port} is given twice: LOCAL_HOST_PORT and LOCAL_BLOB_PORT must"
        " differ",
        f"port {settings.host_port} is given twice: LOCAL_BLOB_PORT and LOCAL_HOST_PORT must"
        " differ",
    ]


def _problems(settings: object) -> list[str]:
    with pytest.raises(PortsError) as problem:
        check_ports(settings)  # type: ignore[arg-type]
    return str(problem.value).splitlines()
