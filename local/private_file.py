"""Files with secrets in them."""

import os
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Write a file whole or not at all; only its owner may read it."""
    written = path.with_suffix(".new")
    descriptor = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    written.replace(path)
