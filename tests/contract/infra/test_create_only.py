"""What cannot be changed later is told apart from what can."""

from typing import Any

from tests.contract.infra.create_only import lost

TOPIC: dict[str, Any] = {
    "id": "/topics/job-status",
    "type": "Microsoft.ServiceBus/namespaces/topics",
    "name": "job-status",
    "properties": {"requiresDuplicateDetection": True, "defaultMessageTimeToLive": "P7D"},
}


def prediction(*resources: dict[str, Any]) -> dict[str, Any]:
    return {"predictedResources": list(resources)}


def topic(**properties: object) -> dict[str, Any]:
    return {**TOPIC, "properties": {**TOPIC["properties"], **properties}}


def test_a_create_only_property_is_named_with_both_values() -> None:
    after = topic(requiresDuplicateDetection=False)

    assert lost(prediction(TOPIC), prediction(after)) == [
        "Microsoft.ServiceBus/namespaces/topics job-status:"
        " properties.requiresDuplicateDetection was True, and is False"
    ]


def test_other_properties_may_change_and_resources_may_come() -> None:
    after = prediction(topic(defaultMessageTimeToLive="P8D"), {**TOPIC, "id": "/topics/another"})

    assert lost(prediction(TOPIC), after) == []


def test_a_resource_that_is_gone_is_a_loss() -> None:
    assert lost(prediction(TOPIC), prediction()) == [
        "Microsoft.ServiceBus/namespaces/topics job-status is gone, or has another name"
    ]


def test_another_region_is_a_loss() -> None:
    before, after = {**TOPIC, "location": "here"}, {**TOPIC, "location": "there"}

    assert lost(prediction(before), prediction(after)) == [
        "Microsoft.ServiceBus/namespaces/topics job-status: location was here, and is there"
    ]


def test_an_alert_that_is_gone_is_none() -> None:
    alert = {"id": "/alerts/one", "type": "Microsoft.Insights/metricAlerts", "name": "one"}

    assert lost(prediction(alert), prediction()) == []
