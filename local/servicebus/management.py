"""The `$management` node of an entity: requests on messages that are no deliveries on a link."""

from collections.abc import Callable, Iterable
from uuid import UUID

from proton import UNDESCRIBED, Array, Data, Message, int32, symbol

from local.servicebus.broker import Broker
from local.servicebus.entities import Entity, Queue, TopicEntity
from local.servicebus.errors import BrokerError, InvalidRequest, NotAllowed, NotImplementedHere
from local.servicebus.links import changes
from local.servicebus.receiving import Delivery
from local.servicebus.settlement import DESCRIPTION_PROPERTY, REASON_PROPERTY

SUFFIX = "/$management"

MOST_PEEKED = 250
LARGEST_PEEK = 1_048_576
"""Messages and bytes that one peek answers with."""

type Body = dict[str, object]


class Management:
    """Answers the requests on one entity with the codes and types that Azure answers with."""

    def __init__(self, broker: Broker, entity: Entity) -> None:
        self._broker = broker
        self._entity = entity
        self._operations: dict[str, Callable[[Body], tuple[int, Body | None]]] = {
            "com.microsoft:renew-lock": self._renew_locks,
            "com.microsoft:peek-message": self._peek,
            "com.microsoft:schedule-message": self._schedule,
            "com.microsoft:cancel-scheduled-message": self._cancel,
            "com.microsoft:receive-by-sequence-number": self._receive_deferred,
            "com.microsoft:update-disposition": self._update_disposition,
        }

    def answer(self, request: Message) -> Message:
        try:
            status, body = self._operate(request)
        except BrokerError as error:
            return Message(
                properties={
                    "statusCode": int32(error.status),
                    "statusDescription": str(error),
                    "errorCondition": symbol(error.condition),
                }
            )
        text = "OK" if status == 200 else "No Content"
        properties = {"statusCode": int32(status), "statusDescription": text}
        return Message(body=body, properties=properties)

    def _operate(self, request: Message) -> tuple[int, Body | None]:
        properties: Body = request.properties or {}
        name = properties.get("operation")
        operation = self._operations.get(str(name))
        if operation is None:
            raise NotImplementedHere(f"The operation {name!r} is not offered.")
        if not isinstance(request.body, dict):
            raise InvalidRequest(f"The body of {name!r} must be a map.")
        return operation(request.body)

    def _renew_locks(self, body: Body) -> tuple[int, Body | None]:
        expirations = self._broker.settlement.renew(self._queue(), _tokens(body))
        return 200, {"expirations": _array(Data.TIMESTAMP, expirations)}

    def _peek(self, body: Body) -> tuple[int, Body | None]:
        start = _integer(body, "from-sequence-number")
        count = min(_integer(body, "message-count"), MOST_PEEKED)
        found = self._broker.receiving.peek(self._entity, start, count, LARGEST_PEEK)
        if not found:
            return 204, None
        return 200, {"messages": [{"message": delivery.encoded} for delivery in found]}

    def _schedule(self, body: Body) -> tuple[int, Body | None]:
        messages = [_encoded(message) for message in _list(body, "messages")]
        numbers = self._broker.publishing.publish(self._topic(), messages)
        return 200, {"sequence-numbers": _array(Data.LONG, numbers)}

    def _cancel(self, body: Body) -> tuple[int, Body | None]:
        self._broker.publishing.cancel(self._topic(), _numbers(body))
        return 200, None

    def _receive_deferred(self, body: Body) -> tuple[int, Body | None]:
        deliveries = self._broker.receiving.receive_deferred(
            self._queue(), _numbers(body), delete=_integer(body, "receiver-settle-mode") == 0
        )
        return 200, {"messages": [_received(delivery) for delivery in deliveries]}

    def _update_disposition(self, body: Body) -> tuple[int, Body | None]:
        queue = self._queue()
        settlement = self._broker.settlement
        tokens = _tokens(body)
        modified = changes(body.get("properties-to-modify"))
        status = body.get("disposition-status")
        for token in tokens:
            settlement.held(queue, token)
        for token in tokens:
            match status:
                case "completed":
                    settlement.complete(queue, token)
                case "abandoned":
                    settlement.abandon(queue, token, modified)
                case "defered":
                    settlement.defer(queue, token, modified)
                case "suspended":
                    settlement.dead_letter(queue, token, modified | _why(body))
                case _:
                    raise InvalidRequest(f"The disposition {status!r} is not known.")
        return 200, None

    def _topic(self) -> TopicEntity:
        if not isinstance(self._entity, TopicEntity):
            raise NotAllowed(f"'{self._entity.address}' is not a topic.")
        return self._entity

    def _queue(self) -> Queue:
        if isinstance(self._entity, TopicEntity):
            raise NotAllowed(f"'{self._entity.address}' is a topic, not a subscription.")
        return self._entity


def _array(kind: int, values: list[int]) -> Array:
    # Proton's own mark for elements without descriptor does not fit the type it declares.
    return Array(UNDESCRIBED, kind, *values)  # type: ignore[arg-type]


def _received(delivery: Delivery) -> Body:
    token = {} if delivery.lock_token is None else {"lock-token": delivery.lock_token}
    return {**token, "message": delivery.encoded}


def _why(body: Body) -> dict[str, bytes]:
    return changes(
        {
            name: body[key]
            for key, name in (
                ("deadletter-reason", REASON_PROPERTY),
                ("deadletter-description", DESCRIPTION_PROPERTY),
            )
            if body.get(key) is not None
        }
    )


def _encoded(message: object) -> bytes:
    encoded = message.get("message") if isinstance(message, dict) else None
    if not isinstance(encoded, bytes | memoryview):
        raise InvalidRequest("Every message must be a map with the encoded 'message'.")
    return bytes(encoded)


def _integer(body: Body, key: str) -> int:
    value = body.get(key)
    if not isinstance(value, int):
        raise InvalidRequest(f"'{key}' must be a number.")
    return int(value)


def _list(body: Body, key: str) -> list[object]:
    value = body.get(key)
    elements: Iterable[object] | None = value.elements if isinstance(value, Array) else None
    if elements is None and isinstance(value, list):
        elements = value
    if elements is None:
        raise InvalidRequest(f"'{key}' must be a list.")
    return list(elements)


def _numbers(body: Body) -> list[int]:
    numbers = _list(body, "sequence-numbers")
    if not all(isinstance(number, int) for number in numbers):
        raise InvalidRequest("'sequence-numbers' must be numbers.")
    return [int(str(number)) for number in numbers]


def _tokens(body: Body) -> list[UUID]:
    tokens = _list(body, "lock-tokens")
    if not all(isinstance(token, UUID) for token in tokens):
        raise InvalidRequest("'lock-tokens' must be UUIDs.")
    return [UUID(str(token)) for token in tokens]
