"""What can be chosen only once: another value means another resource, and a loss."""

from collections.abc import Iterator
from typing import Any

from tests.contract.infra.compiler import Prediction

CREATE_ONLY: dict[str, tuple[str, ...]] = {
    "Microsoft.Authorization/roleAssignments": (
        "properties.principalId",
        "properties.roleDefinitionId",
    ),
    "Microsoft.DurableTask/schedulers": ("sku.name",),
    "Microsoft.KeyVault/vaults": (
        "properties.enablePurgeProtection",
        "properties.softDeleteRetentionInDays",
    ),
    "Microsoft.Network/privateEndpoints": (
        "properties.subnet",
        "properties.privateLinkServiceConnections",
    ),
    "Microsoft.Network/virtualNetworks": ("properties.addressSpace", "properties.subnets"),
    "Microsoft.ServiceBus/namespaces": ("sku.name", "properties.premiumMessagingPartitions"),
    "Microsoft.ServiceBus/namespaces/topics": (
        "properties.requiresDuplicateDetection",
        "properties.enablePartitioning",
    ),
    "Microsoft.ServiceBus/namespaces/topics/subscriptions": ("properties.requiresSession",),
    "Microsoft.Sql/servers": ("properties.version",),
    "Microsoft.Sql/servers/databases": ("properties.collation",),
    "Microsoft.Storage/storageAccounts": (
        "kind",
        "sku.name",
        "properties.isHnsEnabled",
        "properties.encryption",
    ),
    "Microsoft.Web/serverfarms": ("sku.name", "properties.reserved"),
    "Microsoft.Web/sites": ("kind", "properties.functionAppConfig.runtime.name"),
}
"""Beside these, the name and the location of every resource."""

REMADE_WITHOUT_LOSS = {
    "Microsoft.Insights/diagnosticSettings",
    "Microsoft.Insights/metricAlerts",
    "Microsoft.Insights/scheduledQueryRules",
    "Microsoft.Insights/webtests",
    "Microsoft.Insights/workbooks",
}
"""They hold nothing: one that is gone, or has another name, is no loss."""


def lost(before: Prediction, after: Prediction) -> list[str]:
    """What of `before` a deployment of `after` could not keep, a line each."""
    resources = {each["id"]: each for each in after["predictedResources"]}
    return [
        line
        for each in before["predictedResources"]
        if each["type"] not in REMADE_WITHOUT_LOSS
        for line in _lost(each, resources.get(each["id"]))
    ]


def _lost(before: dict[str, Any], after: dict[str, Any] | None) -> Iterator[str]:
    name = f"{before['type']} {before['name']}"
    if after is None:
        yield f"{name} is gone, or has another name"
        return
    for path in ("location", *CREATE_ONLY.get(before["type"], ())):
        if _at(before, path) != _at(after, path):
            yield f"{name}: {path} was {_at(before, path)}, and is {_at(after, path)}"


def _at(resource: dict[str, Any], path: str) -> Any:
    value: Any = resource
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value
