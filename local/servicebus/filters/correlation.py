"""Correlation filters: every property that they name must be equal."""

from dataclasses import dataclass

from local.servicebus.filters.expressions import Properties, Value, compare


@dataclass(frozen=True)
class CorrelationFilter:
    """`system` holds lower-case system property names, `user` application property names."""

    system: dict[str, str]
    user: dict[str, Value]

    def matches(self, message: Properties) -> bool:
        return all(
            compare("=", message.system(name), wanted) for name, wanted in self.system.items()
        ) and all(compare("=", message.user(name), wanted) for name, wanted in self.user.items())
