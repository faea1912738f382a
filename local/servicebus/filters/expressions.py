"""The parts of a SQL filter and how each is evaluated.

Predicates are true, false or unknown (None), with SQL's tables for AND, OR and NOT; a message
passes only when the whole is true. A property that is missing or null is unknown, and so is a
comparison of kinds that cannot be compared (text with a number).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Protocol, runtime_checkable
from uuid import UUID

type Value = str | bool | int | float | bytes | UUID | datetime | None


class Properties(Protocol):
    """What a filter may ask of a message. Names of user properties ignore case."""

    def system(self, name: str) -> Value:
        """The system property `name` (lower case), None where the message has none."""

    def user(self, name: str) -> Value:
        """The application property `name`, None where it is missing or null."""

    def has_user(self, name: str) -> bool:
        """Whether there is an application property `name`, be it null."""


@runtime_checkable
class Expression(Protocol):
    """Something with a value."""

    def value(self, message: Properties) -> Value: ...


@runtime_checkable
class Predicate(Protocol):
    """Something that is true, false or unknown."""

    def truth(self, message: Properties) -> bool | None: ...


@dataclass(frozen=True)
class SqlFilter:
    """A whole filter, with the text it was made from."""

    text: str
    predicate: Predicate

    def matches(self, message: Properties) -> bool:
        return self.predicate.truth(message) is True


@dataclass(frozen=True)
class Constant:
    constant: Value

    def value(self, message: Properties) -> Value:
        return self.constant


@dataclass(frozen=True)
class SystemProperty:
    name: str

    def value(self, message: Properties) -> Value:
        return message.system(self.name)

    def exists(self, message: Properties) -> bool:
        return message.system(self.name) is not None


@dataclass(frozen=True)
class UserProperty:
    name: str

    def value(self, message: Properties) -> Value:
        return message.user(self.name)

    def exists(self, message: Properties) -> bool:
        return message.has_user(self.name)


type Property = SystemProperty | UserProperty

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": eq,
    "<>": ne,
    "!=": ne,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
}


def compare(operator: str, left: Value, right: Value) -> bool | None:
    """`left operator right`; None where either is missing or the two cannot be compared."""
    if left is None or right is None or _family(left) is not _family(right):
        return None
    if _family(left) in (bool, bytes, UUID) and operator not in ("=", "<>", "!="):
        return None
    return OPERATORS[operator](left, right)


def _family(value: Value) -> type:
    return float if type(value) is int else type(value)


@dataclass(frozen=True)
class Comparison:
    operator: str
    left: Expression
    right: Expression

    def truth(self, message: Properties) -> bool | None:
        return compare(self.operator, self.left.value(message), self.right.value(message))


@dataclass(frozen=True)
class In:
    """Unknown only where the left side is; an unknown in the list is just no match."""

    left: Expression
    choices: tuple[Expression, ...]

    def truth(self, message: Properties) -> bool | None:
        left = self.left.value(message)
        if left is None:
            return None
        return any(compare("=", left, choice.value(message)) for choice in self.choices)


@dataclass(frozen=True)
class Like:
    left: Expression
    pattern: re.Pattern[str]

    def truth(self, message: Properties) -> bool | None:
        left = self.left.value(message)
        return bool(self.pattern.fullmatch(left)) if isinstance(left, str) else None


@dataclass(frozen=True)
class IsNull:
    property: Property

    def truth(self, message: Properties) -> bool | None:
        return self.property.value(message) is None


@dataclass(frozen=True)
class Exists:
    property: Property

    def truth(self, message: Properties) -> bool | None:
        return self.property.exists(message)


@dataclass(frozen=True)
class Not:
    operand: Predicate

    def truth(self, message: Properties) -> bool | None:
        truth = self.operand.truth(message)
        return None if truth is None else not truth


@dataclass(frozen=True)
class And:
    operands: tuple[Predicate, ...]

    def truth(self, message: Properties) -> bool | None:
        truths = [operand.truth(message) for operand in self.operands]
        return False if False in truths else None if None in truths else True


@dataclass(frozen=True)
class Or:
    operands: tuple[Predicate, ...]

    def truth(self, message: Properties) -> bool | None:
        truths = [operand.truth(message) for operand in self.operands]
        return True if True in truths else None if None in truths else False
