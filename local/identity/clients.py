"""The applications that may ask for tokens: `DATA/identity/clients.json`."""

import json
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from local.identity.keys import identity_folder


@dataclass(frozen=True)
class Client:
    """An application: its id, its secret, and the roles that its tokens carry."""

    client_id: str
    secret: str
    roles: tuple[str, ...] = ()


def clients_path(data: Path) -> Path:
    """Where a data folder keeps its clients."""
    return identity_folder(data) / "clients.json"


def default_clients() -> list[Client]:
    """The service itself, and an application that restarts extractions; with fresh secrets."""
    return [
        Client("extractor-service", secrets.token_urlsafe(), ("REGISTRATION_READ",)),
        Client("restart-client", secrets.token_urlsafe(), ("EXTRACTED_ENTITIES_WRITE",)),
    ]


def write_clients(path: Path, clients: Iterable[Client]) -> None:
    """Replace the file by these clients; only its owner can read it, because it holds secrets."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_suffix(".draft")
    draft.touch(mode=0o600)
    draft.write_text(json.dumps([asdict(client) for client in clients], indent=2))
    draft.replace(path)


def read_clients(path: Path) -> dict[str, Client]:
    """The clients by id; none when there is no file. Raises ValueError for a broken file."""
    try:
        rows = json.loads(path.read_text())
        clients = [Client(**{**row, "roles": tuple(row["roles"])}) for row in rows]
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path} is not a list of client_id, secret and roles") from error
    return {client.client_id: client for client in clients}
