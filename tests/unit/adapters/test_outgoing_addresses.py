"""Which URLs and addresses may be called."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.outgoing_addresses import (
    RefusedAddressError,
    Target,
    parse_target,
    refusal,
)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://extractor.example", Target("https", "extractor.example", 443, "/")),
        ("https://Extractor.Example/Run", Target("https", "extractor.example", 443, "/Run")),
        ("https://extractor.example:8443/run", Target("https", "extractor.example", 8443, "/run")),
        ("https://extractor.example./run", Target("https", "extractor.example", 443, "/run")),
        (
            "https://a/run?code=a%2Bb%2F&x=1#part",
            Target("https", "a", 443, "/run?code=a%2Bb%2F&x=1"),
        ),
        ("https://a/näme/😀", Target("https", "a", 443, "/n%C3%A4me/%F0%9F%98%80")),
        ("https://20.1.2.3/run", Target("https", "20.1.2.3", 443, "/run")),
        ("https://[2606:4700::1]:444/", Target("https", "2606:4700::1", 444, "/")),
        ("https://xn--nme-qla.example/", Target("https", "xn--nme-qla.example", 443, "/")),
    ],
)
def test_a_clear_https_url_is_read(url: str, target: Target) -> None:
    assert parse_target(url) == target


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("http://extractor.example/run", "must use https"),
        ("ftp://extractor.example/run", "must use https"),
        ("file:///etc/passwd", "must use https"),
        ("extractor.example/run", "must use https"),
        ("", "must use https"),
        ("https:///run", "names no host"),
        ("https://user@extractor.example/", "user name or password"),
        ("https://user:secret@extractor.example/", "user name or password"),
        ("https://extractor.example@10.0.0.1/", "user name or password"),
        ("https://extractor.example:0/", "port 0"),
        ("https://extractor.example:99999/", "cannot be read"),
        ("https://extractor.example:x/", "cannot be read"),
        ("https://[::1/", "cannot be read"),
        ("https://[fe80::1%25eth0]/", "must not name a zone"),
        ("https://[1::2::3]/", "cannot be read"),
        ("https://extractor.example\\@10.0.0.1/", "backslash"),
        ("https://extractor.example/\r\nHost: other", "control character"),
        (" https://extractor.example/", "space"),
        ("https://exa mple/", "space"),
        ("https://exa\tmple/", "control character"),
        ("https://a..b/", "not a valid ASCII name"),
        ("https://-.*/", "not a valid ASCII name"),
        ("https://näme.example/", "not a valid ASCII name"),
        ("https://\N{FULLWIDTH DIGIT ONE}27.0.0.1/", "not a valid ASCII name"),
        (f"https://{'a' * 64}.example/", "not a valid ASCII name"),
        (f"https://{'a.' * 130}example/", "not a valid ASCII name"),
        ("https://2130706433/", "four decimal numbers"),
        ("https://0x7f000001/", "four decimal numbers"),
        ("https://0x7f.1/", "four decimal numbers"),
        ("https://0177.0.0.1/", "four decimal numbers"),
        ("https://127.1/", "four decimal numbers"),
        ("https://20.1.2.3.4/", "four decimal numbers"),
        ("https://020.1.2.3/", "four decimal numbers"),
    ],
)
def test_what_is_unclear_or_not_https_is_refused_by_rule(url: str, rule: str) -> None:
    with pytest.raises(RefusedAddressError, match=rule):
        parse_target(url)


def test_http_may_be_called_where_private_addresses_may() -> None:
    target = parse_target("http://127.0.0.1:7082/run", allow_private=True)
    assert target == Target("http", "127.0.0.1", 7082, "/run")


def test_other_schemes_are_refused_even_there() -> None:
    with pytest.raises(RefusedAddressError, match="must use https"):
        parse_target("ftp://127.0.0.1/run", allow_private=True)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        target = parse_target(f"https://{text}")
    except RefusedAddressError:
        return
    assert target.host.isascii()
    assert target.path.isascii()
    assert not set(target.host + target.path) & set(" \r\n\\@#") - {"@"}


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("::1", "loopback"),
        ("0.0.0.0", "unspecified"),
        ("::", "unspecified"),
        ("10.1.2.3", "private"),
        ("172.16.0.1", "private"),
        ("192.168.1.1", "private"),
        ("fc00::1", "private"),
        ("100.64.0.1", "non-public"),
        ("169.254.1.1", "link-local"),
        ("fe80::1", "link-local"),
        ("224.0.0.1", "multicast"),
        ("239.255.255.250", "multicast"),
        ("ff02::1", "multicast"),
        ("240.0.0.1", "reserved"),
        ("255.255.255.255", "reserved"),
        ("0.1.2.3", "private"),
        ("192.0.2.1", "private"),
        ("2001:db8::1", "private"),
        ("169.254.169.254", "metadata"),
        ("fd00:ec2::254", "metadata"),
        ("168.63.129.16", "metadata"),
        ("100.100.100.200", "metadata"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:10.0.0.1", "private"),
        ("::ffff:169.254.169.254", "metadata"),
        ("::ffff:168.63.129.16", "metadata"),
        ("::7f00:1", "reserved"),
        ("64:ff9b::7f00:1", "reserved"),
        ("64:ff9b:1::a00:1", "reserved"),
        ("2001:0:7f00:1::1", "private"),
        ("2002:7f00:1::", "loopback"),
        ("2002:a00:1::1", "private"),
    ],
)
def test_an_address_that_is_not_public_is_refused(address: str, kind: str) -> None:
    assert refusal(address) == kind


@pytest.mark.parametrize(
    "address",
    ["20.1.2.3", "8.8.8.8", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8"],
)
def test_a_public_address_may_be_called(address: str) -> None:
    assert refusal(address) is None


@given(st.ip_addresses(v=4))
def test_an_address_in_disguise_is_judged_as_what_it_reaches(ip: ipaddress.IPv4Address) -> None:
    mapped = ipaddress.IPv6Address(f"::ffff:{ip}")
    six_to_four = ipaddress.IPv6Address(0x2002 << 112 | int(ip) << 80)
    assert refusal(str(mapped)) == refusal(str(six_to_four)) == refusal(str(ip))
