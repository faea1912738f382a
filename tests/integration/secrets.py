"""Secrets that are planted where they could come into a log, and the search for them."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from local.identity.keys import published_keys
from local.settings import LocalSettings
from local.supervisor.environment import service_bus_connection
from local.supervisor.stack import Stack

SERVICE_BUS_KEY = "cGxhbnRlZC1zZXJ2aWNlLWJ1cy1rZXk="
CALLBACK_KEY = "planted-call-back-key-of-this-year"
OLD_CALLBACK_KEY = "planted-call-back-key-of-last-year"

ALWAYS = {
    "a token": re.compile(r"eyJ[\w-]{8,}\.[\w-]{8,}\."),
    "a link's signature": re.compile(r"(?i)[?&;\s]sig=(?!\[redacted\])[\w%+/]{8,}"),
}
"""What must not stand in a log, whatever it is the secret of."""


def plant_in_settings(settings: LocalSettings) -> dict[str, str]:
    """Settings of the app with keys that are found again."""
    connection = service_bus_connection(settings)
    return {
        "AZURE_SERVICE_BUS_CONNECTION_STRING": connection.replace("SAS_KEY_VALUE", SERVICE_BUS_KEY),
        "CALLBACK_KEYS": f"{CALLBACK_KEY},{OLD_CALLBACK_KEY}",
    }


def secrets_of(stack: Stack) -> dict[str, str]:
    """What the parts are told and what they keep, by what it is."""
    data, told = stack.settings.data, stack.parts["host"].part.environment
    keys = json.loads((data / "keys.json").read_text())
    pem = published_keys(data)[0].path.read_text().splitlines()
    return {
        "key of the Service Bus": SERVICE_BUS_KEY,
        "key of the blob account": told["BLOB_ACCOUNT_KEY"],
        "client secret": told["SERVICE_CLIENT_SECRET"],
        "key of call-backs": CALLBACK_KEY,
        "old key of call-backs": OLD_CALLBACK_KEY,
        "master key of the host": keys["master"],
        "system key of the host": keys["system"],
        "signing key of the issuer": pem[1],
    }


def leaks(logs: Path, secrets: Mapping[str, str]) -> list[str]:
    """Where which secret stands in a log: file, line, and what it is; never the secret itself."""
    return [
        f"{path.name}:{number}: {what}"
        for path in sorted(logs.glob("*.log*"))
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        for what in _in_line(line, secrets)
    ]


def _in_line(line: str, secrets: Mapping[str, str]) -> Iterator[str]:
    yield from (
        what for what, text in secrets.items() if text in line or quote(text, safe="") in line
    )
    yield from (what for what, pattern in ALWAYS.items() if pattern.search(line))
