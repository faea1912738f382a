"""No key, no secret, no old protocol, nothing public that need not be, in any environment."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.contract.infra.compiler import ENVIRONMENTS, INFRA, PARAMETERS
from tests.contract.infra.expressions import resolved
from tests.contract.infra.predicted import Predicted, Resource, scope_of

Find = Callable[[str], Predicted]
everywhere = pytest.mark.parametrize("environment", [*ENVIRONMENTS, "dev.scheduler", "dev.given"])
privately = pytest.mark.parametrize("environment", ["uat", "prod", "dev.scheduler"])
publicly = pytest.mark.parametrize("environment", ["dev", "qa", "dev.given"])

OUTPUTS = {
    "functionAppName",
    "functionAppUrl",
    "releasesAccountName",
    "releasesContainer",
    "serviceBusNamespaceFqdn",
    "sqlServerFqdn",
    "sqlDatabaseName",
    "documentsAccountName",
    "documentsContainer",
    "appIdentityName",
    "appIdentityClientId",
    "migrationIdentityName",
    "migrationIdentityClientId",
    "keyVaultName",
    "logAnalyticsName",
    "applicationInsightsName",
}
"""What scripts and pipelines read: names and addresses."""

TLS = {
    "Microsoft.ServiceBus/namespaces": ("minimumTlsVersion", "1.2"),
    "Microsoft.Sql/servers": ("minimalTlsVersion", "1.2"),
    "Microsoft.Storage/storageAccounts": ("minimumTlsVersion", "TLS1_2"),
}
"""Key Vault and scheduler take nothing older, and leave no choice."""

KEYS_OFF = {
    "Microsoft.Insights/components": ("DisableLocalAuth", True),
    "Microsoft.KeyVault/vaults": ("enableRbacAuthorization", True),
    "Microsoft.OperationalInsights/workspaces": ("features", "disableLocalAuth", True),
    "Microsoft.ServiceBus/namespaces": ("disableLocalAuth", True),
    "Microsoft.Sql/servers": ("administrators", "azureADOnlyAuthentication", True),
    "Microsoft.Storage/storageAccounts": ("allowSharedKeyAccess", False),
    "Microsoft.Web/sites/basicPublishingCredentialsPolicies": ("allow", False),
}
"""How each kind of resource is told to know nothing but Entra ID."""

DNS_ZONES = {
    "privatelink.blob.core.windows.net",
    "privatelink.queue.core.windows.net",
    "privatelink.table.core.windows.net",
    "privatelink.servicebus.windows.net",
    "privatelink.database.windows.net",
    "privatelink.vaultcore.azure.net",
}
WITHOUT_LOGS = {
    "Microsoft.Insights/actionGroups",
    "Microsoft.Insights/components",
    "Microsoft.Insights/metricAlerts",
    "Microsoft.Insights/scheduledQueryRules",
    "Microsoft.Insights/webtests",
    "Microsoft.Insights/workbooks",
    "Microsoft.ManagedIdentity/userAssignedIdentities",
    "Microsoft.Network/privateDnsZones",
    "Microsoft.Network/privateDnsZones/virtualNetworkLinks",
    "Microsoft.Network/privateEndpoints",
    "Microsoft.Sql/servers",
    "Microsoft.Web/serverfarms",
}
"""infra/README.md says why."""


def properties(resource: Resource) -> dict[str, Any]:
    found: dict[str, Any] = resource["properties"]
    return found


@everywhere
def test_outputs_are_names_and_addresses(predicted: Find, environment: str) -> None:
    assert predicted(environment).outputs.keys() == OUTPUTS


def test_no_template_asks_for_a_key(template: dict[str, Any]) -> None:
    assert re.findall(r"list\w*(?:Keys|Secrets|Sas)\w*\(", json.dumps(template), re.I) == []


@everywhere
def test_nothing_holds_a_secret(predicted: Find, environment: str) -> None:
    secrets = re.compile(r"AccountKey=|SharedAccessKey|sig=|password=|pwd=", re.I)

    found = {text for text in _texts(predicted(environment).prediction) if secrets.search(text)}

    assert found == set()


def test_parameter_files_hold_no_id_and_no_secret() -> None:
    ids = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I)

    for path in PARAMETERS.glob("*.bicepparam"):
        text = path.read_text(encoding="utf-8")
        assert set(ids.findall(text)) <= {"00000000-0000-0000-0000-000000000000"}, path.name
        assert "secret" not in text.lower(), path.name


@everywhere
def test_every_store_speaks_tls_1_2_at_least(predicted: Find, environment: str) -> None:
    deployment = predicted(environment)

    for kind, (name, version) in TLS.items():
        for each in deployment.of(kind):
            assert properties(each)[name] == version, each["name"]
    assert all(
        properties(each)["supportsHttpsTrafficOnly"]
        for each in deployment.of("Microsoft.Storage/storageAccounts")
    )


@everywhere
def test_the_app_speaks_https_only(predicted: Find, environment: str) -> None:
    site = properties(predicted(environment).one("Microsoft.Web/sites"))

    assert site["httpsOnly"]
    assert site["siteConfig"] == {
        "minTlsVersion": "1.2",
        "scmMinTlsVersion": "1.2",
        "http20Enabled": True,
    }


@everywhere
def test_no_key_opens_anything(predicted: Find, environment: str) -> None:
    deployment = predicted(environment)

    for kind, (*path, expected) in KEYS_OFF.items():
        for each in deployment.of(kind):
            value: Any = properties(each)
            for name in path:
                value = value[name]
            assert value is expected, each["name"]


@everywhere
def test_no_blob_is_public(predicted: Find, environment: str) -> None:
    deployment = predicted(environment)

    for account in deployment.of("Microsoft.Storage/storageAccounts"):
        assert properties(account)["allowBlobPublicAccess"] is False
        assert properties(account)["allowCrossTenantReplication"] is False
    for container in deployment.of("Microsoft.Storage/storageAccounts/blobServices/containers"):
        assert properties(container)["publicAccess"] == "None"


@privately
def test_in_a_private_network_no_store_has_a_public_address(
    predicted: Find, environment: str
) -> None:
    deployment = predicted(environment)

    access = {each["name"]: properties(each)["publicNetworkAccess"] for each in deployment.stores()}

    assert set(access.values()) == {"Disabled"}
    assert deployment.of("Microsoft.Sql/servers/firewallRules") == []


@privately
def test_in_a_private_network_every_store_has_an_endpoint(
    predicted: Find, environment: str
) -> None:
    deployment = predicted(environment)

    connections = [
        connection["properties"]
        for each in deployment.of("Microsoft.Network/privateEndpoints")
        for connection in properties(each)["privateLinkServiceConnections"]
    ]

    reached = {each["privateLinkServiceId"] for each in connections}
    assert reached == {each["id"] for each in deployment.stores()}
    host = [each for each in connections if "/sthost" in each["privateLinkServiceId"]]
    assert {each["groupIds"][0] for each in host} == {"blob", "queue", "table"}


@privately
def test_the_usual_names_lead_to_the_endpoints(predicted: Find, environment: str) -> None:
    deployment = predicted(environment)
    zones = {resolved(each["name"]) for each in deployment.of("Microsoft.Network/privateDnsZones")}
    links = deployment.of("Microsoft.Network/privateDnsZones/virtualNetworkLinks")
    groups = deployment.of("Microsoft.Network/privateEndpoints/privateDnsZoneGroups")

    scheduler = {"privatelink.durabletask.io"} if environment == "dev.scheduler" else set()
    assert zones == DNS_ZONES | scheduler
    assert len(links) == len(zones)
    assert len(groups) == len(deployment.of("Microsoft.Network/privateEndpoints"))


@privately
def test_the_app_goes_out_through_a_subnet_of_its_own(predicted: Find, environment: str) -> None:
    deployment = predicted(environment)
    network = deployment.one("Microsoft.Network/virtualNetworks")
    subnets = {each["name"]: each["properties"] for each in properties(network)["subnets"]}

    site = properties(deployment.one("Microsoft.Web/sites"))

    assert site["virtualNetworkSubnetId"] == f"{network['id']}/subnets/app"
    [delegation] = subnets["app"]["delegations"]
    assert delegation["properties"]["serviceName"] == "Microsoft.App/environments"
    assert subnets["endpoints"]["delegations"] == []
    policies = subnets["endpoints"]["privateEndpointNetworkPolicies"]
    assert policies == "NetworkSecurityGroupEnabled"


@privately
def test_every_subnet_has_rules_that_end_in_a_refusal_both_ways(
    predicted: Find, environment: str
) -> None:
    deployment = predicted(environment)
    groups = deployment.of("Microsoft.Network/networkSecurityGroups")
    network = deployment.one("Microsoft.Network/virtualNetworks")

    used = {
        each["properties"]["networkSecurityGroup"]["id"] for each in properties(network)["subnets"]
    }
    assert used == {each["id"] for each in groups}
    for group in groups:
        rules = [each["properties"] for each in properties(group)["securityRules"]]
        last = [each for each in rules if each["priority"] == 4096]
        assert {each["direction"] for each in last} == {"Inbound", "Outbound"}
        assert {each["access"] for each in last} == {"Deny"}
        let_in = [
            each for each in rules if (each["direction"], each["access"]) == ("Inbound", "Allow")
        ]
        assert [each for each in let_in if each.get("sourceAddressPrefix") == "*"] == []


@publicly
def test_without_a_network_stores_are_open_to_whoever_has_a_role(
    predicted: Find, environment: str
) -> None:
    deployment = predicted(environment)

    assert {properties(each)["publicNetworkAccess"] for each in deployment.stores()} == {"Enabled"}
    assert deployment.of("Microsoft.Network/privateEndpoints") == []
    assert properties(deployment.one("Microsoft.Web/sites"))["virtualNetworkSubnetId"] is None


@everywhere
def test_what_is_deleted_can_be_brought_back(predicted: Find, environment: str) -> None:
    deployment = predicted(environment)

    vault = properties(deployment.one("Microsoft.KeyVault/vaults"))
    assert vault["enablePurgeProtection"]
    assert vault["enableSoftDelete"]
    for blobs in deployment.of("Microsoft.Storage/storageAccounts/blobServices"):
        for policy in ("deleteRetentionPolicy", "containerDeleteRetentionPolicy"):
            assert properties(blobs)[policy]["enabled"]
            assert properties(blobs)[policy]["days"] >= 14


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_database_is_audited_and_backed_up(predicted: Find, environment: str) -> None:
    deployment = predicted(environment)

    audit = properties(deployment.one("Microsoft.Sql/servers/auditingSettings"))
    assert (audit["state"], audit["isAzureMonitorTargetEnabled"]) == ("Enabled", True)
    logs = deployment.of("Microsoft.Insights/diagnosticSettings")
    [of_master] = [each for each in logs if scope_of(each).endswith("/databases/master")]
    assert [each["category"] for each in properties(of_master)["logs"]] == [
        "SQLSecurityAuditEvents"
    ]
    policies = "Microsoft.Sql/servers/databases/backupShortTermRetentionPolicies"
    assert properties(deployment.one(policies))["retentionDays"] >= 7


def test_backups_of_production_go_back_a_year(predicted: Find) -> None:
    policies = "Microsoft.Sql/servers/databases/backupLongTermRetentionPolicies"

    kept = properties(predicted("prod").one(policies))

    assert kept == {"weeklyRetention": "P5W", "monthlyRetention": "P12M"}


@everywhere
def test_everything_reports_to_the_workspace(predicted: Find, environment: str) -> None:
    deployment = predicted(environment)
    workspace = deployment.one("Microsoft.OperationalInsights/workspaces")["id"]
    settings = deployment.of("Microsoft.Insights/diagnosticSettings")

    assert {properties(each)["workspaceId"] for each in settings} == {workspace}
    reporting = {scope_of(each) for each in settings}
    silent = [
        each["name"]
        for each in deployment.resources
        if "location" in each and each["id"] not in reporting and each["type"] not in WITHOUT_LOGS
    ]
    assert silent == []


@everywhere
def test_everything_is_tagged(predicted: Find, environment: str) -> None:
    untagged = [
        each["name"]
        for each in predicted(environment).resources
        if "location" in each and each.get("tags", {}).get("service") != "extractor"
    ]

    assert untagged == []


def test_given_resources_are_left_as_they_are(predicted: Find) -> None:
    given = predicted("dev.given")
    kinds = {each["type"] for each in given.resources}

    assert not kinds & {
        "Microsoft.ServiceBus/namespaces",
        "Microsoft.Sql/servers",
        "Microsoft.Sql/servers/databases",
        "Microsoft.Sql/servers/firewallRules",
    }
    accounts = [each["name"] for each in given.of("Microsoft.Storage/storageAccounts")]
    assert [name for name in accounts if not name.startswith("sthost")] == []
    assert given.outputs["sqlDatabaseName"] == "their-database"


def test_the_runtime_is_the_one_that_packages_are_built_for(predicted: Find) -> None:
    config = properties(predicted("prod").one("Microsoft.Web/sites"))["functionAppConfig"]
    version = (INFRA.parent / ".python-version").read_text(encoding="utf-8").strip()

    assert config["runtime"] == {"name": "python", "version": version}
    assert config["deployment"]["storage"]["authentication"]["type"] == "UserAssignedIdentity"


def _texts(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for each in value.values():
                yield from _texts(each)
        case list():
            for each in value:
                yield from _texts(each)
        case str():
            yield value
