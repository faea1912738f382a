"""Where the embedded Azure lives on this machine: ports and data folder, from `LOCAL_*` variables.

These settings are the laptop's, not the product's; `shared/` never reads them.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HOST = "127.0.0.1"
"""Everything listens on loopback only."""

DEFAULT_PORTS = {
    "LOCAL_HOST_PORT": 7071,
    "LOCAL_SERVICEBUS_PORT": 5672,
    "LOCAL_BLOB_PORT": 10000,
    "LOCAL_IDENTITY_PORT": 7081,
    "LOCAL_EXTRACTOR_PORT": 7082,
}


@dataclass(frozen=True)
class LocalSettings:
    """Ports of the five parts and the folder that holds everything they keep."""

    data: Path
    host_port: int
    servicebus_port: int
    blob_port: int
    identity_port: int
    extractor_port: int


def read_local_settings(environ: Mapping[str, str] = os.environ) -> LocalSettings:
    """Read `LOCAL_DATA` (default `.local`) and the `LOCAL_*_PORT` variables.

    Raises ValueError naming the variable when a port is not a number from 1 to 65535.
    """
    return LocalSettings(
        data=Path(environ.get("LOCAL_DATA", ".local")).resolve(),
        host_port=_port(environ, "LOCAL_HOST_PORT"),
        servicebus_port=_port(environ, "LOCAL_SERVICEBUS_PORT"),
        blob_port=_port(environ, "LOCAL_BLOB_PORT"),
        identity_port=_port(environ, "LOCAL_IDENTITY_PORT"),
        extractor_port=_port(environ, "LOCAL_EXTRACTOR_PORT"),
    )


def _port(environ: Mapping[str, str], name: str) -> int:
    text = environ.get(name, "").strip() or str(DEFAULT_PORTS[name])
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise ValueError(f"{name} must be a port number from 1 to 65535, not {text!r}")
    return int(text)
