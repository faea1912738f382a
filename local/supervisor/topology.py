"""The declared topics as the configuration file of Microsoft's Service Bus emulator."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from shared.contracts.topology import (
    DUPLICATE_DETECTION,
    LOCK_DURATION,
    MAX_DELIVERY_COUNT,
    TIME_TO_LIVE,
    Subscription,
    Topic,
)

NAMESPACE = "sbemulatorns"
STATUS_SERVICE = Subscription("status-service")
"""Stands for the Status service: it gets every job status message."""


def emulator_config(
    topics: Sequence[Topic], job_status_topic: str, lock_duration: timedelta = LOCK_DURATION
) -> dict[str, Any]:
    """The file's JSON: every topic with its own subscription, and `status-service` on one."""
    return {
        "UserConfig": {
            "Namespaces": [
                {
                    "Name": NAMESPACE,
                    "Queues": [],
                    "Topics": [_topic(topic, job_status_topic, lock_duration) for topic in topics],
                }
            ],
            "Logging": {"Type": "Console"},
        }
    }


def _topic(topic: Topic, job_status_topic: str, lock_duration: timedelta) -> dict[str, Any]:
    watched = topic.name == job_status_topic
    subscriptions = [topic.subscription, STATUS_SERVICE] if watched else [topic.subscription]
    return {
        "Name": topic.name,
        "Properties": {
            "DefaultMessageTimeToLive": _duration(TIME_TO_LIVE),
            "DuplicateDetectionHistoryTimeWindow": _duration(DUPLICATE_DETECTION),
            "RequiresDuplicateDetection": True,
        },
        "Subscriptions": [_subscription(each, lock_duration) for each in subscriptions],
    }


def _subscription(subscription: Subscription, lock_duration: timedelta) -> dict[str, Any]:
    properties = {
        "DeadLetteringOnMessageExpiration": True,
        "DefaultMessageTimeToLive": _duration(TIME_TO_LIVE),
        "LockDuration": _duration(lock_duration),
        "MaxDeliveryCount": MAX_DELIVERY_COUNT,
    }
    rules = [_rule(subscription.sql_filter)] if subscription.sql_filter else []
    return {"Name": subscription.name, "Properties": properties, "Rules": rules}


def _rule(expression: str) -> dict[str, Any]:
    return {
        "Name": "filter",
        "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": expression}},
    }


def _duration(length: timedelta) -> str:
    """ISO 8601, in the largest unit that gives a whole number: `P7D`, `PT5M`, `PT90S`."""
    seconds = int(length.total_seconds())
    if seconds % 86_400 == 0:
        return f"P{seconds // 86_400}D"
    return f"PT{seconds // 60}M" if seconds % 60 == 0 else f"PT{seconds}S"
