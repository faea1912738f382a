"""From the bytes of a file to its pages of text; what it is, its content says, not its name."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

from pypdf import PasswordType, PdfReader

from local.extractor.errors import ExtractionError

MAX_CHARACTERS = 20_000_000
"""More text than this, about ten thousand pages, is refused so that memory stays bounded."""

_PDF_MARK = b"%PDF-"
_PDF_MARK_WITHIN = 1024  # bytes: readers accept a mark that does not stand at the very start
_KNOWN_TYPES = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"II*\x00": "a TIFF picture",
    b"MM\x00*": "a TIFF picture",
    b"PK\x03\x04": "a ZIP archive or an Office document",
    b"\xd0\xcf\x11\xe0": "an old Office document",
    b"\x1f\x8b": "a gzip archive",
}
_ENCODING_MARKS = {  # the longer ones first: UTF-32's begins with UTF-16's
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_TEXT_CONTROLS = frozenset("\t\n\r\f\v\x1a\x1b")


@dataclass(frozen=True)
class Document:
    """The text of a file, page by page; `unreadable_pages` are those that gave none for a fault."""

    media_type: str
    pages: tuple[str, ...]
    unreadable_pages: int = 0

    @property
    def characters(self) -> int:
        """Characters on all pages together."""
        return sum(map(len, self.pages))


def read_document(content: bytes) -> Document:
    """Read a PDF or a plain text. Raises ExtractionError for anything that gives no text."""
    if not content:
        raise ExtractionError("The file is empty (0 bytes).")
    if _PDF_MARK in content[:_PDF_MARK_WITHIN]:
        document = _read_pdf(content)
    else:
        document = Document("text/plain", tuple(_decode(content).split("\f")))
    if document.characters > MAX_CHARACTERS:
        raise ExtractionError(f"The file holds more than {MAX_CHARACTERS:,} characters of text.")
    return document


def _read_pdf(content: bytes) -> Document:
    try:
        reader = PdfReader(BytesIO(content))
        locked = reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED
        texts = [] if locked else list(_page_texts(reader))
    except Exception as error:
        # pypdf promises no family of exceptions: a damaged file may raise anything at all.
        raise ExtractionError("The PDF is damaged and cannot be read.") from error
    if locked:
        raise ExtractionError("The PDF is encrypted and opens only with a password.")
    return _pdf_document(texts)


def _page_texts(reader: PdfReader) -> Iterator[str | None]:
    """The text of each page, None for a page that is damaged; stops where it gets too much."""
    characters = 0
    for page in reader.pages:
        try:
            text = page.extract_text()
        except Exception:  # as above; one bad page does not spoil the others
            yield None
            continue
        yield text
        characters += len(text)
        if characters > MAX_CHARACTERS:
            return


def _pdf_document(texts: list[str | None]) -> Document:
    if not texts:
        raise ExtractionError("The PDF has no pages.")
    unreadable = texts.count(None)
    if unreadable == len(texts):
        raise ExtractionError(f"The PDF is damaged: none of its {len(texts)} pages can be read.")
    pages = tuple(text or "" for text in texts)
    if not any(text.strip() for text in pages):
        raise ExtractionError(
            f"The PDF has no text on any of its {len(texts)} pages; pictures of text are not read."
        )
    return Document("application/pdf", pages, unreadable)


def _decode(content: bytes) -> str:
    kind = next((name for mark, name in _KNOWN_TYPES.items() if content.startswith(mark)), None)
    text = None if kind else _decode_text(content)
    if text is None:
        raise ExtractionError(
            f"The file is {kind or 'of an unknown type'}; only PDF and plain text can be read."
        )
    if not text.strip():
        raise ExtractionError("The file holds nothing but white space.")
    return text


def _decode_text(content: bytes) -> str | None:
    """The text in the first encoding that makes sense of the bytes; None when none does."""
    marked = next(
        (name for mark, name in _ENCODING_MARKS.items() if content.startswith(mark)), None
    )
    # Latin-1 accepts any bytes, so it comes last and only what looks like text passes.
    for encoding in [marked] if marked else ["utf-8", *_unmarked_utf16(content), "latin-1"]:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if _looks_like_text(text):
            return text
    return None


def _unmarked_utf16(content: bytes) -> list[str]:
    """Text in western languages shows UTF-16 by a zero in every other byte."""
    if b"\0" not in content:
        return []
    return ["utf-16-be" if content[0] == 0 else "utf-16-le"]


def _looks_like_text(text: str) -> bool:
    return all(character >= " " or character in _TEXT_CONTROLS for character in set(text))
