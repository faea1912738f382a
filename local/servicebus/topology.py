"""Topics, subscriptions and rules, read from the configuration file of Microsoft's emulator.

What would change behaviour and is not offered here is refused by name when the file is read, and
so is every setting that is not known: nothing is ignored silently.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from local.servicebus.filters import CorrelationFilter, Filter, FilterError, parse_sql_filter
from local.servicebus.settings_reader import Settings, TopologyError

LONGEST_LOCK = "PT5M"
LONGEST_WINDOW = "P7D"
DEFAULT_LOCK = 60_000
DEFAULT_WINDOW = 600_000
DEFAULT_DELIVERIES = 10
MOST_DELIVERIES = 2_000
"""Azure's limits and defaults; times in milliseconds."""

_NAME = re.compile(r"[A-Za-z0-9](?:[\w.\-]*\w)?", re.ASCII)

_CORRELATION_FIELDS = {
    "ContentType": "contenttype",
    "CorrelationId": "correlationid",
    "Label": "label",
    "MessageId": "messageid",
    "ReplyTo": "replyto",
    "ReplyToSessionId": "replytosessionid",
    "SessionId": "sessionid",
    "To": "to",
}


@dataclass(frozen=True)
class Subscription:
    """One subscription; times in milliseconds. Without rules every message passes."""

    name: str
    lock_duration: int = DEFAULT_LOCK
    max_delivery_count: int = DEFAULT_DELIVERIES
    time_to_live: int | None = None
    dead_letter_on_expiration: bool = False
    rules: tuple[Filter, ...] = ()


@dataclass(frozen=True)
class Topic:
    """One topic; `duplicate_window` in milliseconds, None without duplicate detection."""

    name: str
    subscriptions: tuple[Subscription, ...] = ()
    time_to_live: int | None = None
    duplicate_window: int | None = None


@dataclass(frozen=True)
class Topology:
    """Everything that the broker serves."""

    topics: tuple[Topic, ...]


def load_topology(path: Path) -> Topology:
    """Read the configuration file at `path`; raises TopologyError, which names what is wrong."""
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise TopologyError(f"{path} cannot be read: {error}") from error
    return parse_topology(document)


def parse_topology(document: object) -> Topology:
    """Read the JSON document of a configuration file; raises TopologyError."""
    root = Settings("configuration", document)
    user = Settings("UserConfig", root.value("UserConfig"))
    root.done()
    user.value("Logging")  # says where the emulator writes its log, nothing about messages
    namespaces = user.objects("Namespaces")
    user.done()
    if len(namespaces) != 1:
        raise TopologyError(f"UserConfig: expected one namespace, found {len(namespaces)}")
    return _namespace(Settings("namespace", namespaces[0]))


def _namespace(settings: Settings) -> Topology:
    settings.text("Name")
    settings.refuse("Queues", "only topics and their subscriptions are offered")
    topics = tuple(_topic(value) for value in settings.objects("Topics"))
    settings.done()
    _refuse_doubles(settings, [topic.name for topic in topics])
    return Topology(topics)


def _topic(value: object) -> Topic:
    settings = _named("topic", "", value)
    name = settings.text("Name")
    properties = settings.nested("Properties")
    time_to_live = properties.duration("DefaultMessageTimeToLive")
    window = properties.duration("DuplicateDetectionHistoryTimeWindow", LONGEST_WINDOW)
    detects = properties.flag("RequiresDuplicateDetection")
    properties.done()
    subscriptions = tuple(
        _subscription(settings.where, value) for value in settings.objects("Subscriptions")
    )
    settings.done()
    _refuse_doubles(settings, [subscription.name for subscription in subscriptions])
    return Topic(
        name=name,
        subscriptions=subscriptions,
        time_to_live=time_to_live,
        duplicate_window=(window or DEFAULT_WINDOW) if detects else None,
    )


def _subscription(topic: str, value: object) -> Subscription:
    settings = _named("subscription", topic, value)
    properties = settings.nested("Properties")
    properties.refuse("RequiresSession", "sessions are not offered")
    properties.refuse("ForwardTo", "messages are not forwarded")
    properties.refuse("ForwardDeadLetteredMessagesTo", "messages are not forwarded")
    subscription = Subscription(
        name=settings.text("Name"),
        lock_duration=properties.duration("LockDuration", LONGEST_LOCK) or DEFAULT_LOCK,
        max_delivery_count=properties.integer(
            "MaxDeliveryCount", DEFAULT_DELIVERIES, MOST_DELIVERIES
        ),
        time_to_live=properties.duration("DefaultMessageTimeToLive"),
        dead_letter_on_expiration=properties.flag("DeadLetteringOnMessageExpiration"),
        rules=tuple(_rule(settings.where, value) for value in settings.objects("Rules")),
    )
    properties.done()
    settings.done()
    return subscription


def _rule(subscription: str, value: object) -> Filter:
    settings = _named("rule", subscription, value)
    settings.text("Name")
    properties = settings.nested("Properties")
    properties.refuse("Action", "rules do not change messages")
    kind = properties.text("FilterType")
    if kind not in ("Sql", "Correlation"):
        raise settings.error(f"FilterType must be Sql or Correlation, not {kind!r}")
    body = properties.nested(f"{kind}Filter")
    rule = _sql_filter(body) if kind == "Sql" else _correlation_filter(body)
    body.done()
    properties.done()
    settings.done()
    return rule


def _sql_filter(settings: Settings) -> Filter:
    try:
        return parse_sql_filter(settings.text("SqlExpression"))
    except FilterError as error:
        raise settings.error(f"SqlExpression: {error}") from error


def _correlation_filter(settings: Settings) -> Filter:
    system = {
        name: settings.text(field)
        for field, name in _CORRELATION_FIELDS.items()
        if settings.has(field)
    }
    properties = settings.nested("Properties")
    user = {name: properties.scalar(name) for name in properties.names()}
    if not system and not user:
        raise settings.error("CorrelationFilter names no property")
    return CorrelationFilter(system, user)


def _named(kind: str, parent: str, value: object) -> Settings:
    name = value.get("Name") if isinstance(value, dict) else None
    where = f"{parent}, {kind} {name!r}" if parent else f"{kind} {name!r}"
    settings = Settings(where, value)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise settings.error("Name must be letters, digits, dots, dashes and underscores")
    return settings


def _refuse_doubles(settings: Settings, names: list[str]) -> None:
    lower = [name.lower() for name in names]
    doubles = {name for name in names if lower.count(name.lower()) > 1}
    if doubles:
        raise settings.error(f"declared more than once: {', '.join(sorted(doubles))}")
