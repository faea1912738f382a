"""A prediction, asked for what a test is about."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.contract.infra.compiler import Prediction
from tests.contract.infra.expressions import resolved

Resource = dict[str, Any]

STORES = {
    "Microsoft.DurableTask/schedulers",
    "Microsoft.KeyVault/vaults",
    "Microsoft.ServiceBus/namespaces",
    "Microsoft.Sql/servers",
    "Microsoft.Storage/storageAccounts",
}
"""What keeps something, and is reached by name over a network."""


@dataclass(frozen=True)
class Predicted:
    """What a deployment would hold."""

    prediction: Prediction

    @property
    def resources(self) -> list[Resource]:
        found: list[Resource] = self.prediction["predictedResources"]
        return found

    @property
    def outputs(self) -> dict[str, Any]:
        """The outputs, with their values."""
        values: dict[str, Any] = resolved(self.prediction["outputs"])
        return values

    @property
    def settings(self) -> dict[str, str]:
        """The settings of the app, with their values."""
        values: dict[str, str] = resolved(self.one("Microsoft.Web/sites/config")["properties"])
        return values

    def of(self, kind: str) -> list[Resource]:
        """The resources of a type."""
        return [each for each in self.resources if each["type"] == kind]

    def one(self, kind: str) -> Resource:
        """The only resource of a type."""
        [found] = self.of(kind)
        return found

    def stores(self) -> Iterator[Resource]:
        return (each for each in self.resources if each["type"] in STORES)


def scope_of(resource: Resource) -> str:
    """The id of what a role assignment or a diagnostic setting is on."""
    scope, _, _ = resource["id"].rpartition("/providers/")
    return str(scope)


def last_name(resource_id: str) -> str:
    return resource_id.rpartition("/")[2]
