"""Stands in for az: records each call in a folder, and answers as Azure would from a small state.

The scripts under test run it as `az`. AZ_FOLDER is where it keeps `calls.jsonl` and `state.json`,
AZ_FAIL begins the command that fails, AZ_REFUSE the one that is refused the first time.
"""

import base64
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

FOLDER = Path(os.environ["AZ_FOLDER"])
STATE = FOLDER / "state.json"
OBJECT_ID = "11111111-2222-3333-4444-555555555555"
SITE = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Web/sites/func-test"
OUTPUTS = {
    "functionAppName": "func-test",
    "functionAppUrl": "https://func-test.azurewebsites.net",
    "releasesAccountName": "sthosttest",
    "releasesContainer": "releases",
    "serviceBusNamespaceFqdn": "sbns-test.servicebus.windows.net",
    "sqlServerFqdn": "sql-test.database.windows.net",
    "sqlDatabaseName": "sqldb-test",
    "documentsAccountName": "stdocstest",
    "documentsContainer": "documents",
    "appIdentityName": "id-test",
    "appIdentityClientId": "a",
    "migrationIdentityName": "id-migration-test",
    "migrationIdentityClientId": "b",
    "keyVaultName": "kv-test",
}
RESOURCES = [
    "Microsoft.Storage/storageAccounts/sthosttest",
    "Microsoft.ServiceBus/namespaces/sbns-test",
    "Microsoft.Sql/servers/sql-test",
    "Microsoft.Sql/servers/sql-test/databases/sqldb-test",
    "Microsoft.KeyVault/vaults/kv-test",
    "Microsoft.Web/sites/func-test",
]
FRESH = {"group": None, "deployed": False, "keys": None, "blobs": {}, "settings": {}, "rules": []}

State = dict


def option(words: list[str], name: str) -> str:
    """The word after an option; empty without it."""
    return words[words.index(name) + 1] if name in words else ""


def token(words: list[str], state: State) -> str:
    claims = base64.urlsafe_b64encode(json.dumps({"oid": OBJECT_ID}).encode()).decode().rstrip("=")
    return f"eyJhbGciOiJub25lIn0.{claims}.signature"


def make_group(words: list[str], state: State) -> None:
    state["group"] = option(words, "--location")


def what_if(words: list[str], state: State) -> str:
    if "--no-pretty-print" not in words:
        return "Resource changes: 3 to create."
    kind = "NoChange" if state["deployed"] else "Create"
    provider = "/subscriptions/s/resourceGroups/rg/providers"
    changes = [{"changeType": kind, "resourceId": f"{provider}/{name}"} for name in RESOURCES]
    return json.dumps({"changes": changes + state.get("drift", [])})


def deploy(words: list[str], state: State) -> None:
    state["deployed"] = True
    told = dict(word.split("=", 1) for word in words if word.startswith("build"))
    state["settings"] |= {
        "AUTH_AUDIENCES": "api://extractor,other",
        "BUILD_VERSION": told["buildVersion"],
        "BUILD_COMMIT": told["buildCommit"],
    }


def outputs(words: list[str], state: State) -> str:
    if not state["deployed"]:
        sys.exit("(DeploymentNotFound) Deployment 'extractor' could not be found.")
    return json.dumps({name: {"type": "String", "value": value} for name, value in OUTPUTS.items()})


def keep_secret(words: list[str], state: State) -> None:
    state["keys"] = Path(option(words, "--file")).read_text()


def upload(words: list[str], state: State) -> None:
    name = option(words, "--name")
    if name in state["blobs"]:
        sys.exit("(BlobAlreadyExists) The specified blob already exists.")
    uploaded = f"2026-01-01T00:00:{len(state['blobs']):02}Z"
    state["blobs"][name] = {"name": name, "uploadedAt": uploaded}


def download(words: list[str], state: State) -> None:
    if option(words, "--name") not in state["blobs"]:
        sys.exit("(BlobNotFound) The specified blob does not exist.")
    Path(option(words, "--file")).write_bytes(b"a package")


def note(words: list[str], state: State) -> None:
    key, value = option(words, "--metadata").split("=")
    state["blobs"][option(words, "--name")][key] = value


def setting(words: list[str], state: State) -> str:
    name = option(words, "--query").split("'")[1]
    return state["settings"].get(name, "")


def set_settings(words: list[str], state: State) -> None:
    state["settings"] |= dict(word.split("=", 1) for word in words if word.startswith("BUILD_"))


def put_package(words: list[str], state: State) -> None:
    state["running"] = Path(option(words, "--src")).name


def rest(words: list[str], state: State) -> str:
    return "true" if "vailability" in option(words, "--url") else ""


ANSWERS: dict[str, Callable[[list[str], State], str | None]] = {
    "account show": lambda w, s: "A subscription\nsub-id\ntenant-id\nme@example.com",
    "account get-access-token": token,
    "provider list": lambda w, s: s.get("providers", "Microsoft.App\nmicrosoft.insights").strip(),
    "functionapp list-flexconsumption-locations": lambda w, s: "northeurope\nwesteurope",
    "functionapp list-flexconsumption-runtimes": lambda w, s: "3.11\n3.12\n3.13",
    "group list": lambda w, s: s["group"] or "",
    "group create": make_group,
    "group delete": lambda w, s: s.update(FRESH),
    "resource list": lambda w, s: "Name  Type",
    "deployment group what-if": what_if,
    "deployment group create": deploy,
    "deployment group show": outputs,
    "storage account check-name": lambda w, s: "true",
    "servicebus namespace exists": lambda w, s: "true",
    "keyvault check-name": lambda w, s: s.get("vault name is free", "true"),
    "keyvault secret list": lambda w, s: "callback-keys" if s["keys"] else "",
    "keyvault secret set": keep_secret,
    "keyvault secret show": lambda w, s: s["keys"],
    "storage blob exists": lambda w, s: str(option(w, "--name") in s["blobs"]).lower(),
    "storage blob upload": upload,
    "storage blob download": download,
    "storage blob list": lambda w, s: json.dumps(list(s["blobs"].values())),
    "storage blob metadata update": note,
    "functionapp show": lambda w, s: SITE,
    "functionapp config appsettings list": setting,
    "functionapp config appsettings set": set_settings,
    "functionapp deployment source config-zip": put_package,
    "sql server firewall-rule create": lambda w, s: s["rules"].append(option(w, "--name")),
    "sql server firewall-rule delete": lambda w, s: s["rules"].remove(option(w, "--name")),
    "rest": rest,
}


def main() -> None:
    words = sys.argv[1:]
    with (FOLDER / "calls.jsonl").open("a") as calls:
        calls.write(json.dumps(words) + "\n")
    state = json.loads(STATE.read_text()) if STATE.exists() else dict(FRESH)
    line = " ".join(words)
    failing, refusing = os.environ.get("AZ_FAIL"), os.environ.get("AZ_REFUSE")
    if failing and line.startswith(failing):
        sys.exit("(AuthorizationFailed) The client has no authorization to do this.")
    if refusing and line.startswith(refusing) and not state.get("refused"):
        STATE.write_text(json.dumps(state | {"refused": True}))
        sys.exit("(AuthorizationPermissionMismatch) This request is not authorized: 403")
    command = max((name for name in ANSWERS if line.startswith(name)), key=len, default=None)
    if command is None:
        sys.exit(f"the stand-in knows no az {line}")
    answer = ANSWERS[command](words, state)
    STATE.write_text(json.dumps(state))
    if answer:
        sys.stdout.write(f"{answer}\n")


main()
