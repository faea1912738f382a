"""host.json, its overrides, and the app settings."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from local.host.app_settings import UnresolvedName, read_app_settings, resolve_names
from local.host.config import HostConfig, read_host_config
from local.host.errors import HostError
from local.host.host_json import parse_timespan

STORAGE = {"AzureWebJobsStorage": "local"}


def read(folder: Path, host_json: Any, **settings: str) -> HostConfig:
    text = host_json if isinstance(host_json, str) else json.dumps(host_json)
    (folder / "host.json").write_text(text)
    return read_host_config(folder, {**STORAGE, **settings})


def test_an_empty_host_json_means_the_defaults(tmp_path: Path) -> None:
    config = read(tmp_path, {})
    assert config.route_prefix == "api"
    assert config.function_timeout == timedelta(minutes=30)
    assert config.functions is None
    assert config.service_bus.prefetch_count == 0
    assert config.service_bus.max_concurrent_calls % 16 == 0
    assert config.service_bus.max_auto_lock_renewal == timedelta(minutes=5)
    assert config.durable.hub_name == "TestHubName"
    assert config.durable.work_item_visibility == timedelta(minutes=5)


def test_values_are_read_whatever_the_case_of_their_keys(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        {
            "version": "2.0",
            "functionTimeout": "00:10:00",
            "functions": ["hello"],
            "extensions": {
                "http": {"routePrefix": "", "customHeaders": {"X-Cust": "yes"}},
                "ServiceBus": {"MaxConcurrentCalls": 4, "maxAutoLockRenewalDuration": "00:06:00"},
                "durableTask": {
                    "hubName": "HubA",
                    "maxConcurrentActivityFunctions": 7,
                    "storageProvider": {"workItemQueueVisibilityTimeout": "00:00:30"},
                },
            },
        },
    )
    assert config.route_prefix == ""
    assert config.custom_headers == {"X-Cust": "yes"}
    assert config.function_timeout == timedelta(minutes=10)
    assert config.functions == {"hello"}
    assert config.service_bus.max_concurrent_calls == 4
    assert config.service_bus.max_auto_lock_renewal == timedelta(minutes=6)
    assert config.durable.hub_name == "HubA"
    assert config.durable.max_concurrent_activities == 7
    assert config.durable.work_item_visibility == timedelta(seconds=30)


def test_a_setting_overrides_host_json(tmp_path: Path) -> None:
    name = "AzureFunctionsJobHost__extensions__http__routePrefix"
    config = read(tmp_path, {"extensions": {"http": {"routePrefix": "api"}}}, **{name: "pre"})
    assert config.route_prefix == "pre"


def test_a_function_timeout_of_minus_one_is_none(tmp_path: Path) -> None:
    assert read(tmp_path, {"functionTimeout": "-1"}).function_timeout is None


def test_the_hub_name_may_come_from_a_setting(tmp_path: Path) -> None:
    config = read(tmp_path, {"extensions": {"durableTask": {"hubName": "%HUB%"}}}, HUB="HubB")
    assert config.durable.hub_name == "HubB"


def durable(**values: Any) -> dict[str, Any]:
    return {"extensions": {"durableTask": values}}


@pytest.mark.parametrize(
    ("host_json", "reason"),
    [
        ('{"extensions": {"http": ', "Unable to parse host configuration file"),
        ("[]", "Unable to parse host configuration file"),
        ({"version": "1.0"}, "'1.0' is an invalid value for host.json 'version'"),
        (
            {"extensions": {"serviceBus": {"maxConcurrentCalls": "many"}}},
            "AzureFunctionsJobHost:extensions:serviceBus:maxConcurrentCalls.*'many'",
        ),
        (
            durable(maxConcurrentActivityFunctions="many"),
            "AzureFunctionsJobHost:extensions:durableTask:maxConcurrentActivityFunctions",
        ),
        (durable(extendedSessionsEnabled=True), "extendedSessionsEnabled"),
        (durable(hubName="bad-name!"), "Task hub name 'bad-name!'"),
        (durable(hubName="%NOHUB%"), "Task hub name '%NOHUB%'"),
        ({"functionTimeout": "soon"}, "functionTimeout.*'soon'"),
    ],
)
def test_what_breaks_a_rule_is_a_host_error_that_names_it(
    tmp_path: Path, host_json: Any, reason: str
) -> None:
    with pytest.raises(HostError, match=reason):
        read(tmp_path, host_json)


def test_a_missing_host_json_is_a_host_error(tmp_path: Path) -> None:
    with pytest.raises(HostError, match=r"no host\.json"):
        read_host_config(tmp_path, STORAGE)


def test_missing_storage_is_a_host_error(tmp_path: Path) -> None:
    (tmp_path / "host.json").write_text("{}")
    with pytest.raises(HostError, match="AzureWebJobsStorage"):
        read_host_config(tmp_path, {})


def test_identity_based_storage_counts_as_storage(tmp_path: Path) -> None:
    (tmp_path / "host.json").write_text("{}")
    settings = {"AzureWebJobsStorage__accountName": "account"}
    assert read_host_config(tmp_path, settings).route_prefix == "api"


def test_another_storage_connection_is_a_setting_of_its_name(tmp_path: Path) -> None:
    provider = {"storageProvider": {"connectionName": "Jobs"}}
    (tmp_path / "host.json").write_text(json.dumps({"extensions": {"durableTask": provider}}))
    with pytest.raises(HostError, match="connection named 'Jobs'"):
        read_host_config(tmp_path, STORAGE)
    for name in ("Jobs", "AzureWebJobsJobs"):
        assert read_host_config(tmp_path, {name: "local"}).durable.connection == "Jobs"


@pytest.mark.parametrize(
    "text",
    [
        '{"version": "2.0" /* http://x */, // comment\n "functions": ["a // b"]}',
        '{"version": "2.0", "functions": ["a // b"],}',
    ],
)
def test_comments_and_trailing_commas_are_read_but_noted(tmp_path: Path, text: str) -> None:
    config = read(tmp_path, text)
    assert not config.strict_json
    assert config.functions is None or config.functions == {"a // b"}


def test_app_settings_are_the_values_of_local_settings_json(tmp_path: Path) -> None:
    path = tmp_path / "local.settings.json"
    assert read_app_settings(tmp_path) == {}
    path.write_text('{"IsEncrypted": false, "Values": {"A": "1"}}')
    assert read_app_settings(tmp_path) == {"A": "1"}


@pytest.mark.parametrize(
    ("text", "reason"), [("{", "Unable to parse"), ('{"Values": {"A": 1}}', "value of A")]
)
def test_app_settings_must_be_json_with_texts(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "local.settings.json").write_text(text)
    with pytest.raises(HostError, match=reason):
        read_app_settings(tmp_path)


def test_names_in_percent_signs_stand_for_settings() -> None:
    assert resolve_names("a-%TOPIC%-%X%", {"TOPIC": "jobs", "X": "1"}) == "a-jobs-1"
    with pytest.raises(UnresolvedName, match="'%TOPIC%' does not resolve to a value"):
        resolve_names("%TOPIC%", {"TOPIC": ""})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("00:05:00", timedelta(minutes=5)),
        ("1.02:03:04", timedelta(days=1, hours=2, minutes=3, seconds=4)),
        ("00:00:00.5", timedelta(seconds=0.5)),
        ("0 */5 * * * *", None),
        ("5", None),
    ],
)
def test_time_spans(text: str, value: timedelta | None) -> None:
    assert parse_timespan(text) == value
