"""One message: its encoded bytes, what the broker reads of them, and the form it leaves in."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from local.servicebus import raw
from local.servicebus.filters import Value
from local.servicebus.raw import DecodeError

LARGEST_MESSAGE = 262_144
"""Bytes of one message or batch with all its properties: Azure's standard tier."""

_PROPERTY_FIELDS = {
    "messageid": 0,
    "to": 2,
    "label": 3,
    "subject": 3,
    "replyto": 4,
    "correlationid": 5,
    "contenttype": 6,
    "sessionid": 10,
    "replytosessionid": 12,
}
_SCHEDULED_TIME = "x-opt-scheduled-enqueue-time"
_PARTITION_KEY = "x-opt-partition-key"
_BROKER_ANNOTATIONS = {
    "x-opt-sequence-number",
    "x-opt-enqueued-time",
    "x-opt-locked-until",
    "x-opt-message-state",
    "x-opt-lock-token",
}
_LONGEST_HEADER_TTL = 2**32 - 1


@dataclass(frozen=True)
class Stamp:
    """What the broker adds to a message that it hands out; times in milliseconds.

    `locked_until` is None for a message that is only looked at or already deleted.
    """

    sequence_number: int
    enqueued: int
    delivery_count: int
    state: int
    time_to_live: int | None
    locked_until: int | None


class Message:
    """An encoded message, its sections found but the body never read."""

    def __init__(self, encoded: bytes) -> None:
        self.encoded = encoded
        self._sections = raw.sections(encoded)

    def check(self) -> None:
        """Raise DecodeError unless everything in front of the body can be read."""
        _ = self._header, self._annotations, self._properties, self._application_properties

    @property
    def message_id(self) -> str | None:
        value = self.system("messageid")
        return None if value is None else str(value)

    @property
    def time_to_live(self) -> int | None:
        """Milliseconds; Azure observes the header's and ignores the absolute expiry time."""
        value = raw.decode(self._header[2]) if len(self._header) > 2 else None
        return value if isinstance(value, int) else None

    @property
    def scheduled_for(self) -> int | None:
        """The time from which on the message may be delivered, in milliseconds."""
        value = self._annotation(_SCHEDULED_TIME)
        return round(value.timestamp() * 1000) if isinstance(value, datetime) else None

    def system(self, name: str) -> Value:
        """The system property `name` (lower case); ids of other types than text become text."""
        if name == "partitionkey":
            return self._annotation(_PARTITION_KEY)
        index = _PROPERTY_FIELDS[name]
        value = raw.decode(self._properties[index]) if index < len(self._properties) else None
        return value if value is None or isinstance(value, str) else str(value)

    def user(self, name: str) -> Value:
        return self._user_values.get(name.lower())

    def has_user(self, name: str) -> bool:
        return name.lower() in self._user_values

    def with_message_id(self, message_id: str) -> bytes:
        """The message's bytes with the id `message_id`."""
        fields = [raw.string(message_id), *self._properties[1:]]
        return self._with(raw.list_section(raw.PROPERTIES, fields))

    def with_application_properties(self, changes: dict[str, bytes]) -> bytes:
        """The message's bytes with the (encoded) `changes` in its application properties."""
        kept = [
            (key, value)
            for key, value in self._application_properties
            if raw.decode(key) not in changes
        ]
        added = [(raw.string(name), value) for name, value in changes.items()]
        return self._with(raw.map_section(raw.APPLICATION_PROPERTIES, kept + added))

    def stamped(self, stamp: Stamp) -> bytes:
        """The form in which the message leaves: a header and annotations of ours in front."""
        header = (self._header + [raw.NULL] * 5)[:5]
        if stamp.time_to_live is not None and stamp.time_to_live <= _LONGEST_HEADER_TTL:
            header[2] = raw.unsigned(stamp.time_to_live)
        header[4] = raw.unsigned(stamp.delivery_count)
        kept = [
            (key, value)
            for key, value in self._annotations
            if raw.decode(key) not in _BROKER_ANNOTATIONS
        ]
        return (
            raw.list_section(raw.HEADER, header)
            + raw.map_section(raw.MESSAGE_ANNOTATIONS, _annotations(stamp) + kept)
            + self.encoded[self._end_before(raw.PROPERTIES) :]
        )

    def _with(self, section: bytes) -> bytes:
        """The message's bytes with `section` in the place of the one of its kind."""
        code, _ = raw.described(section, 0)
        before, after = self._end_before(code), self._end_before(code + 1)
        return self.encoded[:before] + section + self.encoded[after:]

    def _annotation(self, name: str) -> Value:
        for key, value in self._annotations:
            if raw.decode(key) == name:
                return raw.decode(value)
        return None

    @cached_property
    def _header(self) -> list[bytes]:
        return self._list(raw.HEADER)

    @cached_property
    def _properties(self) -> list[bytes]:
        return self._list(raw.PROPERTIES)

    @cached_property
    def _annotations(self) -> list[tuple[bytes, bytes]]:
        return self._map(raw.MESSAGE_ANNOTATIONS)

    @cached_property
    def _application_properties(self) -> list[tuple[bytes, bytes]]:
        return self._map(raw.APPLICATION_PROPERTIES)

    @cached_property
    def _user_values(self) -> dict[str, Value]:
        return {
            str(raw.decode(key)).lower(): raw.decode(value)
            for key, value in self._application_properties
        }

    def _list(self, code: int) -> list[bytes]:
        at = self._value_of(code)
        return [] if at is None else raw.list_items(self.encoded, at)

    def _map(self, code: int) -> list[tuple[bytes, bytes]]:
        at = self._value_of(code)
        return [] if at is None else raw.map_items(self.encoded, at)

    def _value_of(self, code: int) -> int | None:
        for found, start, _ in self._sections:
            if found == code:
                return raw.described(self.encoded, start)[1]
        return None

    def _end_before(self, code: int) -> int:
        """Where the sections in front of `code` end."""
        starts = (start for found, start, _ in self._sections if found >= code)
        return next(starts, len(self.encoded))


def _annotations(stamp: Stamp) -> list[tuple[bytes, bytes]]:
    annotations = [
        (raw.symbol("x-opt-sequence-number"), raw.long(stamp.sequence_number)),
        (raw.symbol("x-opt-enqueued-time"), raw.timestamp(stamp.enqueued)),
        (raw.symbol("x-opt-message-state"), raw.integer(stamp.state)),
    ]
    if stamp.locked_until is not None:
        annotations.append((raw.symbol("x-opt-locked-until"), raw.timestamp(stamp.locked_until)))
    return annotations


def split_batch(encoded: bytes) -> list[bytes]:
    """The messages of a batch (message format 0x80013700): one in each data section."""
    messages = []
    for code, start, _ in raw.sections(encoded):
        if code == raw.DATA:
            at = raw.described(encoded, start)[1]
            content, end = raw.payload(encoded, at)
            messages.append(encoded[content:end])
    if not messages:
        raise DecodeError("the batch holds no message")
    return messages
