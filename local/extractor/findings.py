"""What the extractor looks for in a text, and on which page it stands. No input, no output."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from local.extractor.amounts import find_amounts
from local.extractor.dates import find_dates
from local.extractor.ibans import find_ibans


class Kind(StrEnum):
    """The kinds of things that are found, by their names in a result summary."""

    DATE = "dates"
    AMOUNT = "amounts"
    EMAIL = "emails"
    IBAN = "ibans"
    DOCUMENT_NUMBER = "documentNumbers"


@dataclass(frozen=True)
class Finding:
    """One value of a kind, in its normal form, on a page counted from 1."""

    kind: Kind
    value: str
    page: int


_EMAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}\b", re.I | re.A
)
_NUMBER = r"(?=[A-Z0-9/-]{0,30}\d)[A-Z0-9][A-Z0-9/-]{2,30}(?<![/-])(?![\w.,]{0,30}\d)"
_LABELLED = re.compile(
    r"\b(?i:invoice|order|delivery note|credit note|contract|customer|account|reference|ref|doc"
    r"|document|case|docket|file|quote|project)\.?\s{0,3}"
    rf"(?i:no|nr|number|id|#|:)[.:#]?\s{{0,3}}:?\s{{0,3}}(?P<number>{_NUMBER})"
)
_BREAK_AFTER_HYPHEN = re.compile(r"-[ \t]{0,3}\r?\n(?=\w)")
_CODE = re.compile(r"(?<![\w-])(?P<number>[A-Z]{2,5}-(?:\d{4}-\d{3,8}|\d{5,12}))(?![\w-])")


def find_emails(text: str) -> Iterator[str]:
    """E-mail addresses, in lower case."""
    return (match[0].lower() for match in _EMAIL.finditer(text))


def find_document_numbers(text: str) -> Iterator[str]:
    """What a label such as `Invoice no.` announces, and codes of the form `INV-2024-00117`."""
    unbroken = _BREAK_AFTER_HYPHEN.sub("-", text.replace("\N{EN DASH}", "-"))
    for pattern in (_LABELLED, _CODE):
        for match in pattern.finditer(unbroken):
            if not any(find_dates(match["number"])):
                yield match["number"]


_FINDERS: Mapping[Kind, Callable[[str], Iterable[str]]] = {
    Kind.DATE: find_dates,
    Kind.AMOUNT: find_amounts,
    Kind.EMAIL: find_emails,
    Kind.IBAN: find_ibans,
    Kind.DOCUMENT_NUMBER: find_document_numbers,
}


def find(pages: Sequence[str]) -> list[Finding]:
    """Everything found on the pages, each value once a page, in order of page and kind."""
    return [
        Finding(kind, value, number)
        for number, text in enumerate(pages, start=1)
        for kind, finder in _FINDERS.items()
        for value in dict.fromkeys(finder(text))
    ]


def count(findings: Iterable[Finding]) -> dict[str, int]:
    """How many there are of each kind; a kind that was not found counts 0."""
    kinds = [finding.kind for finding in findings]
    return {kind.value: kinds.count(kind) for kind in Kind}
