"""What the extractor finds in a text, and what it leaves alone."""

import string
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.extractor.amounts import find_amounts
from local.extractor.dates import find_dates
from local.extractor.findings import (
    Finding,
    Kind,
    count,
    find,
    find_document_numbers,
    find_emails,
)
from local.extractor.ibans import find_ibans


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("due 2024-02-29.", ["2024-02-29"]),
        ("am 3.4.2024, spätestens 30. 4. 2024", ["2024-04-03", "2024-04-30"]),
        ("31/12/2024", ["2024-12-31"]),
        ("12/31/2024", ["2024-12-31"]),
        ("03/04/2024", ["2024-04-03"]),
        ("1 January 2024 and 2nd Feb. 2025", ["2024-01-01", "2025-02-02"]),
        ("Tuesday, January 13, 2009; SEPT. 1st 2010", ["2009-01-13", "2010-09-01"]),
        ("05/03/201904/03/2019CARD", ["2019-03-05", "2019-03-04"]),
    ],
)
def test_dates_are_found_in_every_usual_form(text: str, dates: list[str]):
    assert list(find_dates(text)) == dates


@pytest.mark.parametrize(
    "text", ["2023-02-29", "32.1.2024", "13/13/2024", "1.2.2024.5", "2024-01-01-7", "31 June 2024"]
)
def test_what_is_no_day_of_the_calendar_is_no_date(text: str):
    assert list(find_dates(text)) == []


@given(st.dates(min_value=date(1000, 1, 1), max_value=date(2999, 12, 31)))
def test_every_iso_date_is_found_as_it_is(day: date):
    assert list(find_dates(f"on {day.isoformat()},")) == [day.isoformat()]


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("EUR 1,234.50", ["EUR 1234.50"]),
        ("1.234.567,89 €", ["EUR 1234567.89"]),
        ("$85", ["USD 85"]),
        ("-£12.00", ["GBP -12.00"]),
        ("CHF 1'000.00", ["CHF 1000.00"]),
        ("12\N{NO-BREAK SPACE}500,00 SEK", ["SEK 12500.00"]),
        ("(\N{MINUS SIGN}7.25)", ["-7.25"]),
        ("37,499.96DISTRICT", ["37499.96"]),
        ("EUR100 and EUR -5.00", ["EUR 100", "EUR -5.00"]),
    ],
)
def test_amounts_are_found_in_every_usual_form(text: str, amounts: list[str]):
    assert list(find_amounts(text)) == amounts


@pytest.mark.parametrize(
    "text", ["31.12.2024", "1.2.3", "12 pages", "v1.50b", "1,234", "0.125", "2024-01-31", "10.5"]
)
def test_other_numbers_are_no_amounts(text: str):
    assert list(find_amounts(text)) == []


@given(st.integers(0, 10**12 - 1), st.integers(0, 99))
def test_an_amount_keeps_its_value_whatever_its_separators(whole: int, cents: int):
    plain = f"EUR {whole}.{cents:02}"
    english = f"EUR {whole:,}.{cents:02}"
    german = english.translate(str.maketrans(",.", ".,"))

    assert [list(find_amounts(text)) for text in (plain, english, german)] == [[plain]] * 3


def test_e_mail_addresses_are_found_in_lower_case():
    text = "Write to <Ada.Lovelace+books@Mail.Example.COM>, or a@b; not user@localhost."

    assert list(find_emails(text)) == ["ada.lovelace+books@mail.example.com"]


@pytest.mark.parametrize(
    ("text", "ibans"),
    [
        ("IBAN DE89 3704 0044 0532 0130 00 BIC COBADEFFXXX", ["DE89370400440532013000"]),
        ("GB82WEST12345698765432.", ["GB82WEST12345698765432"]),
        ("NO93 8601 1117 947\nFR14 2004 1010 0505 0001 3M02 606", None),
    ],
)
def test_ibans_are_found_with_and_without_spaces(text: str, ibans: list[str] | None):
    both = ["NO9386011117947", "FR1420041010050500013M02606"]
    assert list(find_ibans(text)) == (ibans or both)


@pytest.mark.parametrize(
    "text",
    [
        "DE88 3704 0044 0532 0130 00",
        "DE89 3704 0044 0532 0130 0",
        "DE89370400440532013000X",
        "ZZ89 3704 0044 0532 0130 00",
        "XDE89 3704 0044 0532 0130 00",
    ],
)
def test_an_iban_must_fit_its_country_its_length_and_its_check_digits(text: str):
    assert list(find_ibans(text)) == []


@given(st.text(string.digits, min_size=18, max_size=18))
def test_a_wrong_digit_spoils_an_iban(account: str):
    check = 98 - int(account + "131400") % 97
    iban = f"DE{check:02}{account}"
    wrong = iban[:-1] + str((int(iban[-1]) + 1) % 10)

    assert list(find_ibans(f"{iban} {wrong}")) == [iban]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Invoice no. INV-2024-00117", ["INV-2024-00117"]),
        ("Invoice number\n4711/24", ["4711/24"]),
        ("Order: PO-77812, Customer ID: 10042", ["PO-77812", "10042"]),
        ("Docket No. FAA\N{EN DASH}2020\N{EN DASH} \n0686;", ["FAA-2020-0686"]),
        ("as agreed in DN-2024-0093 and PO-778120.", ["DN-2024-0093", "PO-778120"]),
    ],
)
def test_document_numbers_are_found_by_label_or_form(text: str, numbers: list[str]):
    assert list(dict.fromkeys(find_document_numbers(text))) == numbers


@pytest.mark.parametrize(
    "text",
    [
        "Order date: 2024-01-31",
        "Order: 2024-01-31",
        "our file is long",
        "invoice no. ABC",
        "article FM-1001",
    ],
)
def test_a_document_number_has_a_digit_and_is_no_date(text: str):
    assert list(find_document_numbers(text)) == []


def test_each_value_is_told_once_a_page_with_its_page():
    pages = ["ada@example.com, Ada@example.com", "", "ada@example.com"]

    findings = find(pages)

    assert findings == [
        Finding(Kind.EMAIL, "ada@example.com", 1),
        Finding(Kind.EMAIL, "ada@example.com", 3),
    ]


def test_the_count_names_every_kind():
    findings = find(["EUR 5 on 2024-01-31 and EUR 6"])

    assert count(findings) == {
        "dates": 1,
        "amounts": 2,
        "emails": 0,
        "ibans": 0,
        "documentNumbers": 0,
    }


@given(st.text())
def test_any_text_can_be_searched(text: str):
    assert all(finding.page == 1 for finding in find([text]))
