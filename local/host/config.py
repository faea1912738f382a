"""`host.json` and the app settings: read once, checked, and named when they are wrong."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from local.durable.engine import DurableOptions
from local.durable.links import CONNECTION

OVERRIDE_PREFIX = "AzureFunctionsJobHost__"
CPUS = os.cpu_count() or 1


class HostError(Exception):
    """The whole host can't run: every path answers 503."""


class UnresolvedName(Exception):
    """`%NAME%` names no app setting."""


@dataclass(frozen=True)
class ServiceBusOptions:
    """How a subscription is received: calls at once per function, and how long locks are kept."""

    max_concurrent_calls: int
    prefetch_count: int
    max_auto_lock_renewal: timedelta


@dataclass(frozen=True)
class HostConfig:
    """What `host.json` says; `function_timeout` None means no limit."""

    route_prefix: str
    custom_headers: dict[str, str]
    functions: frozenset[str] | None
    function_timeout: timedelta | None
    service_bus: ServiceBusOptions
    durable: DurableOptions
    strict_json: bool = True


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


def read_host_config(app: Path, settings: Mapping[str, str]) -> HostConfig:
    """`host.json` with overrides from settings named `AzureFunctionsJobHost__a__b`.

    Raises HostError naming the key and the rule that it breaks.
    """
    document, strict = _read_document(app / "host.json")
    if document.get("version", "2.0") != "2.0":
        raise HostError(
            f"'{document['version']}' is an invalid value for host.json 'version' property."
            " We recommend you set the 'version' property to '2.0'."
        )
    values = _Values(document, settings)
    return HostConfig(
        route_prefix=values.text("extensions:http:routePrefix", "api").strip("/"),
        custom_headers=values.group("extensions:http:customHeaders"),
        functions=frozenset(document["functions"]) if "functions" in document else None,
        function_timeout=_function_timeout(values.text("functionTimeout", "00:30:00")),
        service_bus=_service_bus(values),
        durable=_durable(values, settings),
        strict_json=strict,
    )


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


def parse_timespan(text: str) -> timedelta | None:
    """`[days.]hh:mm:ss[.fraction]`; None when the text is something else."""
    match = re.fullmatch(r"(?:(\d+)\.)?(\d\d?):(\d\d):(\d\d(?:\.\d+)?)", text.strip())
    if match is None:
        return None
    days, hours, minutes, seconds = match.groups("0")
    return timedelta(days=int(days), hours=int(hours), minutes=int(minutes), seconds=float(seconds))


class _Values:
    """`host.json` as one flat table, as .NET's configuration keeps it: keys ignore case."""

    def __init__(self, document: Mapping[str, Any], settings: Mapping[str, str]) -> None:
        self._values = {path.lower(): (path, value) for path, value in _flatten(document)}
        for name, value in settings.items():
            if name.startswith(OVERRIDE_PREFIX):
                path = name.removeprefix(OVERRIDE_PREFIX).replace("__", ":")
                self._values[path.lower()] = path, value

    def text(self, path: str, default: str) -> str:
        _, value = self._values.get(path.lower(), (path, None))
        return default if value is None else str(value)

    def integer(self, path: str, default: int) -> int:
        text = self.text(path, str(default))
        if not re.fullmatch(r"-?\d+", text):
            raise _conversion(path, text, "a whole number")
        return int(text)

    def boolean(self, path: str, default: bool) -> bool:
        text = self.text(path, str(default)).lower()
        if text not in ("true", "false"):
            raise _conversion(path, text, "true or false")
        return text == "true"

    def timespan(self, path: str, default: str) -> timedelta:
        text = self.text(path, default)
        value = parse_timespan(text)
        if value is None:
            raise _conversion(path, text, "a time span like 00:05:00")
        return value

    def group(self, path: str) -> dict[str, str]:
        """The members below a path, with their names as they are written."""
        start = f"{path.lower()}:"
        found = self._values.items()
        return {own[len(start) :]: str(v) for key, (own, v) in found if key.startswith(start)}


def _conversion(path: str, text: str, wanted: str) -> HostError:
    return HostError(
        f"Failed to convert configuration value at 'AzureFunctionsJobHost:{path}':"
        f" '{text}' is not {wanted}."
    )


def _flatten(document: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in document.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}:")
        else:
            yield f"{prefix}{key}", value


def _read_document(path: Path) -> tuple[dict[str, Any], bool]:
    """The JSON object, and whether a strict reader accepts it (the worker has one)."""
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        raise HostError(f"There is no {path.name} in {path.parent}.") from None
    try:
        return _json_object(text), True
    except ValueError as error:
        try:
            return _json_object(_without_comments(text)), False
        except ValueError:
            raise HostError(
                f"Unable to parse host configuration file '{path.name}': {error}."
            ) from None


def _json_object(text: str) -> dict[str, Any]:
    document = json.loads(text)
    if not isinstance(document, dict):
        raise ValueError("it is not a JSON object")
    return document


def _without_comments(text: str) -> str:
    """Drop what the host forgives: comments, and commas before a closing bracket."""
    string = r'("(?:[^"\\]|\\.)*")'
    bare = re.sub(string + r"|//[^\n]*|/\*.*?\*/", r"\1", text, flags=re.DOTALL)
    return re.sub(string + r"|,(?=\s*[}\]])", r"\1", bare)


def _function_timeout(text: str) -> timedelta | None:
    if text == "-1":
        return None
    value = parse_timespan(text)
    if value is None:
        raise _conversion("functionTimeout", text, "a time span like 00:05:00, or -1")
    return value


def _service_bus(values: _Values) -> ServiceBusOptions:
    values.boolean("extensions:serviceBus:autoCompleteMessages", True)
    return ServiceBusOptions(
        max_concurrent_calls=values.integer("extensions:serviceBus:maxConcurrentCalls", 16 * CPUS),
        prefetch_count=values.integer("extensions:serviceBus:prefetchCount", 0),
        max_auto_lock_renewal=values.timespan(
            "extensions:serviceBus:maxAutoLockRenewalDuration", "00:05:00"
        ),
    )


def _durable(values: _Values, settings: Mapping[str, str]) -> DurableOptions:
    section = "extensions:durableTask"
    if values.boolean(f"{section}:extendedSessionsEnabled", False):
        raise HostError(
            "Durable Functions with extendedSessionsEnabled set to 'true' is only supported when"
            " using the in-process or isolated .NET worker."
        )
    connection = values.text(f"{section}:storageProvider:connectionName", CONNECTION)
    _check_storage(connection, settings)
    return DurableOptions(
        connection=connection,
        hub_name=_hub_name(values.text(f"{section}:hubName", "TestHubName"), settings),
        max_concurrent_activities=values.integer(
            f"{section}:maxConcurrentActivityFunctions", 10 * CPUS
        ),
        max_concurrent_orchestrators=values.integer(
            f"{section}:maxConcurrentOrchestratorFunctions", 10 * CPUS
        ),
        work_item_visibility=values.timespan(
            f"{section}:storageProvider:workItemQueueVisibilityTimeout", "00:05:00"
        ),
    )


def _check_storage(connection: str, settings: Mapping[str, str]) -> None:
    """A connection is a setting, or several with `__` in their names, `AzureWebJobs` before them.

    Nothing is connected to here; an app without it would not start in Azure.
    """
    given = {name.split("__")[0] for name, value in settings.items() if value}
    if not given & {connection, f"AzureWebJobs{connection}"}:
        raise HostError(
            f"Unable to resolve the Azure Storage connection named '{connection}'."
            f" Set AzureWebJobs{connection}."
        )


def _hub_name(text: str, settings: Mapping[str, str]) -> str:
    try:
        name = resolve_names(text, settings)
    except UnresolvedName:
        name = text
    if not re.fullmatch("[A-Za-z][A-Za-z0-9]{2,44}", name):
        raise HostError(
            f"Task hub name '{name}' should contain only alphanumeric characters,"
            " start with a letter, and have length between 3 and 45."
        )
    return name
