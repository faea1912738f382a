"""What is prepared for the Azure Functions Core Tools."""

import json
from pathlib import Path
from typing import Any

import pytest

from local.settings import LocalSettings
from local.supervisor.environment import app_settings
from local.supervisor.plan import client_secret, func_settings_path, plan_for_core_tools


@pytest.fixture
def settings(tmp_path: Path) -> LocalSettings:
    return LocalSettings(tmp_path, 7071, 5672, 10100, 7081, 7082)


def written(settings: LocalSettings) -> dict[str, Any]:
    plan_for_core_tools(settings, {})
    document: dict[str, Any] = json.loads(func_settings_path(settings.data).read_text())
    return document


def test_every_part_but_the_host_is_started(settings: LocalSettings) -> None:
    [step] = plan_for_core_tools(settings, {})
    assert {part.name for part in step} == {"servicebus", "blob", "identity", "extractor"}


def test_the_settings_are_those_of_the_embedded_host_and_the_workers_language(
    settings: LocalSettings,
) -> None:
    document = written(settings)
    app = app_settings(settings, client_secret(settings.data))

    assert document["IsEncrypted"] is False
    storage = document["Values"].pop("AzureWebJobsStorage")
    assert document["Values"] == {
        **{name: value for name, value in app.items() if name != "AzureWebJobsStorage"},
        "FUNCTIONS_WORKER_RUNTIME": "python",
    }
    for port, service in ((10100, "Blob"), (10101, "Queue"), (10102, "Table")):
        assert f"{service}Endpoint=http://127.0.0.1:{port}/devstoreaccount1;" in storage


def test_the_file_is_its_owners_since_it_has_secrets(settings: LocalSettings) -> None:
    written(settings)
    assert func_settings_path(settings.data).stat().st_mode & 0o777 == 0o600
