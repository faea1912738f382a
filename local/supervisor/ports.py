"""Whether the ports are free, and who holds one that is not."""

import errno
import socket
from contextlib import ExitStack
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # it ships no types

from local.settings import DEFAULT_PORTS, HOST, LocalSettings


class PortsError(Exception):
    """Ports cannot be used. One line for each: the port, its variable and what is in the way."""


def check_ports(settings: LocalSettings) -> None:
    """Raises PortsError when a port is given twice or in use."""
    ports = {name: _port_of(settings, name) for name in DEFAULT_PORTS}
    problems = [_problem(name, port, ports) for name, port in ports.items()]
    if lines := [problem for problem in problems if problem]:
        raise PortsError("\n".join(lines))


def with_free_ports(data: Path) -> LocalSettings:
    """Settings whose ports were free a moment ago, for a stack beside others."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.create_server((HOST, 0))) for _ in DEFAULT_PORTS]
        return LocalSettings(data, *(each.getsockname()[1] for each in sockets))


def _port_of(settings: LocalSettings, name: str) -> int:
    return int(getattr(settings, name.removeprefix("LOCAL_").lower()))


def _problem(name: str, port: int, ports: dict[str, int]) -> str | None:
    twins = [other for other, number in ports.items() if number == port and other != name]
    if twins:
        return f"port {port} is given twice: {name} and {twins[0]} must differ"
    obstacle = _obstacle(port)
    return f"port {port} {obstacle}; set {name} to another port" if obstacle else None


def _obstacle(port: int) -> str | None:
    with socket.socket() as probe:
        # As servers do: what an ended one left behind (TIME_WAIT) is not in the way.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return f"is in use by {_holder(port)}"
            return f"cannot be opened ({error.strerror})"
        return None


def _holder(port: int) -> str:
    """The process as far as this user may see it."""
    try:
        for connection in psutil.net_connections("tcp"):
            if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port:
                process = psutil.Process(connection.pid)
                return f"process {process.pid} ({_command(process)})"
    except (psutil.Error, TypeError):
        pass
    return "a process that this user cannot see"


def _command(process: psutil.Process) -> str:
    words = " ".join(process.cmdline()) or process.name()
    return words if len(words) <= 80 else f"{words[:79]}…"
