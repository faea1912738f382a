"""Rules of a configuration file, asked about what Microsoft's clients send."""

from typing import Any
from uuid import UUID

from azure.servicebus import ServiceBusMessage

from local.servicebus.topology import Topic, parse_topology
from tests.contract.servicebus.conftest import Connect, Serve
from tests.contract.servicebus.sdk import bodies

SQL = {
    "label": "sys.Label = 'JobStarted'",
    "not-queued": "sys.Label IS NULL OR sys.Label <> 'JobQueued'",
    "no-label": "sys.Label IS NULL",
    "any-label": "sys.Label IS NOT NULL",
    "in": "sys.Label IN ('JobQueued', 'JobFailed')",
    "like": "sys.Label LIKE 'Job%ed' AND sys.MessageId LIKE 'm-_'",
    "property": "user.attempt > 1",
    "no-property": "attempt IS NULL",
    "types": "urgent = TRUE AND share >= 0.5 AND attempt = 2 AND EXISTS(which)",
}
CORRELATION: dict[str, dict[str, Any]] = {
    "correlation-id": {"CorrelationId": "c-1"},
    "all-of-them": {"Label": "JobFailed", "Properties": {"attempt": 2, "urgent": True}},
}


def test_rules_decide_which_subscription_gets_a_message(serve: Serve, connect: Connect) -> None:
    client = connect(serve(topic_with_rules()))
    client.sender().send_messages(
        [
            ServiceBusMessage("started", subject="JobStarted", message_id="m-1"),
            ServiceBusMessage("queued", subject="JobQueued", correlation_id="c-1"),
            ServiceBusMessage("bare"),
            ServiceBusMessage(
                "failed",
                subject="JobFailed",
                message_id="m-22",
                application_properties={
                    "attempt": 2,
                    "urgent": True,
                    "share": 0.5,
                    "which": UUID(int=1),
                },
            ),
        ]
    )
    found = {
        name: [text.decode() for text in bodies(client.receiver(name).peek_messages(10))]
        for name in (*SQL, *CORRELATION)
    }
    assert found == {
        "label": ["started"],
        "not-queued": ["started", "bare", "failed"],
        "no-label": ["bare"],
        "any-label": ["started", "queued", "failed"],
        "in": ["queued", "failed"],
        "like": ["started"],
        "property": ["failed"],
        "no-property": ["started", "queued", "bare"],
        "types": ["failed"],
        "correlation-id": ["queued"],
        "all-of-them": ["failed"],
    }


def topic_with_rules() -> Topic:
    """`jobs` with a subscription for each of the rules above, named like it."""
    filters = {
        name: {"FilterType": "Sql", "SqlFilter": {"SqlExpression": expression}}
        for name, expression in SQL.items()
    } | {
        name: {"FilterType": "Correlation", "CorrelationFilter": fields}
        for name, fields in CORRELATION.items()
    }
    subscriptions = [
        {"Name": name, "Rules": [{"Name": "only", "Properties": properties}]}
        for name, properties in filters.items()
    ]
    namespace = {"Name": "n", "Topics": [{"Name": "jobs", "Subscriptions": subscriptions}]}
    (topic,) = parse_topology({"UserConfig": {"Namespaces": [namespace]}}).topics
    return topic
