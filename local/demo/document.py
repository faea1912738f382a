"""The document that is submitted: read before anything starts."""

from dataclasses import dataclass
from pathlib import Path

INVOICE = Path(__file__).parent / "documents" / "invoice.pdf"


class DocumentError(Exception):
    """The file cannot be read. The text names it and why."""


@dataclass(frozen=True)
class Document:
    """A file's name and content, of whatever kind."""

    name: str
    content: bytes


def read_document(path: Path) -> Document:
    """Read a file of any type. Raises DocumentError."""
    try:
        return Document(path.name, path.read_bytes())
    except OSError as error:
        raise DocumentError(f"{path} cannot be read: {error.strerror}") from None
