"""What the latencies are measured of: the whole stack, and the bare pieces on the same broker."""

import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusSender

from benchmarks.instant_extractor import InstantExtractor
from benchmarks.processes import Server, running_module
from benchmarks.stack import CLIENT, EXTRACTOR, SLOTS, made_up_file
from benchmarks.stamps import Stamps
from benchmarks.watchers import watching_records, watching_topic
from local.demo.file_service import FileService, StoredFile
from local.demo.registrations import register_extractor
from local.settings import LocalSettings
from local.supervisor.database import create_database
from local.supervisor.environment import TOPICS, database_path, service_bus_connection
from local.supervisor.parts import topology_path
from local.supervisor.plan import plan_embedded_azure
from local.supervisor.ports import with_free_ports
from local.supervisor.processes import Part
from local.supervisor.stack import Stack
from local.supervisor.topology import STATUS_SERVICE
from shared.adapters.database import SqlDatabase, create_engine
from shared.contracts.wire import format_timestamp

KINDS = ("ACCEPTED_FILE", "JOB_STATUS")
SERVICE_TOPICS = tuple(TOPICS[f"TOPIC_{kind}"] for kind in KINDS)
SUBSCRIPTIONS = tuple(TOPICS[f"SUBSCRIPTION_{kind}"] for kind in KINDS)
BARE_TOPICS = tuple(f"bare-{topic}" for topic in SERVICE_TOPICS)
"""Like the service's topics, with the same subscriptions."""


class Target:
    """One of the two: it is sent files, and whoever watches sees what comes of them."""

    def __init__(self, name: str, files: FileService, sender: ServiceBusSender) -> None:
        self.name = name
        self._files = files
        self._sender = sender

    def store(self, count: int) -> Sequence[StoredFile]:
        """Rows of so many files. Nobody reads what is in them, so nothing is stored."""
        files = [made_up_file() for _ in range(count)]
        for file in files:
            self._files.add_row(file, CLIENT)
        return files

    def announce(self, file_id: UUID) -> None:
        """Send FileAccepted and wait until the broker has it."""
        body = {"FileID": str(file_id), "Timestamp": format_timestamp(datetime.now(UTC))}
        message = ServiceBusMessage(
            json.dumps(body),
            content_type="application/json",
            subject="FileAccepted",
            message_id=str(uuid4()),
            correlation_id=str(file_id),
        )
        self._sender.send_messages(message)


@dataclass(frozen=True)
class LatencyStack:
    """Both targets with the extractor that both call; the steps of all jobs are in `stamps`."""

    service: Target
    bare: Target
    extractor: InstantExtractor
    stamps: Stamps
    host_log: Path


@contextmanager
def running_targets(folder: Path) -> Iterator[LatencyStack]:
    """Start everything on free ports, with its data in `folder`, and end it."""
    settings = with_free_ports(folder / "data")
    bus = service_bus_connection(settings)
    stamps = Stamps()
    extractor = InstantExtractor(stamps, bus)
    with ExitStack() as held:
        stack = held.enter_context(Stack(settings, plan=_plan))
        held.enter_context(extractor.running())
        client = held.enter_context(ServiceBusClient.from_connection_string(bus))

        def target(name: str, path: Path, topics: Sequence[str]) -> Target:
            database = _database(held, path)
            register_extractor(database, EXTRACTOR, CLIENT, f"{extractor.url}/{topics[1]}")
            held.enter_context(watching_records(path, stamps))
            held.enter_context(watching_topic(bus, topics[1], STATUS_SERVICE.name, stamps))
            sender = held.enter_context(client.get_topic_sender(topics[0]))
            return Target(name, FileService(settings, database), sender)

        service = target("service", database_path(settings.data), SERVICE_TOPICS)
        bare_database = folder / "bare" / "bare.sqlite3"
        bare_database.parent.mkdir()
        create_database(f"sqlite:///{bare_database}")
        bare = target("bare pieces", bare_database, BARE_TOPICS)
        url = f"{extractor.url}/{BARE_TOPICS[1]}"
        held.enter_context(_bare_service(bus, bare_database, url))
        yield LatencyStack(service, bare, extractor, stamps, stack.parts["host"].log.path)


def _bare_service(bus: str, database: Path, url: str) -> AbstractContextManager[Server]:
    return running_module(
        database.parent,
        "benchmarks.bare_service",
        *("--bus", bus, "--database", str(database)),
        *("--topics", *BARE_TOPICS, "--subscriptions", *SUBSCRIPTIONS),
        *("--extractor", str(EXTRACTOR), url),
    )


def _database(held: ExitStack, path: Path) -> SqlDatabase:
    database = SqlDatabase(create_engine(f"sqlite:///{path}"))
    held.callback(database.close)
    return database


def _plan(settings: LocalSettings) -> Sequence[Sequence[Part]]:
    """The embedded Azure, with topics for the bare pieces."""
    parts = plan_embedded_azure(settings, SLOTS)
    path = topology_path(settings.data)
    config = json.loads(path.read_text())
    topics = config["UserConfig"]["Namespaces"][0]["Topics"]
    by_name = {topic["Name"]: topic for topic in topics}
    for name, bare_name in zip(SERVICE_TOPICS, BARE_TOPICS, strict=True):
        topics.append({**by_name[name], "Name": bare_name})
    path.write_text(json.dumps(config))
    return parts
