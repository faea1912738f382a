"""The five parts of the embedded Azure: their commands, and what each is told."""

import sys
from collections.abc import Mapping
from pathlib import Path

from local.settings import HOST, LocalSettings
from local.supervisor.environment import host_url, identity_url
from local.supervisor.processes import ROOT, Part

AZURITE = ROOT / "node_modules/azurite/dist/src/blob/main.js"


def embedded_azure(
    settings: LocalSettings, app: Mapping[str, str], base: Mapping[str, str]
) -> list[list[Part]]:
    """The parts in two steps: the second needs the first.

    `app` are the settings of the app, `base` is what every part inherits.
    """
    return [
        [
            _servicebus(settings, base),
            _blob(settings, base),
            _identity(settings, base),
            _extractor(settings, app, base),
        ],
        [_host(settings, app, base)],
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
    return Part(
        name="blob",
        command=(
            *("node", str(AZURITE), "--blobHost", HOST, "--blobPort", str(settings.blob_port)),
            *("--location", str(settings.data / "blob")),
            *("--silent", "--skipApiVersionCheck", "--disableTelemetry"),
        ),
        environment=base,
        address=f"http://{HOST}:{settings.blob_port}",
        ready_line="Azurite Blob service successfully listens",
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
