"""Reading what others send, tolerantly, and refusing it clearly."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NoReturn, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from shared.domain.errors import PermanentError

SCHEMA_VERSION = "1.0"
"""`major.minor` of every message that we send."""

_DOTNET_SERIALIZER = b"http://schemas.microsoft.com/2003/10/Serialization/"


class ContractError(PermanentError):
    """What breaks its contract. The text names the field and the rule, never the input."""


class Contract(BaseModel):
    """What crosses a boundary. Unknown fields are ignored; names match in any case."""

    model_config = ConfigDict(
        extra="ignore", frozen=True, hide_input_in_errors=True, validate_by_name=True
    )

    @model_validator(mode="before")
    @classmethod
    def _match_names_in_any_case(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        names = {name.casefold(): name for name in cls.model_fields}
        matched = {names.get(str(key).casefold(), str(key)): value for key, value in data.items()}
        exact = {key: value for key, value in data.items() if key in cls.model_fields}
        return matched | exact

    @classmethod
    def read(cls, document: Any) -> Self:
        """Validate a JSON document. Raises ContractError naming every wrong field and its rule."""
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            raise ContractError("contract_broken", _explain(cls.__name__, error)) from None


def read_json_object(body: bytes) -> dict[str, Any]:
    """A JSON object from UTF-8 bytes, with or without a byte-order mark.

    Raises ContractError with the reason code `body_empty`, `body_wrapped` (a .NET serializer's
    header is in front), `body_not_json` or `body_not_object`.
    """
    if not body.strip():
        raise ContractError("body_empty", "The body is empty; a JSON object is expected")
    if _DOTNET_SERIALIZER in body[:200]:
        raise ContractError(
            "body_wrapped",
            "The body is wrapped by a .NET serializer; send the JSON text itself as the body",
        )
    try:
        document = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise ContractError("body_not_json", "The body is not JSON in UTF-8") from None
    if not isinstance(document, dict):
        raise ContractError("body_not_object", "The body must be a JSON object")
    return document


def check_schema_version(version: object) -> None:
    """Accept an absent version and any `1.x`. Raises ContractError `version_unknown` otherwise."""
    if version is None:
        return
    major, _, minor = str(version).strip().partition(".")
    if major != SCHEMA_VERSION.partition(".")[0] or (minor and not minor.isdecimal()):
        raise ContractError(
            "version_unknown",
            f"schemaVersion must be 1.x; this release reads {SCHEMA_VERSION} and newer minors",
        )


def format_timestamp(moment: datetime) -> str:
    """UTC with three digits, as in `2024-01-01T00:00:00.000Z`. The moment must be aware."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _explain(name: str, error: ValidationError) -> str:
    problems = error.errors(include_input=False, include_context=False, include_url=False)
    return f"{name}: " + "; ".join(
        f"{'.'.join(str(part) for part in problem['loc']) or 'body'}: {problem['msg']}"
        for problem in problems
    )


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
