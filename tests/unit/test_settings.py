"""Settings are validated once; what is wrong is named, and nothing beside it is shown."""

import json
from pathlib import Path

import pytest
from pydantic.fields import FieldInfo

from shared.settings import Settings, SettingsError, read_settings

ROOT = Path(__file__).parents[2]
EXAMPLE: dict[str, str] = json.loads((ROOT / "local.settings.json.example").read_text())["Values"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PLATFORM = {"FUNCTIONS_WORKER_RUNTIME", "AzureWebJobsStorage", "DURABLE_HUB_NAME"}
REQUIRED = [name for name, field in Settings.model_fields.items() if field.is_required()]


def test_the_example_names_every_setting_and_no_other() -> None:
    assert set(EXAMPLE) - PLATFORM == set(Settings.model_fields)


def test_the_example_is_valid() -> None:
    assert read_settings(EXAMPLE).TOPIC_JOB_STATUS == "job-status"


@pytest.mark.parametrize("name", REQUIRED)
@pytest.mark.parametrize("value", [None, "", "   "])
def test_a_missing_or_blank_setting_is_named_without_its_neighbours(
    name: str, value: str | None
) -> None:
    given = EXAMPLE | {"BLOB_ACCOUNT_KEY": "s3cret-key"}
    del given[name]
    if value is not None:
        given[name] = value
    with pytest.raises(SettingsError) as refused:
        read_settings(given)
    assert name in str(refused.value)
    assert not [
        other for other in EXAMPLE.values() if len(other) > 8 and other in str(refused.value)
    ]
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("JOB_CALL_TIMEOUT_MINUTES", "soon"),
        ("JOB_START_TIMEOUT_MINUTES", "0"),
        ("JOB_RUN_TIMEOUT_MINUTES", "-1"),
        ("JOB_MAX_WAIT_HOURS", "1000"),
        ("PURGE_AFTER_DAYS", "7"),
        ("ALLOW_PRIVATE_EXTRACTORS", "perhaps"),
        ("BLOB_ACCOUNT_URL", "blob.example.com"),
        ("REGISTRATION_URL", "ftp://example.com"),
        ("AUTH_JWKS_URL", "https://"),
        ("AUTH_ISSUERS", "a,,b"),
        ("AUTH_AUDIENCES", ","),
        ("TOPIC_JOB_STATUS", "x" * 300),
    ],
)
def test_a_malformed_setting_is_named_without_its_value(name: str, value: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read_settings(EXAMPLE | {name: value})
    assert name in str(refused.value)
    assert len(value) < 3 or value not in str(refused.value)


def test_several_faults_are_named_together() -> None:
    with pytest.raises(SettingsError, match=r"TOPIC_JOB_STATUS[\s\S]*PURGE_AFTER_DAYS"):
        read_settings(EXAMPLE | {"TOPIC_JOB_STATUS": "", "PURGE_AFTER_DAYS": "1"})


def test_an_unresolved_key_vault_reference_is_refused_by_name() -> None:
    reference = "@Microsoft.KeyVault(SecretUri=https://vault.example/secrets/bus)"
    with pytest.raises(SettingsError, match="DATABASE_URL") as refused:
        read_settings(EXAMPLE | {"DATABASE_URL": reference})
    assert "vault.example" not in str(refused.value)


def test_the_service_bus_is_reached_by_a_connection_string_or_by_identity() -> None:
    name = "AZURE_SERVICE_BUS_CONNECTION_STRING"
    by_identity = EXAMPLE | {name: "", f"{name}__fullyQualifiedNamespace": "bus.example.net"}
    assert read_settings(by_identity).service_bus_namespace == "bus.example.net"
    with pytest.raises(SettingsError, match=name):
        read_settings(EXAMPLE | {name: ""})


def test_client_credentials_are_needed_with_a_token_endpoint() -> None:
    with pytest.raises(SettingsError, match="SERVICE_CLIENT_SECRET"):
        read_settings(EXAMPLE | {"SERVICE_CLIENT_SECRET": ""})


def test_a_signed_link_must_outlive_the_job() -> None:
    with pytest.raises(SettingsError, match="SIGNED_URL_MINUTES"):
        read_settings(EXAMPLE | {"SIGNED_URL_MINUTES": "84"})


def test_private_extractors_are_refused_in_azure() -> None:
    in_azure = EXAMPLE | {"WEBSITE_SITE_NAME": "extractor-prod"}
    with pytest.raises(SettingsError, match="ALLOW_PRIVATE_EXTRACTORS"):
        read_settings(in_azure)
    assert not read_settings(
        in_azure | {"ALLOW_PRIVATE_EXTRACTORS": "false"}
    ).ALLOW_PRIVATE_EXTRACTORS


def test_the_nth_audience_belongs_to_the_nth_issuer() -> None:
    pairs = {"AUTH_ISSUERS": "https://a/v1 , https://b/v2", "AUTH_AUDIENCES": "api://x,0a1b"}
    assert read_settings(EXAMPLE | pairs).accepted_tokens == {
        ("https://a/v1", "api://x"),
        ("https://b/v2", "0a1b"),
    }


@pytest.mark.parametrize("audiences", ["api://x", "api://x,0a1b,api://y"])
def test_every_issuer_needs_its_audience(audiences: str) -> None:
    issuers = {"AUTH_ISSUERS": "https://a/v1,https://b/v2", "AUTH_AUDIENCES": audiences}
    with pytest.raises(SettingsError, match="AUTH_AUDIENCES must have one audience for each"):
        read_settings(EXAMPLE | issuers)


@pytest.mark.parametrize(("name", "field"), Settings.model_fields.items())
def test_the_readme_lists_every_setting_with_its_default(name: str, field: FieldInfo) -> None:
    (line,) = [line for line in README.splitlines() if line.startswith(f"| `{name}` |")]
    default = str(field.default).lower() if isinstance(field.default, bool) else field.default
    shown = "**required**" if field.is_required() else "" if default is None else f"`{default}`"
    assert line == f"| `{name}` | {shown} | {field.description} |"
