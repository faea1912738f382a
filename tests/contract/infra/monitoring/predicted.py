"""What the modules of the monitoring come to, as Bicep predicts it without Azure."""

import os
from pathlib import Path
from typing import Any

from tests.contract.infra.compiler import INFRA, Compiler

GROUP = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg-extractor-qa"
PARAMETERS: dict[str, dict[str, Any]] = {
    "alerts": {
        "location": "westeurope",
        "tags": {"service": "extractor"},
        "environmentName": "qa",
        "emails": ["team@example.com"],
        "webhooks": ["https://hooks.example.com/alerts"],
        "functionAppId": f"{GROUP}/providers/Microsoft.Web/sites/func",
        "functionAppUrl": "https://func.example.net",
        "serviceBusNamespaceId": f"{GROUP}/providers/Microsoft.ServiceBus/namespaces/bus",
        "sqlDatabaseId": f"{GROUP}/providers/Microsoft.Sql/servers/sql/databases/db",
        "hostStorageId": f"{GROUP}/providers/Microsoft.Storage/storageAccounts/host",
        "documentsStorageId": f"{GROUP}/providers/Microsoft.Storage/storageAccounts/docs",
        "keyVaultId": f"{GROUP}/providers/Microsoft.KeyVault/vaults/kv",
        "applicationInsightsId": f"{GROUP}/providers/Microsoft.Insights/components/appi",
        "workspaceId": f"{GROUP}/providers/Microsoft.OperationalInsights/workspaces/log",
    },
    "workbook": {
        "location": "westeurope",
        "tags": {"service": "extractor"},
        "workspaceId": f"{GROUP}/providers/Microsoft.OperationalInsights/workspaces/log",
        "applicationInsightsId": f"{GROUP}/providers/Microsoft.Insights/components/appi",
        "serviceBusNamespaceId": f"{GROUP}/providers/Microsoft.ServiceBus/namespaces/bus",
    },
}


def predict(compiler: Compiler, module: str, folder: Path, **changed: Any) -> list[dict[str, Any]]:
    """The resources of a module, with some of its parameters changed."""
    values = PARAMETERS[module] | changed
    using = os.path.relpath(INFRA / "modules" / f"{module}.bicep", folder)
    lines = [f"using '{using}'", *(f"param {name} = {_bicep(v)}" for name, v in values.items())]
    parameters = folder / f"{module}.bicepparam"
    parameters.write_text("\n".join(lines) + "\n")
    found: list[dict[str, Any]] = compiler.predict(parameters)["predictedResources"]
    return found


def _bicep(value: Any) -> str:
    match value:
        case dict():
            return "{ " + ", ".join(f"{key}: {_bicep(each)}" for key, each in value.items()) + " }"
        case list():
            return "[" + ", ".join(map(_bicep, value)) + "]"
        case bool():
            return str(value).lower()
        case _:
            return f"'{value}'"
