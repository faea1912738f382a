"""Paths and queries, decoded and shown as the real host does."""

import pytest

from local.host.urls import BadPath, decode_path, encode_path, parse_query


@pytest.mark.parametrize(
    ("raw", "decoded"),
    [
        ("/item/a%20b", "/item/a b"),
        ("/item/a+b", "/item/a+b"),
        ("/item/%C3%A9", "/item/é"),
        ("/item/%E2%82%AC", "/item/€"),
        ("/item/a%2Fb", "/item/a%2Fb"),
        ("/item/a%2fb", "/item/a%2fb"),
        ("/item/a%25b", "/item/a%b"),
        ("/item/a%252Fb", "/item/a%2Fb"),
        ("/item/%FF", "/item/%FF"),
        ("/item/%FF%C3%A9%ff", "/item/%FFé%ff"),
        ("/item/%zz", "/item/%zz"),
        ("/item/%", "/item/%"),
    ],
)
def test_a_path_is_decoded_once_but_for_slashes_and_bytes_that_are_no_utf8(
    raw: str, decoded: str
) -> None:
    assert decode_path(raw) == decoded


@pytest.mark.parametrize(
    ("raw", "decoded"),
    [
        ("/./echo", "/echo"),
        ("/item/../echo", "/echo"),
        ("/item/%2e%2e/echo", "/echo"),
        ("/item/..", "/"),
        ("/item/.", "/item/"),
        ("/../../echo", "/echo"),
        ("//echo", "//echo"),
    ],
)
def test_dot_segments_are_removed(raw: str, decoded: str) -> None:
    assert decode_path(raw) == decoded


@pytest.mark.parametrize("raw", ["/item/%00", "/item/a%00b", "/item/é"])
def test_a_nul_or_a_raw_byte_outside_ascii_is_refused(raw: str) -> None:
    with pytest.raises(BadPath):
        decode_path(raw)


@pytest.mark.parametrize(
    ("decoded", "shown"),
    [
        ("/item/a b", "/item/a%20b"),
        ("/item/{x}", "/item/%7Bx%7D"),
        ("/item/a%2Fb", "/item/a%2Fb"),
        ("/item/%zz", "/item/%25zz"),
        ("/item/a%b", "/item/a%25b"),
        ("/item/a\\b", "/item/a%5Cb"),
        ("/item/a:b@c!$&'()*,=;~", "/item/a:b@c!$&'()*,=;~"),
    ],
)
def test_the_path_of_the_url_is_encoded_again(decoded: str, shown: str) -> None:
    assert encode_path(decoded) == shown


@pytest.mark.parametrize(
    ("raw", "query"),
    [
        ("", {}),
        ("a=1&a=2&b=", {"a": "1,2"}),
        ("a", {}),
        ("a=1&A=2", {"A": "1,2"}),
        ("a=%20+%2B", {"a": "  +"}),
        ("=x", {"": "x"}),
        ("a=1%262&c=%00", {"a": "1&2", "c": "\0"}),
        ("a=%C3%A9&b=%FF&c=%2F", {"a": "é", "b": "%FF", "c": "/"}),
        ("a=1,2&a=3", {"a": "1,2,3"}),
    ],
)
def test_empty_query_values_vanish_and_repeats_are_joined(raw: str, query: dict[str, str]) -> None:
    assert parse_query(raw) == query
