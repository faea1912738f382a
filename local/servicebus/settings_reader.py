"""Reads one JSON object of the configuration key by key, and refuses what nobody read."""

from local.servicebus.durations import parse_duration
from local.servicebus.filters import Value


class TopologyError(ValueError):
    """The configuration cannot be used; the message names the entity and the setting."""


class Settings:
    """The settings of one object; `where` names it in messages (`topic 'orders'`)."""

    def __init__(self, where: str, value: object) -> None:
        if not isinstance(value, dict):
            raise TopologyError(f"{where}: expected a JSON object")
        self.where = where
        self._values = dict(value)

    def error(self, text: str) -> TopologyError:
        return TopologyError(f"{self.where}: {text}")

    def has(self, key: str) -> bool:
        return self._values.get(key) is not None

    def names(self) -> list[str]:
        return list(self._values)

    def value(self, key: str) -> object:
        """The raw value of `key`, None where it is absent or null."""
        return self._values.pop(key, None)

    def text(self, key: str) -> str:
        """The text of `key`, which must be there and not be empty."""
        value = self.value(key)
        if not isinstance(value, str) or not value:
            raise self.error(f"{key} must be a text")
        return value

    def scalar(self, key: str) -> Value:
        """A text, number or flag."""
        value = self.value(key)
        if not isinstance(value, str | bool | int | float):
            raise self.error(f"{key} must be a text, a number, true or false, not {value!r}")
        return value

    def flag(self, key: str) -> bool:
        value = self.value(key)
        if value is not None and not isinstance(value, bool):
            raise self.error(f"{key} must be true or false, not {value!r}")
        return bool(value)

    def integer(self, key: str, default: int, largest: int) -> int:
        """A whole number from 1 to `largest`."""
        value = self.value(key)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= largest:
            raise self.error(f"{key} must be a whole number from 1 to {largest}, not {value!r}")
        return value

    def duration(self, key: str, largest: str | None = None) -> int | None:
        """Milliseconds, more than zero and not above the duration `largest`."""
        value = self.value(key)
        if value is None:
            return None
        try:
            milliseconds = parse_duration(str(value))
        except ValueError as error:
            raise self.error(f"{key}: {error}") from error
        if milliseconds == 0 or (largest and milliseconds > parse_duration(largest)):
            limit = f" and not above {largest}" if largest else ""
            raise self.error(f"{key} must be more than zero{limit}, not {value}")
        return milliseconds

    def objects(self, key: str) -> list[object]:
        value = self.value(key)
        if value is not None and not isinstance(value, list):
            raise self.error(f"{key} must be a list")
        return value or []

    def nested(self, key: str) -> "Settings":
        """The object under `key`, empty where it is absent."""
        value = self.value(key)
        return Settings(self.where, {} if value is None else value)

    def refuse(self, key: str, reason: str) -> None:
        """Stop at a setting that is known but not offered, unless it is off or empty."""
        value = self.value(key)
        if value:
            raise self.error(f"{key} is not supported: {reason}")

    def done(self) -> None:
        """Stop at the settings that nobody read."""
        if self._values:
            raise self.error(f"unknown setting {', '.join(sorted(self._values))}")
