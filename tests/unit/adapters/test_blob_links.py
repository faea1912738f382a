"""Signed links: whose, for how long, and for which names."""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from shared.adapters.blob_links import SignedBlobLinks, account_key

NOW = datetime(2024, 1, 1, 12, 0, tzinfo=UTC)
KEY = "a2V5"


def links(account_url: str = "https://files.blob.core.windows.net") -> SignedBlobLinks:
    return SignedBlobLinks(account_url, account_key(KEY), timedelta(minutes=90), lambda: NOW)


@pytest.mark.parametrize(
    "name",
    [
        "a b#1+2%.csv",
        "näme 😀.txt",
        "q?x=1.txt",
        "dir/sub dir/f.txt",
        "%2e%2e/%2F.txt",
        "a&sig=b.txt",
        "...",
        ".hidden/..more",
        "a//b",
        "a" * 1024,
    ],
)
def test_the_path_decodes_to_exactly_the_name_and_the_query_has_one_signature(name: str) -> None:
    link = urlsplit(links().sign("documents", name))
    assert unquote(link.path) == f"/documents/{name}"
    assert link.path.count("/") == 2 + name.count("/")
    assert link.fragment == ""
    assert len(parse_qs(link.query)["sig"]) == 1


def test_a_link_allows_reading_one_blob_over_https() -> None:
    query = parse_qs(urlsplit(links().sign("documents", "a.pdf")).query)
    assert query["sp"] == ["r"]
    assert query["sr"] == ["b"]
    assert query["spr"] == ["https"]


def test_a_link_begins_early_for_clocks_that_are_behind_and_ends_after_its_lifetime() -> None:
    query = parse_qs(urlsplit(links().sign("documents", "a.pdf")).query)
    assert query["st"] == ["2024-01-01T11:45:00Z"]
    assert query["se"] == ["2024-01-01T13:30:00Z"]


def test_a_local_account_is_named_by_its_path_and_reached_over_http() -> None:
    link = links("http://127.0.0.1:10000/devstoreaccount1/").sign("documents", "a.pdf")
    assert link.startswith("http://127.0.0.1:10000/devstoreaccount1/documents/a.pdf?")
    assert "spr=" not in link


def test_the_signature_of_another_blob_differs() -> None:
    first, second = (
        parse_qs(urlsplit(links().sign("documents", name)).query)["sig"] for name in ("a", "b")
    )
    assert first != second


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("", "1 to 1,024"),
        ("a" * 1025, "1 to 1,024"),
        ("/a.pdf", "begin with a slash"),
        ("a\\b.pdf", "backslash"),
        (".", "as a segment"),
        ("..", "as a segment"),
        ("a/../b.pdf", "as a segment"),
        ("a/./b.pdf", "as a segment"),
        ("a/..", "as a segment"),
        ("a\x00b", "control characters"),
        ("a\nb", "control characters"),
        ("a\ud800b", "broken Unicode"),
    ],
)
def test_a_name_that_another_reader_would_take_for_another_blob_is_refused(
    name: str, rule: str
) -> None:
    with pytest.raises(ValueError, match=rule):
        links().sign("documents", name)


@pytest.mark.parametrize(
    "container",
    ["", "ab", "Documents", "a--b", "-ab", "ab-", "a/b", "..", "a" * 64, "döc", "docs\n", "a_b"],
)
def test_a_container_whose_name_breaks_the_rules_is_refused(container: str) -> None:
    with pytest.raises(ValueError, match="container's name"):
        links().sign(container, "a.pdf")


@pytest.mark.parametrize("days", [-1, 0, 7])
def test_a_lifetime_that_no_delegation_key_covers_is_refused_at_once(days: int) -> None:
    with pytest.raises(ValueError, match="6 days at most"):
        SignedBlobLinks("https://a", account_key(KEY), timedelta(days=days))
