"""What `host.json` and the app settings mean: read once, checked, and named when wrong."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from local.durable.engine import DurableOptions
from local.durable.links import CONNECTION
from local.host.app_settings import UnresolvedName, resolve_names
from local.host.errors import HostError
from local.host.host_json import Values, conversion_error, parse_timespan, read_document

CPUS = os.cpu_count() or 1


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


def read_host_config(app: Path, settings: Mapping[str, str]) -> HostConfig:
    """`host.json` with overrides from settings named `AzureFunctionsJobHost__a__b`.

    Raises HostError naming the key and the rule that it breaks.
    """
    document, strict = read_document(app / "host.json")
    if document.get("version", "2.0") != "2.0":
        raise HostError(
            f"'{document['version']}' is an invalid value for host.json 'version' property."
            " We recommend you set the 'version' property to '2.0'."
        )
    values = Values(document, settings)
    return HostConfig(
        route_prefix=values.text("extensions:http:routePrefix", "api").strip("/"),
        custom_headers=values.group("extensions:http:customHeaders"),
        functions=frozenset(document["functions"]) if "functions" in document else None,
        function_timeout=_function_timeout(values.text("functionTimeout", "00:30:00")),
        service_bus=_service_bus(values),
        durable=_durable(values, settings),
        strict_json=strict,
    )


def _function_timeout(text: str) -> timedelta | None:
    if text == "-1":
        return None
    value = parse_timespan(text)
    if value is None:
        raise conversion_error("functionTimeout", text, "a time span like 00:05:00, or -1")
    return value


def _service_bus(values: Values) -> ServiceBusOptions:
    values.boolean("extensions:serviceBus:autoCompleteMessages", True)
    return ServiceBusOptions(
        max_concurrent_calls=values.integer("extensions:serviceBus:maxConcurrentCalls", 16 * CPUS),
        prefetch_count=values.integer("extensions:serviceBus:prefetchCount", 0),
        max_auto_lock_renewal=values.timespan(
            "extensions:serviceBus:maxAutoLockRenewalDuration", "00:05:00"
        ),
    )


def _durable(values: Values, settings: Mapping[str, str]) -> DurableOptions:
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
