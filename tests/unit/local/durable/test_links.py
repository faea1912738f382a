"""The document of a durable client input, as recorded."""

import json

import pytest

from local.durable.links import client_binding

HOOKS = "http://127.0.0.1:7071/runtime/webhooks/durabletask"


def test_the_client_gets_the_recorded_members() -> None:
    document = json.loads(
        client_binding("HubA", "http://127.0.0.1:7071", "http://127.0.0.1:17071", "<key>")
    )
    instance = f"{HOOKS}/instances/INSTANCEID"
    query = "taskHub=HubA&connection=Storage&code=<key>"
    assert document == {
        "taskHubName": "HubA",
        "connectionName": None,
        "creationUrls": {
            "createNewInstancePostUri": (
                f"{HOOKS}/orchestrators/{{functionName}}[/{{instanceId}}]?code=<key>"
            ),
            "createAndWaitOnNewInstancePostUri": (
                f"{HOOKS}/orchestrators/{{functionName}}[/{{instanceId}}]"
                "?timeout={timeoutInSeconds}&pollingInterval={intervalInSeconds}&code=<key>"
            ),
        },
        "managementUrls": {
            "id": "INSTANCEID",
            "statusQueryGetUri": f"{instance}?{query}",
            "sendEventPostUri": f"{instance}/raiseEvent/{{eventName}}?{query}",
            "terminatePostUri": f"{instance}/terminate?reason={{text}}&{query}",
            "rewindPostUri": f"{instance}/rewind?reason={{text}}&{query}",
            "purgeHistoryDeleteUri": f"{instance}?{query}",
            "restartPostUri": f"{instance}/restart?{query}",
            "suspendPostUri": f"{instance}/suspend?reason={{text}}&{query}",
            "resumePostUri": f"{instance}/resume?reason={{text}}&{query}",
        },
        "baseUrl": HOOKS,
        "requiredQueryStringParameters": "code=<key>",
        "rpcBaseUrl": "http://127.0.0.1:17071/durabletask/",
        "httpBaseUrl": None,
        "maxGrpcMessageSizeInBytes": None,
        "grpcHttpClientTimeout": None,
    }


@pytest.mark.parametrize("slash", ["", "/"])
def test_urls_may_have_their_paths_already(slash: str) -> None:
    rpc = f"http://127.0.0.1:17071/elsewhere{slash}"
    document = json.loads(client_binding("HubA", HOOKS + slash, rpc, "k"))
    assert document["baseUrl"] == HOOKS
    assert document["rpcBaseUrl"] == "http://127.0.0.1:17071/elsewhere/"
