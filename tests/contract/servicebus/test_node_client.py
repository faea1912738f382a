"""Microsoft's Node client against the broker: one process does it all and tells what it saw."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from local.servicebus.topology import Subscription, Topic, Topology
from tests.contract.servicebus.running import running

SCRIPT = Path(__file__).parent / "node" / "behaviours.mjs"
ACTIVE, DEFERRED = "active", "deferred"
TOPICS = (
    *("properties", "batch", "tooLarge", "abandon", "deadLetter", "peek", "renew"),
    *("schedule", "deferred", "subscribe"),
)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the script saw, by behaviour."""
    topology = Topology(
        (
            *(Topic(name, (Subscription("sub"),)) for name in TOPICS),
            Topic("lostLock", (Subscription("sub", lock_duration=300),)),
        )
    )
    with running(topology, tmp_path_factory.mktemp("node")) as bus:
        done = subprocess.run(
            ["node", SCRIPT, bus.connection_string],
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_a_message_arrives_with_everything_that_was_sent(seen: dict[str, Any]) -> None:
    got = seen["properties"]
    assert got["sent"] == {
        "body": {"text": "ä 😀", "list": [1, 2.5, None]},
        "messageId": "m-1",
        "subject": "JobStarted",
        "contentType": "application/json",
        "correlationId": "c-1",
        "timeToLive": 3_600_000,
    }
    assert got["applicationProperties"] == {"text": "ä", "int": 7, "float": 0.5, "flag": True}
    assert (got["deliveryCount"], got["state"]) == (0, ACTIVE)
    assert 30 < got["lockSeconds"] <= 60
    assert -1 < got["age"] < 30


def test_a_completed_message_is_gone(seen: dict[str, Any]) -> None:
    assert seen["properties"]["left"] == []


def test_a_full_batch_arrives_as_its_messages_in_order(seen: dict[str, Any]) -> None:
    got = seen["batch"]
    assert got["largest"] == 262_144
    assert got["count"] > 200
    assert got["bodies"] == list(range(got["count"]))
    assert got["left"] == []


def test_a_message_that_is_too_large_is_refused(seen: dict[str, Any]) -> None:
    assert seen["tooLarge"] == {"code": "MessageSizeExceeded", "left": []}


def test_an_entity_that_does_not_exist_is_said_to_be_missing(seen: dict[str, Any]) -> None:
    assert seen["unknown"] == {"code": "MessagingEntityNotFound"}


def test_an_abandoned_message_comes_back_one_delivery_older(seen: dict[str, Any]) -> None:
    assert seen["abandon"] == {
        "body": "a",
        "deliveryCount": 1,
        "applicationProperties": {"why": "busy"},
        "left": [],
    }


def test_a_dead_letter_keeps_its_number_and_says_why(seen: dict[str, Any]) -> None:
    assert seen["deadLetter"] == {
        "body": "a",
        "deadLetterReason": "bad",
        "deadLetterErrorDescription": "cannot be read",
        "sameNumber": True,
        "left": [],
    }


def test_peeking_shows_locked_deferred_and_waiting_messages(seen: dict[str, Any]) -> None:
    assert seen["peek"] == [["a", ACTIVE], ["b", DEFERRED], ["c", ACTIVE]]


def test_a_renewed_lock_lasts_longer(seen: dict[str, Any]) -> None:
    assert seen["renew"]["gained"] >= 50
    assert seen["renew"]["left"] == []


def test_a_lock_that_has_ended_is_told_to_the_one_who_settles(seen: dict[str, Any]) -> None:
    assert seen["lostLock"] == {"code": "MessageLockLost", "deliveryCount": 1, "left": []}


def test_scheduled_messages_come_at_their_time_unless_taken_back(seen: dict[str, Any]) -> None:
    assert seen["schedule"] == {
        "code": "MessageNotFound",
        "bodies": ["soon", "soon, too"],
        "early": False,
        "left": [],
    }


def test_deferred_messages_are_settled_by_their_lock(seen: dict[str, Any]) -> None:
    assert seen["deferred"] == {
        "deferred": [[body, DEFERRED] for body in "abcd"],
        "left": ["b", "d"],
        "dead": [["c", "r"]],
    }


def test_a_handler_gets_every_message_and_its_return_completes_it(seen: dict[str, Any]) -> None:
    assert sorted(seen["subscribe"]["handled"]) == list(range(20))
    assert seen["subscribe"]["left"] == []
