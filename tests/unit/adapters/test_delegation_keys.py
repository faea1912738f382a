"""User delegation keys: when one is kept, and when another one is asked for."""

from datetime import UTC, datetime, timedelta
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import pytest
from azure.core.exceptions import AzureError, HttpResponseError, ServiceRequestError
from azure.storage.blob import BlobServiceClient, UserDelegationKey

from shared.adapters.blob_links import CLOCK_SKEW, SignedBlobLinks
from shared.adapters.delegation_keys import DelegationKeys
from shared.domain.errors import TransientError

NOON = datetime(2024, 1, 1, 12, 0, tzinfo=UTC)


class FakeStorage:
    """Gives out keys for the life asked for, or `life` when set; or fails."""

    def __init__(self) -> None:
        self.asked: list[tuple[datetime, datetime]] = []
        self.life: timedelta | None = None
        self.failure: AzureError | None = None

    def get_user_delegation_key(self, start: datetime, expiry: datetime) -> UserDelegationKey:
        if self.failure:
            raise self.failure
        self.asked.append((start, expiry))
        return make_key(start, start + CLOCK_SKEW + self.life if self.life else expiry)


class Clock:
    now = NOON

    def __call__(self) -> datetime:
        return self.now


def make_key(start: datetime, expiry: datetime) -> UserDelegationKey:
    key = UserDelegationKey()  # type: ignore[no-untyped-call]  # the SDK types no constructor
    key.signed_oid = key.signed_tid = "11111111-1111-1111-1111-111111111111"
    key.signed_start, key.signed_expiry = start.isoformat(), expiry.isoformat()
    key.signed_service, key.signed_version = "b", "2024-01-01"
    key.value = "a2V5"
    return key


@pytest.fixture
def storage() -> FakeStorage:
    return FakeStorage()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(storage: FakeStorage, clock: Clock) -> DelegationKeys:
    return DelegationKeys(cast(BlobServiceClient, storage), clock)


def use(keys: DelegationKeys, now: datetime, minutes: int = 60) -> dict[str, Any]:
    return keys(now - CLOCK_SKEW, now + timedelta(minutes=minutes))


def test_a_key_is_asked_for_only_when_a_link_is_wanted(storage: FakeStorage) -> None:
    DelegationKeys(cast(BlobServiceClient, storage), lambda: NOON)
    assert storage.asked == []


def test_a_key_serves_many_links(keys: DelegationKeys, storage: FakeStorage, clock: Clock) -> None:
    first = use(keys, NOON)
    clock.now = NOON + timedelta(days=1)
    assert use(keys, clock.now) == first
    assert len(storage.asked) == 1


def test_a_key_s_whole_life_stays_under_seven_days(
    keys: DelegationKeys, storage: FakeStorage
) -> None:
    use(keys, NOON)
    [(start, expiry)] = storage.asked
    assert start <= NOON - CLOCK_SKEW
    assert expiry - start < timedelta(days=7) - timedelta(hours=1)


def test_a_key_with_ten_minutes_left_is_renewed_before_it_signs_a_link_of_sixty(
    keys: DelegationKeys, storage: FakeStorage, clock: Clock
) -> None:
    storage.life = timedelta(hours=2)
    use(keys, NOON)
    clock.now = NOON + timedelta(minutes=110)
    key = use(keys, clock.now)["user_delegation_key"]
    assert len(storage.asked) == 2
    assert datetime.fromisoformat(key.signed_expiry) >= clock.now + timedelta(minutes=60)


def test_a_link_never_outlives_the_key_that_signs_it(
    storage: FakeStorage, keys: DelegationKeys, clock: Clock
) -> None:
    links = SignedBlobLinks("https://a", keys, timedelta(minutes=60), clock)
    storage.life = timedelta(hours=3)
    for _ in range(20):
        query = parse_qs(urlsplit(links.sign("documents", "a.pdf")).query)
        assert datetime.fromisoformat(query["se"][0]) <= datetime.fromisoformat(query["ske"][0])
        clock.now += timedelta(minutes=17)


def test_a_lost_connection_is_transient_and_the_next_link_asks_again(
    keys: DelegationKeys, storage: FakeStorage
) -> None:
    storage.failure = ServiceRequestError("Name or service not known")
    with pytest.raises(TransientError, match="blob storage: no delegation key: ServiceRequest"):
        use(keys, NOON)
    storage.failure = None
    assert use(keys, NOON)


def test_a_refusal_is_transient_and_tells_operators_the_missing_role(
    keys: DelegationKeys, storage: FakeStorage
) -> None:
    storage.failure = HttpResponseError("AuthorizationPermissionMismatch")
    storage.failure.status_code = 403
    with pytest.raises(TransientError, match=r"answered 403; .*Storage Blob Delegator"):
        use(keys, NOON)
