"""Makes the demo's sample document: `python -m local.demo.documents.make_invoice`.

Every name, address and number in it is invented. The same bytes come out of every run.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from io import BytesIO
from pathlib import Path

from reportlab.lib import colors
from reportlab.lib.enums import TA_RIGHT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    Flowable,
    KeepTogether,
    PageBreak,
    Paragraph,
    SimpleDocTemplate,
    Spacer,
    Table,
    TableStyle,
)

INVOICE_PATH = Path(__file__).with_name("invoice.pdf")

_NUMBER = "INV-2024-00117"
_SELLER = "Fernside Measuring Instruments Ltd"
_VAT_RATE = Decimal("0.20")
_MARGIN = 22 * mm
_FRAME_PADDING = 6  # points, which reportlab adds inside the margins
_ACCENT = colors.HexColor("#1f4e79")
_PALE = colors.HexColor("#eef3f8")
_RULE = colors.HexColor("#b8c7d6")

_TEXT = ParagraphStyle("text", fontName="Helvetica", fontSize=9.5, leading=13.5)
_SMALL = ParagraphStyle("small", parent=_TEXT, fontSize=8, leading=10.5, textColor=colors.dimgray)
_CELL = ParagraphStyle("cell", parent=_TEXT, fontSize=9, leading=11.5)
_MONEY = ParagraphStyle("money", parent=_CELL, alignment=TA_RIGHT)
_HEAD = ParagraphStyle("head", parent=_CELL, fontName="Helvetica-Bold", textColor=colors.white)
_HEAD_MONEY = ParagraphStyle("headmoney", parent=_HEAD, alignment=TA_RIGHT)
_BOLD = ParagraphStyle("bold", parent=_CELL, fontName="Helvetica-Bold")
_BOLD_MONEY = ParagraphStyle("boldmoney", parent=_MONEY, fontName="Helvetica-Bold")
_TITLE = ParagraphStyle(
    "title", parent=_TEXT, fontName="Helvetica-Bold", fontSize=20, leading=26, textColor=_ACCENT
)
_SECTION = ParagraphStyle(
    "section", parent=_TITLE, fontSize=12, leading=16, spaceBefore=12, spaceAfter=4
)


@dataclass(frozen=True)
class _Line:
    article: str
    description: str
    quantity: int
    price: Decimal

    @property
    def total(self) -> Decimal:
        return self.quantity * self.price


_LINES = [
    _Line(article, description, quantity, Decimal(price))
    for article, description, quantity, price in [
        ("FM-1001", "Digital caliper, 150 mm, with data output", 12, "84.50"),
        ("FM-1004", "Outside micrometer, 0 to 25 mm", 10, "62.90"),
        ("FM-1010", "Depth gauge, 200 mm", 6, "118.00"),
        ("FM-1022", "Dial indicator, 10 mm range, 0.01 mm", 15, "47.25"),
        ("FM-1023", "Magnetic stand for dial indicators", 15, "39.80"),
        ("FM-2003", "Gauge block set, grade 1, 87 pieces", 2, "640.00"),
        ("FM-2011", "Pin gauge set, 1.00 to 10.00 mm", 3, "412.50"),
        ("FM-2040", "Granite surface plate, 630 by 400 mm", 1, "1285.00"),
        ("FM-3002", "Laser distance sensor, 500 mm", 8, "329.00"),
        ("FM-3005", "Sensor cable, 5 m, shielded", 16, "18.75"),
        ("FM-3010", "Four-channel display unit", 2, "745.00"),
        ("FM-3017", "Mounting bracket, stainless steel", 16, "12.40"),
        ("FM-4001", "Thermo-hygrometer with logger", 4, "156.00"),
        ("FM-4006", "Probe, air temperature, class A", 8, "43.60"),
        ("FM-4012", "Calibration box for probes", 1, "980.00"),
        ("FM-5001", "Torque screwdriver, 1 to 5 Nm", 6, "137.20"),
        ("FM-5003", "Torque wrench, 10 to 60 Nm", 4, "189.90"),
        ("FM-5008", "Bit set, 32 pieces", 10, "24.30"),
        ("FM-6002", "Hard case with foam insert, medium", 5, "76.00"),
        ("FM-6003", "Hard case with foam insert, large", 3, "112.00"),
        ("FM-7001", "Calibration certificate, length", 27, "22.00"),
        ("FM-7002", "Calibration certificate, temperature", 12, "28.50"),
        ("FM-7005", "Calibration certificate, torque", 10, "31.00"),
        ("FM-7010", "Recall service, one year, per instrument", 49, "4.20"),
        ("FM-8001", "On-site training, half a day", 1, "560.00"),
        ("FM-8003", "Training documents, printed", 8, "15.00"),
        ("FM-9001", "Insured shipping, 3 parcels", 3, "38.00"),
    ]
]
_NET = sum((line.total for line in _LINES), Decimal())
_VAT = (_NET * _VAT_RATE).quantize(Decimal("0.01"))
_GROSS = _NET + _VAT
_DEPOSIT = Decimal("5000.00")


def make_invoice() -> bytes:
    """The PDF: the letter, the list of items, and the terms, on three pages."""
    target = BytesIO()
    document = SimpleDocTemplate(
        target,
        pagesize=A4,
        leftMargin=_MARGIN - _FRAME_PADDING,
        rightMargin=_MARGIN - _FRAME_PADDING,
        topMargin=30 * mm,
        bottomMargin=24 * mm,
        title=f"Invoice {_NUMBER}",
        author=_SELLER,
        # The same bytes on every machine: no time stamp, no random id, and no compression, whose
        # result would depend on the machine's zlib.
        invariant=1,
        pageCompression=0,
    )
    story = [*_letter(), *_items(), PageBreak(), *_terms()]
    document.build(story, onFirstPage=_frame, onLaterPages=_frame)
    return target.getvalue()


def _letter() -> Iterator[Flowable]:
    address = """Harbour Street Laboratory GmbH<br/>Accounts payable<br/>Beispielweg 12<br/>
        12345 Musterstadt<br/>Germany"""
    facts = [
        ("Invoice number", _NUMBER),
        ("Invoice date", _day(date(2024, 3, 14))),
        ("Due date", _day(date(2024, 4, 13))),
        ("Order number", "PO-778120"),
        ("Delivery note no.", "DN-2024-00931"),
        ("Customer ID", "C-10042"),
    ]
    rows = [[Paragraph(name, _SMALL), Paragraph(value, _CELL)] for name, value in facts]
    block = Table(rows, colWidths=[32 * mm, 38 * mm], style=[("VALIGN", (0, 0), (-1, -1), "TOP")])
    sender = Paragraph(f"{_SELLER} · 7 Example Quay · Bristol", _SMALL)
    yield Table(
        [[[sender, Spacer(1, 4 * mm), Paragraph(address, _TEXT)], block]],
        colWidths=[92 * mm, 74 * mm],
        style=[("VALIGN", (0, 0), (-1, -1), "TOP"), ("LEFTPADDING", (0, 0), (0, 0), 0)],
    )
    yield Spacer(1, 10 * mm)
    yield Paragraph(f"Invoice {_NUMBER}", _TITLE)
    yield Spacer(1, 3 * mm)
    yield Paragraph(
        """Thank you for your order of 26 February 2024. We delivered the instruments listed below
        on 11 March 2024 and trained your staff on 12 March 2024. Prices are in euros and hold until
        2024-12-31.""",
        _TEXT,
    )
    yield Spacer(1, 6 * mm)


def _items() -> Iterator[Flowable]:
    head = [
        Paragraph(title, _HEAD if column < 2 else _HEAD_MONEY)
        for column, title in enumerate(["Article", "Description", "Quantity", "Price", "Total"])
    ]
    rows = [
        [
            Paragraph(line.article, _CELL),
            Paragraph(line.description, _CELL),
            Paragraph(str(line.quantity), _MONEY),
            Paragraph(_money(line.price), _MONEY),
            Paragraph(_money(line.total), _MONEY),
        ]
        for line in _LINES
    ]
    style = TableStyle(
        [
            ("BACKGROUND", (0, 0), (-1, 0), _ACCENT),
            ("ROWBACKGROUNDS", (0, 1), (-1, -1), [colors.white, _PALE]),
            ("LINEBELOW", (0, 1), (-1, -1), 0.4, _RULE),
            ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
            ("TOPPADDING", (0, 0), (-1, -1), 5),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 5),
        ]
    )
    widths = [22 * mm, 76 * mm, 20 * mm, 23 * mm, 25 * mm]
    yield Table([head, *rows], colWidths=widths, style=style, repeatRows=1)
    yield Spacer(1, 5 * mm)
    yield KeepTogether([_sums()])


def _sums() -> Table:
    sums = [
        ("Net amount", _NET),
        (f"VAT {_VAT_RATE:.0%}", _VAT),
        ("Total", _GROSS),
        ("Deposit of 28.02.2024", -_DEPOSIT),
    ]
    rows = [[Paragraph(name, _CELL), Paragraph(_euros(value), _MONEY)] for name, value in sums]
    due = [Paragraph("Amount due", _BOLD), Paragraph(_euros(_GROSS - _DEPOSIT), _BOLD_MONEY)]
    style = [
        ("LINEABOVE", (0, 2), (-1, 2), 0.6, _ACCENT),
        ("BACKGROUND", (0, 4), (-1, 4), _PALE),
        ("LINEABOVE", (0, 4), (-1, 4), 0.6, _ACCENT),
    ]
    return Table([*rows, due], colWidths=[45 * mm, 38 * mm], style=style, hAlign="RIGHT")


def _terms() -> Iterator[Flowable]:
    yield Paragraph("Payment", _SECTION)
    yield Paragraph(
        f"""Please transfer {_euros(_GROSS - _DEPOSIT)} by {_day(date(2024, 4, 13))}, naming the
        invoice number {_NUMBER}. Paid by {_day(date(2024, 3, 28))}, a discount of 2 % applies:
        {_euros(_discounted(_GROSS - _DEPOSIT))}.""",
        _TEXT,
    )
    yield Spacer(1, 4 * mm)
    yield _bank_accounts()
    yield Paragraph("Questions", _SECTION)
    yield Paragraph(
        """About this invoice: billing@fernside.example.com. About the instruments and their
        certificates: service@fernside.example.com, quoting the contract no. SV-2023-00458.""",
        _TEXT,
    )
    yield Paragraph("Terms", _SECTION)
    for number, text in enumerate(_TERMS, start=1):
        yield Paragraph(f"{number}. {text}", _TEXT)
        yield Spacer(1, 1.5 * mm)
    yield Spacer(1, 8 * mm)
    yield Paragraph(
        "This is a sample document. Companies, people, addresses and accounts are invented.", _SMALL
    )


_TERMS = [
    "The goods stay our property until the invoice is paid in full.",
    """Instruments may be returned unused within 30 days of delivery, until 10 April 2024. The
    credit note is made out within a week; the last one to you was CN-2023-00077 of 7 Nov 2023.""",
    """Certificates are valid for one year. The recall service writes to metrology@example.com in
    time for the next calibration, for the first time on 3 February 2025.""",
    "For late payment we charge 8.5 % a year, and EUR 40.00 for each reminder.",
    "English law applies; place of jurisdiction is Bristol.",
]


def _bank_accounts() -> Table:
    accounts = [
        ("Bank", "IBAN", "BIC"),
        ("Musterbank Musterstadt", "DE89 3704 0044 0532 0130 00", "MUSTDEHHXXX"),
        ("Example Bank London", "GB82 WEST 1234 5698 7654 32", "EXAMGB2LXXX"),
    ]
    rows = [
        [Paragraph(cell, _HEAD if number == 0 else _CELL) for cell in row]
        for number, row in enumerate(accounts)
    ]
    style = [
        ("BACKGROUND", (0, 0), (-1, 0), _ACCENT),
        ("LINEBELOW", (0, 1), (-1, -1), 0.4, _RULE),
    ]
    return Table(rows, colWidths=[50 * mm, 74 * mm, 42 * mm], style=style)


def _frame(canvas: Canvas, document: SimpleDocTemplate) -> None:
    """What every page carries: the seller above, the invoice and page number below."""
    width, height = A4
    canvas.setFillColor(_ACCENT)
    canvas.rect(0, height - 18 * mm, width, 18 * mm, stroke=0, fill=1)
    canvas.setFillColor(colors.white)
    canvas.setFont("Helvetica-Bold", 13)
    canvas.drawString(_MARGIN, height - 11.5 * mm, _SELLER)
    canvas.setFillColor(colors.dimgray)
    canvas.setFont("Helvetica", 8)
    canvas.drawString(_MARGIN, 13 * mm, f"Invoice {_NUMBER} · www.fernside.example.com")
    canvas.drawRightString(width - _MARGIN, 13 * mm, f"Page {document.page} of 3")


def _day(day: date) -> str:
    return f"{day.day} {day:%B} {day.year}"


def _money(amount: Decimal) -> str:
    return f"{amount:,.2f}"


def _euros(amount: Decimal) -> str:
    return f"EUR {amount:,.2f}"


def _discounted(amount: Decimal) -> Decimal:
    return (amount * Decimal("0.98")).quantize(Decimal("0.01"))


if __name__ == "__main__":
    INVOICE_PATH.write_bytes(make_invoice())
    print(f"made {INVOICE_PATH}")
