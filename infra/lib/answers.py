"""Reads from standard input what az and bicep answer: `python -m infra.lib.answers QUESTION …`.

Each question prints lines for the scripts beside this file, and nothing that is secret.
"""

import base64
import json
import sys
from collections.abc import Callable, Iterator

NOBODY = "00000000-0000-0000-0000-000000000000"
UNCHANGED = {"NoChange", "Ignore", "NoEffect"}
GLOBAL_NAMES = {
    "Microsoft.Storage/storageAccounts",
    "Microsoft.ServiceBus/namespaces",
    "Microsoft.Sql/servers",
    "Microsoft.KeyVault/vaults",
    "Microsoft.Web/sites",
}


def parameter(text: str, name: str) -> Iterator[str]:
    """A parameter of `bicep build-params`: text as it is, anything else as JSON."""
    parameters = json.loads(json.loads(text)["parametersJson"])["parameters"]
    value = parameters.get(name, {}).get("value", "")
    yield value if isinstance(value, str) else json.dumps(value)


def outputs(text: str, *names: str) -> Iterator[str]:
    """The named outputs of a deployment. Raises KeyError for one that is missing."""
    told = json.loads(text)
    for name in names:
        yield f"{name} {told[name]['value']}"


def principal(text: str) -> Iterator[str]:
    """Object id and kind of who an access token speaks for."""
    payload = text.strip().split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    yield claims["oid"]
    yield "ServicePrincipal" if claims.get("idtyp") == "app" else "User"


def listed(text: str, parameter_name: str, object_id: str) -> Iterator[str]:
    """Whether a list of principals holds one: yes, no, or unknown when groups might hold it."""
    parameters = json.loads(json.loads(text)["parametersJson"])["parameters"]
    principals = parameters.get(parameter_name, {}).get("value", [])
    if any(each["principalId"].lower() == object_id.lower() for each in principals):
        yield "yes"
    else:
        yield "unknown" if any(each["principalType"] == "Group" for each in principals) else "no"


def placeholders(text: str) -> Iterator[str]:
    """The parameters that hold an id of zeros, which is nobody's."""
    parameters = json.loads(json.loads(text)["parametersJson"])["parameters"]
    for name, each in parameters.items():
        if NOBODY in json.dumps(each):
            yield name


def created(text: str) -> Iterator[str]:
    """Type and name of what a what-if would create under a name that all of Azure shares."""
    for change in json.loads(text)["changes"]:
        kind, name = _kind_and_name(change["resourceId"])
        if change["changeType"] == "Create" and kind in GLOBAL_NAMES:
            yield f"{kind} {name}"


def changed(text: str) -> Iterator[str]:
    """What a what-if would change, one resource a line."""
    for change in json.loads(text)["changes"]:
        if change["changeType"] not in UNCHANGED:
            yield f"{change['changeType']} {'/'.join(_kind_and_name(change['resourceId']))}"


def live(text: str) -> Iterator[str]:
    """Version and commit of what runs, from /health/live."""
    told = json.loads(text)
    yield f"{told['version']} {told['commit']}"


def _kind_and_name(resource_id: str) -> tuple[str, str]:
    """`…/providers/Microsoft.X/a/NAME/b/PART`: of kind `Microsoft.X/a/b`, named `NAME/PART`."""
    provider, *rest = resource_id.split("/providers/")[-1].split("/")
    return "/".join([provider, *rest[::2]]), "/".join(rest[1::2])


QUESTIONS: dict[str, Callable[..., Iterator[str]]] = {
    each.__name__: each
    for each in (parameter, outputs, principal, listed, placeholders, created, changed, live)
}

if __name__ == "__main__":
    try:
        for line in QUESTIONS[sys.argv[1]](sys.stdin.read(), *sys.argv[2:]):
            sys.stdout.write(f"{line}\n")
    except KeyError as missing:
        sys.exit(f"{sys.argv[1]}: there is no {missing}")
    except (ValueError, IndexError) as error:
        sys.exit(f"{sys.argv[1]}: what was answered cannot be read ({type(error).__name__})")
