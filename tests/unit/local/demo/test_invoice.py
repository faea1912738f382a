"""The sample document of the demo, and what the sample extractor finds in it."""

from local.demo.documents.make_invoice import INVOICE_PATH, make_invoice
from local.extractor.documents import read_document
from local.extractor.findings import Kind, find


def test_the_committed_invoice_is_what_the_program_makes():
    assert INVOICE_PATH.read_bytes() == make_invoice()


def test_the_invoice_holds_every_kind_of_finding_on_three_pages():
    pages = read_document(INVOICE_PATH.read_bytes()).pages

    findings = find(pages)

    assert len(pages) == 3
    assert {finding.kind for finding in findings} == set(Kind)
    by_kind = {kind: {f.value for f in findings if f.kind is kind} for kind in Kind}
    assert by_kind[Kind.IBAN] == {"DE89370400440532013000", "GB82WEST12345698765432"}
    assert "EUR 17584.06" in by_kind[Kind.AMOUNT]
    assert {"2024-03-14", "2024-04-13", "2024-02-28"} <= by_kind[Kind.DATE]
    assert "billing@fernside.example.com" in by_kind[Kind.EMAIL]
    assert {"INV-2024-00117", "PO-778120", "DN-2024-00931"} <= by_kind[Kind.DOCUMENT_NUMBER]
