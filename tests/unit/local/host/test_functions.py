"""What the worker found, and why the host refuses one function of it."""

import json
from typing import Any

import pytest

from local.host.functions import Function, FunctionInError, is_disabled, read_function
from local.host.protocol import RpcFunctionMetadata, RpcRetryOptions


def found(*bindings: dict[str, Any], retry: RpcRetryOptions | None = None) -> RpcFunctionMetadata:
    return RpcFunctionMetadata(
        name="on_msg",
        function_id="id",
        directory="app",
        script_file="function_app.py",
        entry_point="on_msg",
        language="python",
        raw_bindings=[json.dumps(binding) for binding in bindings],
        bindings={},
        retry_options=retry,
        properties={},
    )


TRIGGER = {
    "type": "serviceBusTrigger",
    "name": "msg",
    "direction": "IN",
    "topicName": "%TOPIC%",
    "subscriptionName": "sub",
    "connection": "SB",
}


def read(*bindings: dict[str, Any], retry: RpcRetryOptions | None = None) -> Function:
    return read_function(found(*bindings, retry=retry), {"TOPIC": "jobs"})


def test_names_in_trigger_settings_are_resolved() -> None:
    function = read({"type": "durableClient", "name": "client"}, TRIGGER)
    assert function.trigger.text("topicName") == "jobs"
    assert function.client_inputs == ["client"]


def test_an_unresolved_name_puts_the_function_in_error() -> None:
    with pytest.raises(FunctionInError, match="'%NONE%' does not resolve"):
        read({**TRIGGER, "topicName": "%NONE%"})


def test_an_unknown_binding_type_puts_the_function_in_error() -> None:
    with pytest.raises(FunctionInError, match=r"'nosuchTrigger' are not registered"):
        read({"type": "nosuchTrigger", "name": "x"})


def test_batches_of_messages_are_refused() -> None:
    with pytest.raises(FunctionInError, match="Cardinality 'many'"):
        read({**TRIGGER, "cardinality": "MANY"})


def test_retry_policies_are_refused() -> None:
    with pytest.raises(FunctionInError, match="retry policy"):
        read(TRIGGER, retry=RpcRetryOptions(max_retry_count=2))


@pytest.mark.parametrize(
    ("setting", "value", "disabled"),
    [
        ("AzureWebJobs.tick.Disabled", "true", True),
        ("AzureWebJobs.tick.Disabled", "True", True),
        ("AzureWebJobs.tick.Disabled", "1", True),
        ("AzureWebJobs.tick.Disabled", "no", False),
        ("AzureWebJobs_tick_Disabled", "true", True),
        ("AzureWebJobs__tick__Disabled", "true", False),
    ],
)
def test_a_setting_disables_a_function(setting: str, value: str, disabled: bool) -> None:
    assert is_disabled("tick", {setting: value}) == disabled
