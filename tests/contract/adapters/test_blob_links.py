"""Signed links, used against Azurite by someone who has nothing but the link."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import jwt
import pytest
import requests
from azure.core.credentials import AccessToken
from azure.storage.blob import BlobServiceClient

from shared.adapters.blob_links import SignedBlobLinks, account_key
from shared.adapters.delegation_keys import DelegationKeys, blob_service_client
from shared.domain.errors import TransientError
from tests.contract.adapters.azurite import KEY, Azurite, running_azurite
from tests.contract.certificates import self_signed

CONTAINER = "documents"
NAMES = [
    "a b#1+2%.csv",
    "näme 😀.txt",
    "q?x=1.txt",
    "dir/sub dir/f.txt",
    "%2e%2e/%41&sig=x.txt",
    "ملف.pdf",
    "a//b~'(!)*.txt",
]
LIFETIME = timedelta(minutes=90)


class FakeIdentity:
    """A credential with the claims that Azurite looks at; it checks no signature."""

    def get_token(self, *scopes: str, **_: Any) -> AccessToken:
        now = int(time.time())
        claims = {
            "aud": "https://storage.azure.com",
            "iss": "https://sts.windows.net/11111111-1111-1111-1111-111111111111/",
            "oid": "22222222-2222-2222-2222-222222222222",
            "tid": "11111111-1111-1111-1111-111111111111",
            "iat": now,
            "nbf": now,
            "exp": now + 3600,
        }
        return AccessToken(jwt.encode(claims, "k" * 32, "HS256"), now + 3600)


@pytest.fixture(scope="module")
def azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Azurite]:
    data = tmp_path_factory.mktemp("azurite")
    certificate = self_signed(data, ["localhost"], ["127.0.0.1"])
    with running_azurite(data, certificate) as running:
        with BlobServiceClient(
            running.account_url, KEY, connection_verify=running.trusted
        ) as client:
            container = client.create_container(CONTAINER)
            for name in [*NAMES, "other.txt"]:
                container.upload_blob(name, name.encode())
        yield running


@pytest.fixture(params=["account key", "identity"])
def links(request: pytest.FixtureRequest, azurite: Azurite) -> Iterator[SignedBlobLinks]:
    if request.param == "account key":
        yield SignedBlobLinks(azurite.account_url, account_key(KEY), LIFETIME)
        return
    with BlobServiceClient(
        azurite.account_url, FakeIdentity(), connection_verify=azurite.trusted
    ) as client:
        keys = DelegationKeys(client, lambda: datetime.now(UTC))
        yield SignedBlobLinks(azurite.account_url, keys, LIFETIME)


@pytest.fixture
def download(azurite: Azurite) -> Callable[[str], requests.Response]:
    return lambda link: requests.get(link, verify=azurite.trusted, timeout=10)


Download = Callable[[str], requests.Response]


@pytest.mark.parametrize("name", NAMES)
def test_a_link_downloads_the_blob_of_any_name(
    links: SignedBlobLinks, download: Download, name: str
) -> None:
    answer = download(links.sign(CONTAINER, name))
    assert (answer.status_code, answer.content) == (200, name.encode())


def test_a_link_opens_no_other_blob(links: SignedBlobLinks, download: Download) -> None:
    link = links.sign(CONTAINER, NAMES[0])
    other = urlsplit(links.sign(CONTAINER, "other.txt")).path
    assert download(link.replace(urlsplit(link).path, other)).status_code == 403


@pytest.mark.parametrize(
    ("before", "after"), [("sp=r", "sp=rw"), ("se=20", "se=21"), ("sig=", "sig=A")]
)
def test_a_changed_link_opens_nothing(
    links: SignedBlobLinks, download: Download, before: str, after: str
) -> None:
    link = links.sign(CONTAINER, NAMES[0])
    assert before in link
    assert download(link.replace(before, after)).status_code == 403


def test_a_link_does_not_write(links: SignedBlobLinks, azurite: Azurite) -> None:
    link = links.sign(CONTAINER, NAMES[0])
    headers = {"x-ms-blob-type": "BlockBlob"}
    put = requests.put(link, b"x", headers=headers, verify=azurite.trusted, timeout=10)
    assert put.status_code == 403
    assert requests.delete(link, verify=azurite.trusted, timeout=10).status_code == 403


def test_a_link_ends(azurite: Azurite, download: Download) -> None:
    def two_hours_ago() -> datetime:
        return datetime.now(UTC) - timedelta(hours=2)

    links = SignedBlobLinks(azurite.account_url, account_key(KEY), LIFETIME, two_hours_ago)
    assert download(links.sign(CONTAINER, NAMES[0])).status_code == 403


def test_storage_out_of_reach_is_transient_within_the_time_of_a_call() -> None:
    with blob_service_client("https://127.0.0.1:1/account", FakeIdentity()) as client:
        keys = DelegationKeys(client, lambda: datetime.now(UTC))
        links = SignedBlobLinks("https://127.0.0.1:1/account", keys, LIFETIME)
        begun = time.monotonic()
        with pytest.raises(TransientError, match="blob storage: no delegation key"):
            links.sign(CONTAINER, NAMES[0])
    assert time.monotonic() - begun < 10


def test_an_identity_that_storage_refuses_is_transient(azurite: Azurite) -> None:
    class Stranger(FakeIdentity):
        def get_token(self, *scopes: str, **_: Any) -> AccessToken:
            return AccessToken("a.b.c", int(time.time()) + 3600)

    with BlobServiceClient(
        azurite.account_url, Stranger(), connection_verify=azurite.trusted
    ) as client:
        keys = DelegationKeys(client, lambda: datetime.now(UTC))
        links = SignedBlobLinks(azurite.account_url, keys, LIFETIME)
        with pytest.raises(TransientError, match="blob storage: no delegation key: answered 40"):
            links.sign(CONTAINER, NAMES[0])
