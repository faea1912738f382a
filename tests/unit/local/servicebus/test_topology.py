"""The configuration file is the emulator's; what cannot be done is refused by name."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from local.servicebus.filters import CorrelationFilter, SqlFilter
from local.servicebus.settings_reader import TopologyError
from local.servicebus.topology import Topology, load_topology, parse_topology

EMULATOR_SAMPLE: dict[str, Any] = {
    "UserConfig": {
        "Namespaces": [
            {
                "Name": "sbemulatorns",
                "Queues": [],
                "Topics": [
                    {
                        "Name": "topic.1",
                        "Properties": {
                            "DefaultMessageTimeToLive": "PT1H",
                            "DuplicateDetectionHistoryTimeWindow": "PT20S",
                            "RequiresDuplicateDetection": True,
                        },
                        "Subscriptions": [
                            {
                                "Name": "subscription.1",
                                "Properties": {
                                    "DeadLetteringOnMessageExpiration": True,
                                    "DefaultMessageTimeToLive": "P7D",
                                    "LockDuration": "PT5M",
                                    "MaxDeliveryCount": 3,
                                    "ForwardDeadLetteredMessagesTo": "",
                                    "ForwardTo": "",
                                    "RequiresSession": False,
                                },
                                "Rules": [
                                    {
                                        "Name": "correlation",
                                        "Properties": {
                                            "FilterType": "Correlation",
                                            "CorrelationFilter": {
                                                "Label": "subject1",
                                                "Properties": {"prop1": "value1", "n": 2},
                                            },
                                        },
                                    },
                                    {
                                        "Name": "sql",
                                        "Properties": {
                                            "FilterType": "Sql",
                                            "SqlFilter": {"SqlExpression": "sys.To = 'x'"},
                                        },
                                    },
                                ],
                            },
                            {"Name": "subscription-2"},
                        ],
                    }
                ],
            }
        ],
        "Logging": {"Type": "File"},
    }
}


def changed(path: str, value: object) -> dict[str, Any]:
    """The sample with the value at a slash-separated path of keys and indexes replaced."""
    document = deepcopy(EMULATOR_SAMPLE)
    at: Any = document["UserConfig"]["Namespaces"]
    *parents, last = [int(key) if key.isdecimal() else key for key in path.split("/")]
    for key in parents:
        at = at[key]
    at[last] = value
    return document


SUBSCRIPTION = "0/Topics/0/Subscriptions/0"


def test_the_emulators_sample_is_read() -> None:
    (topic,) = parse_topology(EMULATOR_SAMPLE).topics
    assert (topic.name, topic.time_to_live, topic.duplicate_window) == (
        "topic.1",
        3_600_000,
        20_000,
    )
    first, second = topic.subscriptions
    assert first.lock_duration == 300_000
    assert first.max_delivery_count == 3
    assert first.time_to_live == 604_800_000
    assert first.dead_letter_on_expiration
    assert [type(rule) for rule in first.rules] == [CorrelationFilter, SqlFilter]
    assert first.rules[0] == CorrelationFilter({"label": "subject1"}, {"prop1": "value1", "n": 2})
    assert second.rules == ()


def test_what_is_left_out_has_azures_defaults() -> None:
    subscription = parse_topology(EMULATOR_SAMPLE).topics[0].subscriptions[1]
    assert subscription.lock_duration == 60_000
    assert subscription.max_delivery_count == 10
    assert subscription.time_to_live is None
    assert not subscription.dead_letter_on_expiration


def test_a_window_without_duplicate_detection_does_nothing() -> None:
    document = changed("0/Topics/0/Properties/RequiresDuplicateDetection", False)
    assert parse_topology(document).topics[0].duplicate_window is None


def test_duplicate_detection_without_a_window_looks_back_ten_minutes() -> None:
    document = changed("0/Topics/0/Properties", {"RequiresDuplicateDetection": True})
    assert parse_topology(document).topics[0].duplicate_window == 600_000


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("0/Queues", [{"Name": "q"}], "namespace: Queues is not supported"),
        ("0/Topics/0/Properties/SupportOrdering", True, "'topic.1': unknown setting Supp"),
        (f"{SUBSCRIPTION}/Properties/RequiresSession", True, "RequiresSession is not supported"),
        (f"{SUBSCRIPTION}/Properties/ForwardTo", "q", "ForwardTo is not supported"),
        (
            f"{SUBSCRIPTION}/Properties/ForwardDeadLetteredMessagesTo",
            "q",
            "topic 'topic.1', subscription 'subscription.1': ForwardDeadLetteredMessagesTo is not",
        ),
        (f"{SUBSCRIPTION}/Properties/LockDuration", "PT6M", "LockDuration must be .* above PT5M"),
        (f"{SUBSCRIPTION}/Properties/LockDuration", "PT0S", "LockDuration must be more than zero"),
        (f"{SUBSCRIPTION}/Properties/LockDuration", "5 min", "LockDuration: '5 min' is not an ISO"),
        (f"{SUBSCRIPTION}/Properties/MaxDeliveryCount", 0, "MaxDeliveryCount must be a whole"),
        (f"{SUBSCRIPTION}/Properties/MaxDeliveryCount", "3", "MaxDeliveryCount must be a whole"),
        (f"{SUBSCRIPTION}/Properties/MaxDeliveryCount", True, "MaxDeliveryCount must be a whole"),
        (f"{SUBSCRIPTION}/Properties/RequiresSession", "no", "RequiresSession is not supported"),
        (
            f"{SUBSCRIPTION}/Properties/DeadLetteringOnMessageExpiration",
            "yes",
            "DeadLetteringOnMessageExpiration must be true or false",
        ),
        (
            f"{SUBSCRIPTION}/Rules/1/Properties/SqlFilter/SqlExpression",
            "color =",
            "subscription 'subscription.1', rule 'sql': SqlExpression: expected a value",
        ),
        (f"{SUBSCRIPTION}/Rules/1/Properties/FilterType", "True", "FilterType must be Sql or Corr"),
        (
            f"{SUBSCRIPTION}/Rules/1/Properties/Action",
            {"SqlExpression": "SET a = 1"},
            "Action is not supported: rules do not change messages",
        ),
        (f"{SUBSCRIPTION}/Rules/0/Properties/CorrelationFilter", {}, "names no property"),
        (
            f"{SUBSCRIPTION}/Rules/0/Properties/CorrelationFilter",
            {"Subject": "x"},
            "names no property|unknown setting Subject",
        ),
        (
            f"{SUBSCRIPTION}/Rules/0/Properties/CorrelationFilter/Properties/prop1",
            [1],
            "prop1 must be a text, a number, true or false",
        ),
        (
            "0/Topics/0/Properties/DuplicateDetectionHistoryTimeWindow",
            "P8D",
            "topic 'topic.1': DuplicateDetectionHistoryTimeWindow must be .* above P7D",
        ),
        ("0/Topics/0/Name", "a/b", "Name must be letters"),
        ("0/Topics/0/Name", None, "Name must be letters"),
        ("0/Topics/0/Subscriptions/1/Name", "Subscription.1", "declared more than once"),
        ("0/Topics/0/Subscriptions", {}, "Subscriptions must be a list"),
        ("0/Topics/0/Properties", [], "'topic.1': expected a JSON object"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(path: str, value: object, message: str) -> None:
    with pytest.raises(TopologyError, match=message):
        parse_topology(changed(path, value))


@pytest.mark.parametrize("document", [[], {}, {"UserConfig": {"Namespaces": []}}, {"Topics": []}])
def test_what_is_no_configuration_is_refused(document: object) -> None:
    with pytest.raises(TopologyError):
        parse_topology(document)


def test_a_file_may_start_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(EMULATOR_SAMPLE), encoding="utf-8-sig")
    assert load_topology(file) == parse_topology(EMULATOR_SAMPLE)


@pytest.mark.parametrize("content", [None, "{", "\x00"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "config.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(TopologyError, match=r"config\.json cannot be read"):
        load_topology(file)


def test_an_empty_namespace_is_a_topology() -> None:
    document = {"UserConfig": {"Namespaces": [{"Name": "n", "Topics": []}]}}
    assert parse_topology(document) == Topology(())
