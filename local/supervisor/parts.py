"""The five parts of the embedded Azure: their commands, and what each is told."""

import sys
from collections.abc import Mapping
from pathlib import Path

from local.settings import HOST, LocalSettings
from local.supervisor.environment import host_url, identity_url, storage_ports
from local.supervisor.processes import ROOT, Part

AZURITE = ROOT / "node_modules/azurite/dist/src/blob/main.js"
WHOLE_AZURITE = AZURITE.parents[1] / "azurite.js"
"""With queues and tables too, on the two ports behind the blobs'."""


def embedded_azure(
    settings: LocalSettings, app: Mapping[str, str], base: Mapping[str, str]
) -> list[list[Part]]:
    """The parts in two steps: the second needs the first.

    `app` are the settings of the app, `base` is what every part inherits.
    """
    return [
        [_blob(settings, base), *_around(settings, app, base)],
        [_host(settings, app, base)],
    ]


def all_but_the_host(
    settings: LocalSettings, app: Mapping[str, str], base: Mapping[str, str]
) -> list[list[Part]]:
    """What the Azure Functions host of the Core Tools needs: the same parts, and all of Azurite.

    Its Durable extension keeps its work in queues and tables.
    """
    return [[_storage(settings, base), *_around(settings, app, base)]]


def _around(settings: LocalSettings, app: Mapping[str, str], base: Mapping[str, str]) -> list[Part]:
    return [
        _servicebus(settings, base),
        _identity(settings, base),
        _extractor(settings, app, base),
    ]


def topology_path(data: Path) -> Path:
    """Where the broker finds its topics."""
    return data / "servicebus.json"


def _servicebus(settings: LocalSettings, base: Mapping[str, str]) -> Part:
    config = ("--config", str(topology_path(settings.data)))
    return Part(
        name="servicebus",
        command=_python("local.servicebus", settings.servicebus_port, settings.data, *config),
        environment=base,
        address=f"amqp://{HOST}:{settings.servicebus_port}",
        ready_line="ready servicebus",
    )


def _blob(settings: LocalSettings, base: Mapping[str, str]) -> Part:
    ports = {"blob": settings.blob_port}
    ready = "Azurite Blob service successfully listens"
    return _azurite(settings, base, AZURITE, ports, ready)


def _storage(settings: LocalSettings, base: Mapping[str, str]) -> Part:
    ready = "Azurite Table service is successfully listening"
    return _azurite(settings, base, WHOLE_AZURITE, storage_ports(settings), ready)


def _azurite(
    settings: LocalSettings,
    base: Mapping[str, str],
    script: Path,
    ports: Mapping[str, int],
    ready: str,
) -> Part:
    listen = [(f"--{name}Host", HOST, f"--{name}Port", str(port)) for name, port in ports.items()]
    return Part(
        name="blob",
        command=(
            *("node", str(script), *[word for words in listen for word in words]),
            *("--location", str(settings.data / "blob")),
            *("--silent", "--skipApiVersionCheck", "--disableTelemetry"),
        ),
        environment=base,
        address=f"http://{HOST}:{settings.blob_port}",
        ready_line=ready,
    )


def _identity(settings: LocalSettings, base: Mapping[str, str]) -> Part:
    return Part(
        name="identity",
        command=_python("local.identity", settings.identity_port, settings.data),
        environment=base,
        address=identity_url(settings),
        ready_line="ready identity",
    )


def _extractor(settings: LocalSettings, app: Mapping[str, str], base: Mapping[str, str]) -> Part:
    told = ("AZURE_SERVICE_BUS_CONNECTION_STRING", "TOPIC_JOB_STATUS")
    return Part(
        name="extractor",
        command=_python("local.extractor", settings.extractor_port, settings.data),
        environment={**base, **{name: app[name] for name in told}},
        address=f"http://{HOST}:{settings.extractor_port}",
        ready_line="ready extractor",
    )


def _host(settings: LocalSettings, app: Mapping[str, str], base: Mapping[str, str]) -> Part:
    return Part(
        name="host",
        command=_python("local.host", settings.host_port, settings.data, "--app", str(ROOT)),
        environment={**base, **app},
        address=host_url(settings),
        ready_line="ready host",
    )


def _python(module: str, port: int, data: Path, *more: str) -> tuple[str, ...]:
    return (sys.executable, "-m", module, "--port", str(port), "--data", str(data), *more)
