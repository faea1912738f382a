"""The configurations that the real host was started with: `host.json`, app settings and code."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from local.durable.clock import Clock
from local.durable.database import Database
from local.durable.instances import Instances
from tests.contract.host.hosts import NO_BROKER

APP = """
import asyncio
import time

import azure.durable_functions as df
import azure.functions as func

app = df.DFApp(http_auth_level=func.AuthLevel.ANONYMOUS)

@app.route(route="hello", methods=["GET"])
def hello(req: func.HttpRequest) -> str:
    return "hi"

@app.route(route="slow", methods=["GET"])
def slow(req: func.HttpRequest) -> str:
    time.sleep(float(req.params.get("s", "30")))
    return "slow"

@app.timer_trigger(arg_name="t", schedule="* * * * * *")
def tick(t: func.TimerRequest) -> None: ...

@app.service_bus_topic_trigger("msg", "SB", "%TOPIC%", "sub")
def on_msg(msg: func.ServiceBusMessage) -> None: ...

@app.route(route="start/{id}", methods=["GET"])
@app.durable_client_input(client_name="client")
async def start(req: func.HttpRequest, client) -> func.HttpResponse:
    instance_id = await client.start_new("orch", req.route_params["id"], None)
    return client.create_check_status_response(req, instance_id)

@app.orchestration_trigger(context_name="context")
def orch(context: df.DurableOrchestrationContext):
    result = yield context.call_activity("act", 1)
    return result

@app.activity_trigger(input_name="n")
async def act(n: int) -> int:
    await asyncio.sleep(30)
    return n
"""
HELLO_AGAIN = """
@app.route(route="hello2", methods=["GET"])
def {name}(req: func.HttpRequest) -> str:
    return "hi again"
"""
LEAD = HELLO_AGAIN.replace("hello2", "/lead").format(name="leadroute").replace("hi again", "lead")
BAD_ROUTE = HELLO_AGAIN.replace('"hello2"', '"bad/{{id"').format(name="badroute")
ODD_ROUTE = HELLO_AGAIN.replace('"hello2"', '"odd/{{id:nosuch}}"').format(name="oddroute")
ADMIN_ROUTE = HELLO_AGAIN.replace("hello2", "admin/mine").format(name="admroute")
WRONG_PARAMETER = HELLO_AGAIN.format(name="wp").replace("(req:", "(other:")
TIMER = """
@app.timer_trigger(arg_name="t", schedule="{schedule}")
def {name}(t: func.TimerRequest) -> None: ...
"""
UNKNOWN_BINDING = """
@app.generic_trigger(arg_name="x", type="nosuchTrigger")
def gen(x) -> None: ...
"""


def host_json(**sections: Any) -> str:
    """The usual `host.json` with more in it; `http` and `durableTask` replace the usual ones."""
    usual = {"http": {"routePrefix": ""}, "durableTask": {"hubName": "HubE"}}
    document = {"version": "2.0", "extensions": {**usual, **sections.pop("extensions", {})}}
    return json.dumps(document | sections)


@dataclass(frozen=True)
class Configuration:
    """`host_json` and `code` None stand for no file; `more` are settings, None for one not set.

    With `left_over` an earlier host has left the instance E1 unfinished.
    """

    host_json: str | None = host_json()
    code: str | None = APP
    more: dict[str, str | None] = field(default_factory=dict)
    left_over: bool = False

    @property
    def settings(self) -> dict[str, str]:
        """The app settings."""
        usual = {"AzureWebJobsStorage": "local", "SB": NO_BROKER, "TOPIC": "jobs"}
        return {name: value for name, value in {**usual, **self.more}.items() if value is not None}

    def write(self, app: Path, data: Path) -> None:
        """Make the app's folder and the host's."""
        app.mkdir()
        data.mkdir()
        files = {"host.json": self.host_json, "function_app.py": self.code}
        for name, text in files.items():
            if text is not None:
                (app / name).write_text(text)
        if self.left_over:
            _leave_instance(data / "durable.sqlite3")


def _leave_instance(path: Path) -> None:
    database = Database(path)
    Instances(database, Clock(), lambda _: None).start("orch", "E1", None)
    database.close()


def _extensions(**extensions: Any) -> str:
    return host_json(extensions=extensions)


SERVICE_BUS = {
    "maxConcurrentCalls": 7,
    "prefetchCount": 3,
    "maxAutoLockRenewalDuration": "00:02:00",
    "autoCompleteMessages": False,
}
DURABLE = {
    "hubName": "%HUB%",
    "maxConcurrentActivityFunctions": 5,
    "maxConcurrentOrchestratorFunctions": 6,
    "storageProvider": {
        "connectionName": "AzureWebJobsStorage",
        "workItemQueueVisibilityTimeout": "00:01:00",
    },
}
HTTP = {"routePrefix": "", "customHeaders": {"X-Cust": "yes"}}
PREFIX = "AzureFunctionsJobHost__extensions__http__routePrefix"
DISABLED = {
    "AzureWebJobs.tick.Disabled": "1",
    "AzureWebJobs.on_msg.Disabled": "True",
    "AzureWebJobs.hello.Disabled": "no",
    "AzureWebJobs__orch__Disabled": "true",
}

CONFIGURATIONS = {
    "full": Configuration(
        _extensions(
            http=HTTP,
            serviceBus=SERVICE_BUS,
            durableTask=DURABLE | {"extendedSessionsEnabled": True},
        ),
        more={"HUB": "HubFromSetting"},
    ),
    "env_override": Configuration(more={PREFIX: "pre"}),
    "default_prefix": Configuration(_extensions(http={})),
    "unknown_keys": Configuration(
        host_json(nosuch=1, extensions={"nosuch": {"a": 1}, "serviceBus": {"nosuch": True}})
    ),
    "bad_value": Configuration(_extensions(serviceBus={"maxConcurrentCalls": "many"})),
    "bad_value_dt": Configuration(
        _extensions(durableTask={"maxConcurrentActivityFunctions": "many"})
    ),
    "malformed": Configuration('{"version": "2.0", "extensions": {'),
    "no_hostjson": Configuration(None),
    "empty_hostjson": Configuration("{}"),
    "version_1": Configuration('{"version": "1.0"}'),
    "comments": Configuration('{"version": "2.0", // why\n "extensions": {},}'),
    "missing_sb_conn": Configuration(more={"SB": None}),
    "empty_sb_conn": Configuration(more={"SB": ""}),
    "missing_topic": Configuration(more={"TOPIC": None}),
    "bad_sb_conn": Configuration(more={"SB": "nonsense"}),
    "sb_down": Configuration(left_over=True),
    "hub_missing_setting": Configuration(_extensions(durableTask={"hubName": "%NOHUB%"})),
    "hub_bad_name": Configuration(_extensions(durableTask={"hubName": "bad-name!"})),
    "no_storage": Configuration(more={"AzureWebJobsStorage": ""}),
    "dup_names": Configuration(
        code=APP + '@app.function_name("hello")' + HELLO_AGAIN.format(name="hello2")
    ),
    "dup_pydef": Configuration(code=APP + HELLO_AGAIN.format(name="hello")),
    "import_error": Configuration(code="import nosuchmodule\n" + APP),
    "syntax_error": Configuration(code=APP + "def broken(:\n"),
    "no_app": Configuration(code="x = 1\n"),
    "two_apps": Configuration(code=APP + "app2 = func.FunctionApp()\n"),
    "no_file": Configuration(code=None),
    "bad_cron": Configuration(
        code=APP + TIMER.format(name="badtick", schedule="not cron"), left_over=True
    ),
    "five_field_cron": Configuration(
        code=APP
        + TIMER.format(name="fivetick", schedule="*/5 * * * *")
        + TIMER.format(name="spantick", schedule="00:00:30")
        + TIMER.format(name="settick", schedule="%NOCRON%"),
        left_over=True,
    ),
    "bad_route": Configuration(code=APP + LEAD + BAD_ROUTE + ODD_ROUTE + ADMIN_ROUTE),
    "bad_binding": Configuration(code=APP + UNKNOWN_BINDING, left_over=True),
    "wrong_param": Configuration(code=APP + WRONG_PARAMETER),
    "timeout3s": Configuration(host_json(functionTimeout="00:00:03"), left_over=True),
    "thread1": Configuration(more={"PYTHON_THREADPOOL_THREAD_COUNT": "1"}, left_over=True),
    "disabled_many": Configuration(more=dict(DISABLED), left_over=True),
    "disabled_underscore": Configuration(
        more={"AzureWebJobs_hello_Disabled": "true"}, left_over=True
    ),
    "functions_list": Configuration(host_json(functions=["hello"])),
    "full2": Configuration(
        _extensions(http=HTTP, serviceBus=SERVICE_BUS, durableTask=DURABLE),
        more={"HUB": "HubFromSetting"},
    ),
    "bad_route1": Configuration(code=APP + LEAD, left_over=True),
    "bad_route2": Configuration(code=APP + ADMIN_ROUTE, left_over=True),
    "bad_route3": Configuration(code=APP + ODD_ROUTE),
    "bad_route4": Configuration(code=APP + BAD_ROUTE),
}
"""By the names in recorded_configurations.json."""
