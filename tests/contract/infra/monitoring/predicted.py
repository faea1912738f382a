"""What the modules of the monitoring come to, as Bicep predicts it without Azure."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.contract.infra.monitoring.queries import ROOT

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


def predict(module: str, folder: Path, **changed: Any) -> list[dict[str, Any]]:
    """The resources of a module. Skips the test when there is no Bicep compiler."""
    values = PARAMETERS[module] | changed
    using = os.path.relpath(ROOT / "infra" / "modules" / f"{module}.bicep", folder)
    lines = [f"using '{using}'", *(f"param {name} = {_bicep(v)}" for name, v in values.items())]
    parameters = folder / f"{module}.bicepparam"
    parameters.write_text("\n".join(lines) + "\n")
    place = {"subscription-id": GROUP.split("/")[2], "resource-group": GROUP.split("/")[4]}
    options = [part for name, value in place.items() for part in (f"--{name}", value)]
    command = [*_compiler(), "snapshot", str(parameters), "--mode", "overwrite", *options]
    done = subprocess.run(
        [*command, "--location", "westeurope"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    snapshot = json.loads((folder / f"{module}.snapshot.json").read_text())
    found: list[dict[str, Any]] = snapshot["predictedResources"]
    return found


def _compiler() -> list[str]:
    if found := shutil.which("bicep"):
        return [found]
    pytest.skip("There is no Bicep compiler: put bicep on the PATH")


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
