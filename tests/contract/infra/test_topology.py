"""Topics and subscriptions in Azure are those that the code and the local Service Bus know."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from shared.contracts.topology import (
    DUPLICATE_DETECTION,
    LOCK_DURATION,
    MAX_DELIVERY_COUNT,
    TIME_TO_LIVE,
    Topic,
    topology,
)
from tests.contract.infra.compiler import ENVIRONMENTS, INFRA
from tests.contract.infra.predicted import Predicted, last_name

Find = Callable[[str], Predicted]

NAMESPACE = "Microsoft.ServiceBus/namespaces"
TOPIC = f"{NAMESPACE}/topics"
SUBSCRIPTION = f"{TOPIC}/subscriptions"
RULE = f"{SUBSCRIPTION}/rules"
EVERYTHING = "1=1"
OF_OTHERS = {("job-status", "status-service-subscription", EVERYTHING)}
"""Subscriptions that the service makes for others, with their filters."""


def declared() -> list[Topic]:
    """The declaration of the code, with the names that a laptop has too."""
    example = Path(INFRA.parent / "local.settings.json.example").read_text(encoding="utf-8")
    names = json.loads(example)["Values"]
    places = ("ACCEPTED_FILE", "JOB_STATUS", "EXTRACTION_RETRY", "EXTRACTION_RESULT")
    return topology(*((names[f"TOPIC_{each}"], names[f"SUBSCRIPTION_{each}"]) for each in places))


def test_the_topics_are_those_of_the_code(predicted: Find) -> None:
    made = {last_name(each["name"]) for each in predicted("prod").of(TOPIC)}

    assert made == {topic.name for topic in declared()}


def test_the_subscriptions_have_the_filters_of_the_code(predicted: Find) -> None:
    made = {
        (*each["name"].split("/")[1:3], each["properties"]["sqlFilter"]["sqlExpression"])
        for each in predicted("prod").of(RULE)
    }

    ours = {
        (topic.name, topic.subscription.name, topic.subscription.sql_filter or EVERYTHING)
        for topic in declared()
    }
    assert made == ours | OF_OTHERS


def test_each_subscription_has_one_rule_in_place_of_the_one_that_lets_all_through(
    predicted: Find,
) -> None:
    rules = [each["name"] for each in predicted("prod").of(RULE)]
    subscriptions = [each["name"] for each in predicted("prod").of(SUBSCRIPTION)]

    assert sorted(rules) == sorted(f"{name}/$Default" for name in subscriptions)


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_topics_keep_messages_and_drop_repeats_as_the_code_expects(
    predicted: Find, environment: str
) -> None:
    for topic in predicted(environment).of(TOPIC):
        properties = topic["properties"]
        assert duration(properties["defaultMessageTimeToLive"]) == TIME_TO_LIVE
        assert properties["requiresDuplicateDetection"] is True
        window = duration(properties["duplicateDetectionHistoryTimeWindow"])
        assert window == DUPLICATE_DETECTION


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_subscriptions_lose_nothing(predicted: Find, environment: str) -> None:
    for subscription in predicted(environment).of(SUBSCRIPTION):
        properties = subscription["properties"]
        assert duration(properties["lockDuration"]) == LOCK_DURATION
        assert properties["maxDeliveryCount"] == MAX_DELIVERY_COUNT
        assert duration(properties["defaultMessageTimeToLive"]) == TIME_TO_LIVE
        assert properties["deadLetteringOnMessageExpiration"] is True
        assert properties["deadLetteringOnFilterEvaluationExceptions"] is True


def test_a_given_namespace_gets_the_topics_and_is_left_as_it_is(predicted: Find) -> None:
    given = predicted("dev.given")

    assert given.of(NAMESPACE) == []
    assert {each["name"].split("/")[0] for each in given.of(TOPIC)} == {"their-namespace"}
    assert len(given.of(TOPIC)) == len(declared())


def test_the_bounds_of_delivery_are_those_of_service_bus(template: dict[str, Any]) -> None:
    delivery = template["definitions"]["Delivery"]["properties"]

    bounds = {name: (each["minValue"], each["maxValue"]) for name, each in delivery.items()}
    assert bounds == {
        "timeToLiveDays": (1, 14),
        "duplicateDetectionMinutes": (1, 10),
        "lockMinutes": (1, 5),
        "maxDeliveryCount": (3, 100),
    }


def duration(text: str) -> timedelta:
    """An ISO 8601 duration of one part: P7D, PT5M."""
    unit = {"D": "days", "M": "minutes"}[text[-1]]
    return timedelta(**{unit: int(text.strip("PTDM"))})
