"""What the local Service Bus does in a second, and what it holds.

Clients send one message and wait until it is accepted, or take one and wait until its completion is
confirmed, then go on with the next. The same clients do the same to a bare Proton echo, which keeps
nothing, by turns in the same minutes: the ratio says what locks, rules and a file cost. Then
100,000 messages wait, and the broker's memory is looked at.
"""

import json
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

import psutil  # type: ignore[import-untyped]  # it ships no types

from benchmarks.amqp_clients import Times, complete, send
from benchmarks.report import ratio, show_circumstances, show_table
from local.settings import HOST

ROUNDS = 5
MESSAGES = {1: 500, 20: 2_000}
"""Messages in one round, by clients."""

WAITING = 100_000
IN_FLIGHT = 500

type Step = Callable[[int, int, int], Times]


@dataclass(frozen=True)
class Broker:
    """A broker of its own process."""

    port: int
    process: subprocess.Popen[str]

    @property
    def processor_seconds(self) -> float:
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)

    @property
    def resident_megabytes(self) -> float:
        return float(psutil.Process(self.process.pid).memory_info().rss) / 1e6


def main() -> None:
    """Measure both brokers by turns, then ours with many messages, and print it all."""
    show_circumstances()
    with service_bus() as ours, echo() as ceiling:
        rows = [
            _compared(name, step, clients, ours, ceiling)
            for name, step in (("send", send), ("receive and complete", complete))
            for clients in MESSAGES
        ]
    show_table(
        f"Median of {ROUNDS} rounds by turns; each client has one message in flight",
        (
            *("step", "clients", "echo/s", "ours/s", "ratio", "echo p95", "ours p95"),
            *("echo's processor", "ours"),
        ),
        rows,
    )
    show_table(
        f"{WAITING:,} waiting messages of a kilobyte",
        ("", "resident", "sent or completed/s", "p95"),
        list(_crowded()),
    )


@dataclass(frozen=True)
class Round:
    """Messages a second, the 95th percentile in milliseconds, and processor µs a message."""

    rate: float
    p95: float
    processor: float


def _compared(name: str, step: Step, clients: int, ours: Broker, ceiling: Broker) -> Sequence[str]:
    count = MESSAGES[clients]
    measured: dict[Broker, list[Round]] = {ceiling: [], ours: []}
    for _ in range(ROUNDS):
        for broker, rounds in measured.items():
            if step is complete:
                send(broker.port, 1, count, IN_FLIGHT)
            rounds.append(_round(broker, step, clients, count))
            if step is send:
                complete(broker.port, 20, count)
    base, own = (_typical(measured[broker]) for broker in (ceiling, ours))
    return (
        name,
        str(clients),
        f"{base.rate:,.0f}",
        f"{own.rate:,.0f}",
        ratio(own.rate, base.rate),
        f"{base.p95:.1f} ms",
        f"{own.p95:.1f} ms",
        f"{base.processor:,.0f} µs",
        f"{own.processor:,.0f} µs",
    )


def _round(broker: Broker, step: Step, clients: int, count: int) -> Round:
    before = broker.processor_seconds
    times = step(broker.port, clients, count)
    processor = (broker.processor_seconds - before) / count * 1e6
    return Round(times.rate, _p95(times), processor)


def _typical(rounds: Sequence[Round]) -> Round:
    columns = zip(*((each.rate, each.p95, each.processor) for each in rounds), strict=True)
    return Round(*map(median, columns))


def _crowded() -> Iterator[Sequence[str]]:
    """What the memory and the speed of our broker are before, with and after the crowd."""
    with service_bus() as broker:
        yield ("nothing waits", f"{broker.resident_megabytes:.0f} MB", "", "")
        sent = send(broker.port, 1, WAITING, IN_FLIGHT)
        yield (
            f"all wait, sent {IN_FLIGHT} at a time",
            f"{broker.resident_megabytes:.0f} MB",
            f"{sent.rate:,.0f}",
            "",
        )
        for name, step in (("a thousand more sent", send), ("a thousand completed", complete)):
            times = step(broker.port, 1, 1_000)
            yield (
                name,
                f"{broker.resident_megabytes:.0f} MB",
                f"{times.rate:,.0f}",
                f"{_p95(times):.2f} ms",
            )


def _p95(times: Times) -> float:
    """Milliseconds."""
    return quantiles(times.steps, n=20)[-1] * 1_000


@contextmanager
def service_bus() -> Iterator[Broker]:
    """The local Service Bus with one topic, one subscription and a rule, on a folder of its own."""
    rule = {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "sys.Label IS NULL"}}
    subscription = {"Name": "sub", "Rules": [{"Name": "all", "Properties": rule}]}
    topic = {"Name": "jobs", "Subscriptions": [subscription]}
    config = {"UserConfig": {"Namespaces": [{"Name": "n", "Topics": [topic]}]}}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.json"
        path.write_text(json.dumps(config))
        with _running(
            "local.servicebus", "--config", str(path), "--data", folder, "--port"
        ) as broker:
            yield broker


@contextmanager
def echo() -> Iterator[Broker]:
    with _running("benchmarks.proton_echo") as broker:
        yield broker


@contextmanager
def _running(*command: str) -> Iterator[Broker]:
    """Run a module with a free port as its last argument, until the block ends."""
    with socket.create_server((HOST, 0)) as free:
        port: int = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", *command, str(port)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("ready")
        yield Broker(port, process)
    finally:
        process.kill()
        process.communicate()


if __name__ == "__main__":
    main()
