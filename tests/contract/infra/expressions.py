"""What a deployment would make of the expressions that a prediction still has."""

from types import SimpleNamespace
from typing import Any

from tests.contract.infra.compiler import TENANT

PUBLIC_CLOUD = SimpleNamespace(
    suffixes=SimpleNamespace(
        storage="core.windows.net",
        sqlServerHostname=".database.windows.net",
        keyvaultDns=".vault.azure.net",
    ),
    authentication=SimpleNamespace(loginEndpoint="https://login.microsoftonline.com/"),
)


class _Told:
    """What Azure tells of a resource once it is there: the property's name stands for its value."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> "_Told":
        return self if name in {"outputs", "value"} else _Told(name)

    def __str__(self) -> str:
        return f"https://{self._name}.example" if "url" in self._name.lower() else self._name


def resolved(value: Any) -> Any:
    """The value, with each expression in it replaced by what it gives in the public cloud."""
    match value:
        case dict():
            return {str(resolved(key)): resolved(each) for key, each in value.items()}
        case list():
            return [resolved(each) for each in value]
        case str() if value.startswith("[") and value.endswith("]"):
            return _as_text(eval(value[1:-1], {"__builtins__": {}}, _FUNCTIONS))
        case _:
            return value


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, _Told) else value


_FUNCTIONS = {
    "coalesce": lambda *values: next(value for value in values if value is not None),
    "createArray": lambda *values: list(values),
    "deployment": lambda: SimpleNamespace(name="deployment"),
    "environment": lambda: PUBLIC_CLOUD,
    "format": lambda text, *values: text.format(*values),
    "join": lambda values, separator: separator.join(map(str, values)),
    "null": lambda: None,
    "reference": lambda *_: _Told(""),
    "replace": lambda text, old, new: text.replace(old, str(new)),
    "resourceId": lambda *parts: "/".join(map(str, parts)),
    "tenant": lambda: SimpleNamespace(tenantId=TENANT),
    "uniqueString": lambda *_: "token",
}
