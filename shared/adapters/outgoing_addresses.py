"""Which addresses outside may be called: the rules that keep calls out of private networks."""

import ipaddress
import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import SplitResult, quote, urlsplit

METADATA = frozenset({"169.254.169.254", "fd00:ec2::254", "168.63.129.16", "100.100.100.200"})
"""Where clouds answer their own machines, tokens included; one of them is a public address."""

_DEFAULT_PORTS = {"https": 443, "http": 80}
_LABEL = r"[a-z0-9_-]{1,63}"
_HOST_NAME = re.compile(rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*")
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*")
_UNCLEAR = re.compile(r"[\x00-\x20\x7f\\]")
_KEPT_IN_PATH = "/%:@!$&'()*+,;=?~"


class RefusedAddressError(ValueError):
    """An address that must not be called. The text names the rule, never the address."""


@dataclass(frozen=True)
class Target:
    """Where a call goes: `host` in lower case as a certificate names it, `path` with its query."""

    scheme: str
    host: str
    port: int
    path: str


def parse_target(url: str, allow_private: bool = False) -> Target:
    """Read a URL that is to be called. Raises RefusedAddressError.

    Only https, or also http where private addresses are allowed. What two readers could take
    for two different hosts is refused, and so are names in other scripts: they have an ASCII form.
    """
    if _UNCLEAR.search(url):
        raise RefusedAddressError("the URL holds a space, a backslash or a control character")
    try:
        parts = urlsplit(url)
        port = parts.port
        path = _path(parts)
    except ValueError:
        raise RefusedAddressError("the URL cannot be read") from None
    if parts.scheme != "https" and not (allow_private and parts.scheme == "http"):
        raise RefusedAddressError("the URL must use https")
    if "@" in parts.netloc:
        raise RefusedAddressError("the URL must not hold a user name or password")
    if port == 0:
        raise RefusedAddressError("the URL names port 0")
    return Target(
        scheme=parts.scheme,
        host=_host(parts.hostname or ""),
        port=port or _DEFAULT_PORTS[parts.scheme],
        path=path,
    )


def refusal(address: str) -> str | None:
    """The kind of an IP address that must not be called, or None when it may be."""
    ip = _reached(ipaddress.ip_address(address))
    kinds = {
        "metadata": str(ip) in METADATA,
        "unspecified": ip.is_unspecified,
        "loopback": ip.is_loopback,
        "link-local": ip.is_link_local,
        "multicast": ip.is_multicast,
        "reserved": ip.is_reserved,
        "private": ip.is_private,
        "non-public": not ip.is_global,
    }
    return next((kind for kind, applies in kinds.items() if applies), None)


def _host(name: str) -> str:
    if not name:
        raise RefusedAddressError("the URL names no host")
    if ":" in name:
        return _ipv6(name)
    host = name.removesuffix(".")
    if not _HOST_NAME.fullmatch(host):
        raise RefusedAddressError("the URL's host is not a valid ASCII name")
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        return _ipv4(host)
    return host


def _ipv4(host: str) -> str:
    """Refuses 2130706433, 0x7f.1 and 0177.0.0.1, which resolvers read as addresses."""
    try:
        return str(IPv4Address(host))
    except ValueError:
        raise RefusedAddressError(
            "an IPv4 address must be written as four decimal numbers"
        ) from None


def _ipv6(host: str) -> str:
    try:
        ip = IPv6Address(host)
    except ValueError:
        raise RefusedAddressError("the URL's IPv6 address cannot be read") from None
    if ip.scope_id is not None:
        raise RefusedAddressError("an IPv6 address must not name a zone")
    return str(ip)


def _path(parts: SplitResult) -> str:
    path = quote(parts.path or "/", safe=_KEPT_IN_PATH)
    return f"{path}?{quote(parts.query, safe=_KEPT_IN_PATH)}" if parts.query else path


def _reached(ip: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address that an IPv6 address is another way to reach, else the address itself."""
    if isinstance(ip, IPv6Address):
        return ip.ipv4_mapped or ip.sixtofour or ip
    return ip
