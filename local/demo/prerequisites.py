"""What must be installed before the embedded Azure can start."""

import shutil

from local.supervisor.parts import AZURITE


class MissingError(Exception):
    """Something is not installed. The text names it and how to get it."""


def check_prerequisites() -> None:
    """Raises MissingError when Node or Azurite is not there."""
    if shutil.which("node") is None:
        raise MissingError("Node 20 or newer is missing: get it from https://nodejs.org")
    if not AZURITE.exists():
        raise MissingError("Azurite, the local Blob Storage, is missing: `make install` gets it")
