"""What the extractor reads, and what it says about files that it cannot read."""

from collections.abc import Callable
from io import BytesIO

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import NameObject, StreamObject
from reportlab.pdfgen.canvas import Canvas

from local.extractor import documents
from local.extractor.documents import read_document
from local.extractor.errors import ExtractionError


def make_pdf(*pages: str) -> bytes:
    """A PDF with one line of text a page; a page without text has a picture of a line."""
    target = BytesIO()
    canvas = Canvas(target)
    for text in pages:
        canvas.rect(50, 50, 200, 10, fill=1)
        canvas.drawString(100, 700, text)
        canvas.showPage()
    canvas.save()
    return target.getvalue()


def encrypt(pdf: bytes, user_password: str, algorithm: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf)))
    writer.encrypt(user_password, owner_password="owner", algorithm=algorithm)
    target = BytesIO()
    writer.write(target)
    return target.getvalue()


def damage_pages(pdf: bytes, *numbers: int) -> bytes:
    """The same PDF, with a filter that does not exist for the content of these pages."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf)))
    for number in numbers:
        content = StreamObject()
        content.set_data(b"anything")
        content[NameObject("/Filter")] = NameObject("/Nonsense")
        writer.pages[number][NameObject("/Contents")] = content
    target = BytesIO()
    writer.write(target)
    return target.getvalue()


def message(content: bytes) -> str:
    with pytest.raises(ExtractionError) as caught:
        read_document(content)
    return str(caught.value)


def test_a_pdf_is_read_page_by_page():
    document = read_document(make_pdf("first page", "", "third page"))

    assert document.media_type == "application/pdf"
    assert [page.strip() for page in document.pages] == ["first page", "", "third page"]
    assert document.unreadable_pages == 0
    assert document.characters >= len("first pagethird page")


def test_a_pdf_may_begin_after_other_bytes():
    assert read_document(b"\r\n\r\n" + make_pdf("late")).pages[0].strip() == "late"


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_an_encrypted_pdf_without_a_user_password_is_read(algorithm: str):
    pdf = encrypt(make_pdf("for all eyes"), "", algorithm)

    assert read_document(pdf).pages[0].strip() == "for all eyes"


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_an_encrypted_pdf_with_a_password_is_refused(algorithm: str):
    pdf = encrypt(make_pdf("secret"), "password", algorithm)

    assert message(pdf) == "The PDF is encrypted and opens only with a password."


def test_a_pdf_of_pictures_is_refused():
    expected = "The PDF has no text on any of its 2 pages; pictures of text are not read."

    assert message(make_pdf("", "")) == expected


@pytest.mark.parametrize(
    "damage",
    [
        lambda pdf: pdf[: len(pdf) // 3],
        lambda pdf: b"%PDF-1.7\n" + bytes(range(256)) * 20,
        lambda pdf: pdf.replace(b"/Pages", b"/Pagez"),
    ],
    ids=["cut off", "noise", "no pages in the catalogue"],
)
def test_a_damaged_pdf_is_refused(damage: Callable[[bytes], bytes]):
    assert "The PDF" in message(damage(make_pdf("some text")))


def test_a_damaged_page_does_not_spoil_the_others():
    document = read_document(damage_pages(make_pdf("one", "two", "three"), 1))

    assert [page.strip() for page in document.pages] == ["one", "", "three"]
    assert document.unreadable_pages == 1


def test_a_pdf_of_damaged_pages_is_refused():
    pdf = damage_pages(make_pdf("one", "two"), 0, 1)

    assert message(pdf) == "The PDF is damaged: none of its 2 pages can be read."


def test_an_empty_file_is_refused():
    assert message(b"") == "The file is empty (0 bytes)."


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1"]
)
def test_plain_text_is_read_in_the_usual_encodings(encoding: str):
    text = "Grüße aus Köln,\r\nBetrag 5,00"

    document = read_document(text.encode(encoding))

    assert document.media_type == "text/plain"
    assert document.pages == (text,)


def test_arabic_text_keeps_its_letters():
    assert read_document("فاتورة رقم 12".encode()).pages == ("فاتورة رقم 12",)


def test_a_form_feed_begins_a_page():
    assert read_document(b"one\ftwo").pages == ("one", "two")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n....", "a PNG picture"),
        (b"PK\x03\x04....", "a ZIP archive or an Office document"),
        (b"\x00\x01\x02\x03\x04", "of an unknown type"),
        (b"\x7fELF\x02\x01\x01\x00", "of an unknown type"),
    ],
)
def test_another_type_is_refused_by_name(content: bytes, kind: str):
    assert message(content) == f"The file is {kind}; only PDF and plain text can be read."


def test_white_space_is_no_text():
    assert message(b" \r\n\t ") == "The file holds nothing but white space."


@pytest.mark.parametrize("content", [b"a" * 11, make_pdf("a" * 6, "b" * 6, "c" * 6)])
def test_more_text_than_the_limit_is_refused(content: bytes, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(documents, "MAX_CHARACTERS", 10)

    assert message(content) == "The file holds more than 10 characters of text."
