"""The settings of the app in Azure are those that shared/settings.py takes, and the host's."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import make_url

from shared.settings import Settings, read_settings
from tests.contract.infra.compiler import ENVIRONMENTS, INFRA, TENANT
from tests.contract.infra.predicted import Predicted
from tests.contract.infra.variants import TUNED

Find = Callable[[str], Predicted]
every_environment = pytest.mark.parametrize("environment", ENVIRONMENTS)

SERVICE_BUS = "AZURE_SERVICE_BUS_CONNECTION_STRING"
LOCAL_ONLY = {
    SERVICE_BUS,
    "BLOB_ACCOUNT_KEY",
    "SERVICE_TOKEN_URL",
    "SERVICE_CLIENT_ID",
    "SERVICE_CLIENT_SECRET",
    "ALLOW_PRIVATE_EXTRACTORS",
}
"""Keys, secrets and loosened rules: a laptop's, never Azure's."""

OF_THE_HOST = {
    "AZURE_CLIENT_ID",
    "PYTHON_THREADPOOL_THREAD_COUNT",
    "AzureWebJobsStorage__blobServiceUri",
    "AzureWebJobsStorage__queueServiceUri",
    "AzureWebJobsStorage__tableServiceUri",
    "AzureWebJobsStorage__credential",
    "AzureWebJobsStorage__clientId",
    "APPLICATIONINSIGHTS_CONNECTION_STRING",
    "APPLICATIONINSIGHTS_AUTHENTICATION_STRING",
    f"{SERVICE_BUS}__credential",
    f"{SERVICE_BUS}__clientId",
    "DURABLE_HUB_NAME",
}
PROVIDER = "AzureFunctionsJobHost__extensions__durableTask__storageProvider"
OF_THE_SCHEDULER = {
    "DURABLE_TASK_SCHEDULER_CONNECTION_STRING",
    f"{PROVIDER}__type",
    f"{PROVIDER}__connectionStringName",
}
REFUSED = re.compile(
    r"FUNCTIONS_(WORKER_RUNTIME|EXTENSION_VERSION)|WEBSITE_|SCM_|ENABLE_ORYX_BUILD|AzureWebJobsStorage$"
)
"""What a Flex Consumption plan refuses, ignores, or would take in place of the identity."""


def read(deployment: Predicted) -> Settings:
    """What the app makes of the settings, with the reference to the vault resolved."""
    return read_settings({**deployment.settings, "CALLBACK_KEYS": "k" * 32})


@every_environment
def test_every_setting_is_known_and_none_is_missing(predicted: Find, environment: str) -> None:
    settings = set(predicted(environment).settings)

    assert settings == (set(Settings.model_fields) - LOCAL_ONLY) | OF_THE_HOST


@every_environment
def test_the_app_takes_the_settings(predicted: Find, environment: str) -> None:
    assert isinstance(read(predicted(environment)), Settings)


@every_environment
def test_defaults_are_those_of_the_code(predicted: Find, environment: str) -> None:
    made = read(predicted(environment)).model_dump()

    defaults = {
        name: field.default
        for name, field in Settings.model_fields.items()
        if not field.is_required() and field.default is not None
    }
    assert {name: made[name] for name in defaults} == defaults


def test_every_default_can_be_overridden(predicted: Find) -> None:
    settings = predicted("dev.scheduler").settings

    assert {name: settings[_setting(name)] for name in TUNED} == TUNED


def test_every_default_is_a_parameter(template: dict[str, Any]) -> None:
    parameters = template["definitions"]["App"]["properties"]

    tunables = {
        name
        for name, field in Settings.model_fields.items()
        if isinstance(field.default, bool | int) and name not in LOCAL_ONLY
    }
    assert {_setting(name) for name in TUNED} == tunables
    assert parameters.keys() >= TUNED.keys()


def test_the_bounds_of_the_parameters_are_those_of_the_code(template: dict[str, Any]) -> None:
    parameters = template["definitions"]["App"]["properties"]
    schema = Settings.model_json_schema()["properties"]

    for name in TUNED:
        bounds = (parameters[name].get("minValue"), parameters[name].get("maxValue"))
        setting = schema[_setting(name)]
        assert bounds == (setting.get("minimum"), setting.get("maximum")), name


@every_environment
def test_the_database_is_reached_with_tokens_over_a_checked_connection(
    predicted: Find, environment: str
) -> None:
    deployment = predicted(environment)

    url = make_url(read(deployment).DATABASE_URL)

    assert url.drivername == "mssql+pyodbc"
    assert (url.host, url.database) == (
        deployment.outputs["sqlServerFqdn"],
        deployment.outputs["sqlDatabaseName"],
    )
    assert not url.username
    assert not url.password
    assert url.query == {"Encrypt": "yes", "TrustServerCertificate": "no"}


@every_environment
def test_every_connection_is_made_with_the_identity_of_the_app(
    predicted: Find, environment: str
) -> None:
    settings = predicted(environment).settings
    client_id = settings["AZURE_CLIENT_ID"]

    for connection in ("AzureWebJobsStorage", SERVICE_BUS):
        assert settings[f"{connection}__credential"] == "managedidentity"
        assert settings[f"{connection}__clientId"] == client_id
    monitoring = settings["APPLICATIONINSIGHTS_AUTHENTICATION_STRING"]
    assert monitoring == f"ClientId={client_id};Authorization=AAD"


@every_environment
def test_tokens_of_the_tenant_are_accepted(predicted: Find, environment: str) -> None:
    settings = read(predicted(environment))

    entra = f"https://login.microsoftonline.com/{TENANT}"
    assert settings.accepted_tokens == {(f"{entra}/v2.0", settings.AUTH_AUDIENCES[0])}
    keys, tenant = settings.AUTH_JWKS_URL, settings.AUTH_TENANT
    assert (keys, tenant) == (f"{entra}/discovery/v2.0/keys", TENANT)


def test_tokens_of_other_issuers_can_be_named(predicted: Find) -> None:
    settings = read(predicted("dev.scheduler"))

    assert settings.accepted_tokens == {
        ("https://issuer.example", "one"),
        ("https://issuer.example", "two"),
    }
    assert settings.AUTH_JWKS_URL == "https://issuer.example/keys"
    assert settings.REGISTRATION_URL == "https://registration.example"


@every_environment
def test_extractors_call_back_to_the_app(predicted: Find, environment: str) -> None:
    deployment = predicted(environment)

    assert deployment.settings["PUBLIC_URL"] == deployment.outputs["functionAppUrl"]


@every_environment
def test_the_keys_of_call_backs_stay_in_the_vault(predicted: Find, environment: str) -> None:
    """Without a version in it, the reference follows a rotation by itself."""
    deployment = predicted(environment)

    vault = f"https://{deployment.outputs['keyVaultName']}.vault.azure.net"
    reference = f"@Microsoft.KeyVault(SecretUri={vault}/secrets/callback-keys)"
    assert deployment.settings["CALLBACK_KEYS"] == reference
    site = deployment.one("Microsoft.Web/sites")
    assert (
        site["properties"]["keyVaultReferenceIdentity"]
        in site["identity"]["userAssignedIdentities"]
    )


@every_environment
def test_no_setting_is_one_that_the_plan_refuses(predicted: Find, environment: str) -> None:
    names = predicted(environment).settings

    assert [name for name in names if REFUSED.match(name)] == []
    assert [name for name in names if not re.fullmatch(r"[A-Za-z0-9_]+", name)] == []


def test_every_environment_has_a_hub_of_its_own(predicted: Find) -> None:
    host = json.loads((INFRA.parent / "host.json").read_text(encoding="utf-8"))
    assert host["extensions"]["durableTask"]["hubName"] == "%DURABLE_HUB_NAME%"

    hubs = {each: predicted(each).settings["DURABLE_HUB_NAME"] for each in ENVIRONMENTS}

    assert len(set(hubs.values())) == len(ENVIRONMENTS)
    assert all(re.fullmatch(r"[a-z][a-z0-9]{2,44}", hub) for hub in hubs.values())


def test_the_scheduler_takes_the_place_of_the_storage_account(predicted: Find) -> None:
    deployment = predicted("dev.scheduler")
    settings = deployment.settings

    assert settings.keys() >= OF_THE_SCHEDULER
    assert settings[f"{PROVIDER}__type"] == "azureManaged"
    connection = settings[settings[f"{PROVIDER}__connectionStringName"]]
    assert "Authentication=ManagedIdentity" in connection
    task_hub = deployment.one("Microsoft.DurableTask/schedulers/taskHubs")["name"]
    assert task_hub.endswith(f"/{settings['DURABLE_HUB_NAME']}")


def test_functions_are_switched_off_by_name(predicted: Find) -> None:
    settings = predicted("dev.scheduler").settings

    off = {name: value for name, value in settings.items() if name.endswith("_Disabled")}
    assert off == {
        "AzureWebJobs_on_file_accepted_Disabled": "true",
        "AzureWebJobs_reconcile_Disabled": "true",
    }


def test_an_instance_has_a_thread_for_all_that_it_is_given_at_once(predicted: Find) -> None:
    deployment = predicted("prod")
    host = json.loads((INFRA.parent / "host.json").read_text(encoding="utf-8"))

    threads = int(deployment.settings["PYTHON_THREADPOOL_THREAD_COUNT"])
    config = deployment.one("Microsoft.Web/sites")["properties"]["functionAppConfig"]
    calls = config["scaleAndConcurrency"]["triggers"]["http"]["perInstanceConcurrency"]
    activities = host["extensions"]["durableTask"]["maxConcurrentActivityFunctions"]
    assert threads >= max(calls, activities)


def _setting(parameter: str) -> str:
    """`jobRunTimeoutMinutes` is JOB_RUN_TIMEOUT_MINUTES."""
    return re.sub(r"([A-Z])", r"_\1", parameter).upper()
