"""A T-SQL script as sqlcmd reads it: variables as `$(Name)`, batches that end with GO."""

import re
from collections.abc import Mapping

_VARIABLE = re.compile(r"\$\((\w+)\)")
_IDENTITY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)
_GO = re.compile(r"^\s*GO\s*$", re.MULTILINE | re.IGNORECASE)


def batches(script: str, variables: Mapping[str, str]) -> list[str]:
    """The batches in their order.

    Raises ValueError for a variable without a value, and for a value that is no identity's name:
    it would stand in the statements as it is.
    """
    text = _VARIABLE.sub(lambda match: _value(match[1], variables), _COMMENT.sub("", script))
    return [batch.strip() for batch in _GO.split(text) if batch.strip()]


def _value(name: str, variables: Mapping[str, str]) -> str:
    value = variables.get(name, "")
    if not _IDENTITY.fullmatch(value):
        raise ValueError(f"{name} must be the name of an identity, not {value!r}")
    return value
