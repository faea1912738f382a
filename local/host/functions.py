"""What the worker found in the app: functions and bindings, and why one of them can't be used."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from local.host.app_settings import UnresolvedName, is_true, resolve_names
from local.host.protocol import RpcFunctionMetadata

TRIGGERS = (
    "httpTrigger",
    "serviceBusTrigger",
    "timerTrigger",
    "orchestrationTrigger",
    "activityTrigger",
)
OTHER_BINDINGS = ("http", "durableClient")
RESOLVED_SETTINGS = ("topicName", "subscriptionName", "schedule")
"""Binding settings in which `%NAME%` stands for an app setting."""


class FunctionInError(Exception):
    """Only this function can't run; the text says why."""


@dataclass(frozen=True)
class Binding:
    """One binding as the app declares it; `settings` are its remaining JSON members."""

    type: str
    name: str
    settings: Mapping[str, Any]

    def text(self, setting: str) -> str:
        """A setting that must be there."""
        value = self.settings.get(setting)
        if not isinstance(value, str) or not value:
            raise FunctionInError(f"The {self.type} binding '{self.name}' has no {setting}.")
        return value


@dataclass(frozen=True)
class Function:
    """One function that the host can call; `declared` are its bindings as the app has them."""

    name: str
    id: str
    script_file: str
    directory: str
    bindings: Sequence[Binding]
    entry_point: str = ""
    declared: Sequence[Mapping[str, Any]] = ()
    has_retry_policy: bool = False
    disabled: bool = False

    @property
    def trigger(self) -> Binding:
        """The binding that starts it."""
        return next(binding for binding in self.bindings if binding.type in TRIGGERS)

    @property
    def client_inputs(self) -> list[str]:
        """The parameters that want a durable client."""
        return [binding.name for binding in self.bindings if binding.type == "durableClient"]


def read_function(found: RpcFunctionMetadata, settings: Mapping[str, str]) -> Function:
    """The function as the worker described it, with `%NAME%` in its bindings replaced.

    Raises FunctionInError when the host can't run it.
    """
    function = Function(
        name=found.name,
        id=found.function_id,
        script_file=found.script_file,
        directory=found.directory,
        bindings=[_read_binding(text, settings) for text in found.raw_bindings],
        entry_point=found.entry_point,
        declared=[json.loads(text) for text in found.raw_bindings],
        has_retry_policy=found.retry_options is not None,
        disabled=is_disabled(found.name, settings),
    )
    _check(function)
    return function


def load_order(name: str) -> str:
    """The key that orders functions: case is ignored and `_` comes after the letters."""
    return name.upper()


def is_disabled(name: str, settings: Mapping[str, str]) -> bool:
    """Whether an app setting disables the function; a double underscore has no effect."""
    names = (f"AzureWebJobs.{name}.Disabled", f"AzureWebJobs_{name}_Disabled")
    return any(is_true(settings.get(setting, "")) for setting in names)


def _read_binding(text: str, settings: Mapping[str, str]) -> Binding:
    members = json.loads(text)
    for name in RESOLVED_SETTINGS:
        if name in members:
            members[name] = _resolved(members[name], settings)
    return Binding(members.pop("type"), members.pop("name"), members)


def _resolved(text: str, settings: Mapping[str, str]) -> str:
    try:
        return resolve_names(text, settings)
    except UnresolvedName as error:
        raise FunctionInError(str(error)) from None


def _check(function: Function) -> None:
    unknown = [
        b.type for b in function.bindings if b.type not in TRIGGERS and b.type not in OTHER_BINDINGS
    ]
    if unknown:
        names = ", ".join(repr(name) for name in unknown)
        raise FunctionInError(f"The binding type(s) {names} are not registered.")
    if function.has_retry_policy:
        raise FunctionInError("A retry policy is not supported by the local host.")
    if function.trigger.settings.get("cardinality", "ONE").upper() != "ONE":
        raise FunctionInError("Cardinality 'many' is not supported by the local host.")
