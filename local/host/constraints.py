"""Inline constraints of route templates, as in `{id:guid}`."""

import re
from collections.abc import Callable, Mapping

Constraint = Callable[[str], bool]
_HEX = "[0-9A-Fa-f]"
GUID = re.compile(rf"{_HEX}{{32}}|(\{{)?{_HEX}{{8}}(-{_HEX}{{4}}){{3}}-{_HEX}{{12}}(?(1)\}})")


def _is_integer(bits: int) -> Constraint:
    limit = 2 ** (bits - 1)

    def check(value: str) -> bool:
        return bool(re.fullmatch(r"[+-]?\d+", value)) and -limit <= int(value) < limit

    return check


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _is_guid(value: str) -> bool:
    return GUID.fullmatch(value) is not None


def _in_range(arguments: str) -> Constraint:
    low, high = (int(text) for text in arguments.split(","))
    return lambda value: _is_integer(64)(value) and low <= int(value) <= high


def _has_length(arguments: str) -> Constraint:
    low, _, high = arguments.partition(",")
    return lambda value: int(low) <= len(value) <= int(high or low)


CONSTRAINTS: Mapping[str, Callable[[str], Constraint]] = {
    "int": lambda _: _is_integer(32),
    "long": lambda _: _is_integer(64),
    "guid": lambda _: _is_guid,
    "bool": lambda _: lambda value: value.lower() in ("true", "false"),
    "decimal": lambda _: _is_number,
    "double": lambda _: _is_number,
    "float": lambda _: _is_number,
    "alpha": lambda _: lambda value: bool(re.fullmatch("[A-Za-z]*", value)),
    "required": lambda _: bool,
    "min": lambda low: lambda value: _is_integer(64)(value) and int(value) >= int(low),
    "max": lambda high: lambda value: _is_integer(64)(value) and int(value) <= int(high),
    "range": _in_range,
    "minlength": lambda low: lambda value: len(value) >= int(low),
    "maxlength": lambda high: lambda value: len(value) <= int(high),
    "length": _has_length,
    "regex": lambda pattern: lambda value: bool(re.search(pattern, value, re.IGNORECASE)),
}
"""Inline constraints of ASP.NET routing; `datetime`, `file` and `nonfile` are left out."""
