"""App settings: where they come from, and `%NAME%` in texts that stand for one."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from local.host.errors import HostError


class UnresolvedName(Exception):
    """`%NAME%` names no app setting."""


def read_app_settings(app: Path) -> dict[str, str]:
    """`Values` of `local.settings.json`, where it exists.

    Raises HostError when it is no JSON object of texts.
    """
    path = app / "local.settings.json"
    if not path.exists():
        return {}
    try:
        values = json.loads(path.read_text("utf-8-sig")).get("Values", {})
    except (ValueError, AttributeError) as error:
        raise HostError(f"Unable to parse {path.name}: {error}") from None
    for name, value in values.items():
        if not isinstance(value, str):
            raise HostError(f"{path.name}: the value of {name} must be a text")
    return dict(values)


def resolve_names(text: str, settings: Mapping[str, str]) -> str:
    """Replace every `%NAME%` by the app setting NAME; raises UnresolvedName."""

    def replace(match: re.Match[str]) -> str:
        if not (value := settings.get(match[1])):
            raise UnresolvedName(f"'%{match[1]}%' does not resolve to a value.")
        return value

    return re.sub("%([^%]+)%", replace, text)


def is_true(text: str) -> bool:
    """The texts that switch something on."""
    return text.strip().lower() in ("true", "1")
