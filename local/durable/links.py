"""The URLs that clients of the engine are given."""

from urllib.parse import quote_plus, urlsplit

from local.durable.events import compact

WEBHOOK_PATH = "/runtime/webhooks/durabletask"
RPC_PATH = "/durabletask"
CONNECTION = "Storage"
"""The name of the storage connection unless `host.json` has another."""


def management_urls(
    webhook_url: str, hub: str, id: str, key: str, connection: str = CONNECTION
) -> dict[str, str]:
    """What can be done with one instance, and where; `key` may be empty."""
    instance = f"{webhook_url}/instances/{quote_plus(id, safe='!*()')}"
    query = f"taskHub={quote_plus(hub)}&connection={connection}" + (f"&code={key}" if key else "")
    return {
        "id": id,
        "statusQueryGetUri": f"{instance}?{query}",
        "sendEventPostUri": f"{instance}/raiseEvent/{{eventName}}?{query}",
        "terminatePostUri": f"{instance}/terminate?reason={{text}}&{query}",
        "purgeHistoryDeleteUri": f"{instance}?{query}",
        "restartPostUri": f"{instance}/restart?{query}",
        "suspendPostUri": f"{instance}/suspend?reason={{text}}&{query}",
        "resumePostUri": f"{instance}/resume?reason={{text}}&{query}",
    }


def client_binding(
    engine_hub: str, base_url: str, rpc_base_url: str, key: str, connection: str = CONNECTION
) -> str:
    """The JSON document that a durable client input gets.

    `base_url` is where the web hooks are served from and `rpc_base_url` where the calls without a
    key are: an origin such as `http://127.0.0.1:7071`, to which the usual path is added, or a URL
    that has its path already.
    """
    webhook_url = _with_path(base_url, WEBHOOK_PATH)
    start = f"{webhook_url}/orchestrators/{{functionName}}[/{{instanceId}}]"
    wait = "timeout={timeoutInSeconds}&pollingInterval={intervalInSeconds}"
    management = management_urls(webhook_url, engine_hub, "INSTANCEID", key, connection)
    rewind = management["terminatePostUri"].replace("/terminate?", "/rewind?")
    return compact(
        {
            "taskHubName": engine_hub,
            "connectionName": None,
            "creationUrls": {
                "createNewInstancePostUri": f"{start}?code={key}",
                "createAndWaitOnNewInstancePostUri": f"{start}?{wait}&code={key}",
            },
            "managementUrls": {**management, "rewindPostUri": rewind},
            "baseUrl": webhook_url,
            "requiredQueryStringParameters": f"code={key}",
            "rpcBaseUrl": _with_path(rpc_base_url, RPC_PATH) + "/",
            "httpBaseUrl": None,
            "maxGrpcMessageSizeInBytes": None,
            "grpcHttpClientTimeout": None,
        }
    )


def _with_path(url: str, path: str) -> str:
    url = url.rstrip("/")
    return url if urlsplit(url).path else url + path
