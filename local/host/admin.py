"""The host's own paths under `/admin`: ping, status, the list of functions, starting a timer."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from local.host.functions import Function
from local.host.keys import Keys, presented_key
from local.host.timers import Timer
from local.host.worker import HOST_VERSION

NO_STORE = {"Cache-Control": "no-store,no-cache", "Pragma": "no-cache"}


@dataclass
class HostStatus:
    """What the host knows of itself; `error` set means that it can't run."""

    error: str | None = None
    started: float = field(default_factory=time.monotonic)

    def document(self) -> dict[str, Any]:
        """The body of `/admin/host/status`; `processUptime` is in milliseconds."""
        return {
            "id": "local",
            "state": "Error" if self.error else "Running",
            "version": HOST_VERSION,
            "versionDetails": f"{HOST_VERSION}+local",
            "platformVersion": "",
            "instanceId": "",
            "computerName": "",
            "processUptime": round((time.monotonic() - self.started) * 1000),
            "functionAppContentEditingState": "Unknown",
            **({"errors": [self.error]} if self.error else {}),
        }


class Admin:
    """Answers `/admin/…`; all but ping and warm-up want the master key."""

    def __init__(
        self,
        status: HostStatus,
        keys: Keys,
        functions: Sequence[Function] = (),
        timers: Mapping[str, Timer] | None = None,
        route_prefix: str = "",
    ) -> None:
        """`functions` are those that are listed, disabled ones too; `timers` can be started."""
        self._status = status
        self._route_prefix = route_prefix
        self._keys = keys
        self._functions = {function.name.lower(): function for function in functions}
        self._timers = timers or {}
        self._started: set[asyncio.Task[None]] = set()

    def answer(self, request: web.Request, path: str) -> web.Response:
        """The answer for a decoded path that begins with `/admin/`."""
        match path.strip("/").lower().split("/")[1:]:
            case ["host", "ping"]:
                return web.Response(headers=NO_STORE)
            case ["warmup"]:
                return web.Response()
            case ["host" | "functions", *_] as parts:
                if not self._keys.is_master(presented_key(request)):
                    return unauthorized()
                return self._with_key(request, parts)
            case _:
                return web.Response(status=404)

    def _with_key(self, request: web.Request, parts: list[str]) -> web.Response:
        match parts:
            case ["host", "status"]:
                return web.json_response(self._status.document())
            case ["functions"]:
                return web.json_response(
                    [self._describe(request, function) for function in self._functions.values()]
                )
            case ["functions", name, *rest] if name in self._functions:
                return self._one(request, self._functions[name], rest)
            case _:
                return web.Response(status=404)

    def _one(self, request: web.Request, function: Function, rest: list[str]) -> web.Response:
        if rest == ["status"]:
            return web.json_response({})
        if rest:
            return web.Response(status=404)
        if request.method == "POST":
            return self._start(request, function)
        return web.json_response(self._describe(request, function))

    def _start(self, request: web.Request, function: Function) -> web.Response:
        if request.content_type != "application/json":
            return web.Response(status=415)
        timer = self._timers.get(function.name)
        if function.disabled:
            return web.Response(status=404)
        if timer is None:
            return web.Response(status=501, text="Only timers can be started here.")
        task = asyncio.ensure_future(timer.fire())
        self._started.add(task)
        task.add_done_callback(self._started.discard)
        return web.Response(status=202)

    def _describe(self, request: web.Request, function: Function) -> dict[str, Any]:
        origin = f"http://{request.host}"
        files = f"{origin}/admin/vfs"
        return {
            "name": function.name,
            "script_root_path_href": None,
            "script_href": f"{files}{function.directory}/{function.script_file}",
            "config_href": None,
            "test_data_href": f"{files}{function.directory}/{function.name}.dat",
            "href": f"{origin}/admin/functions/{function.name}",
            "invoke_url_template": _invoke_url(origin, function, self._route_prefix),
            "language": "python",
            "config": {
                "name": function.name,
                "entryPoint": function.entry_point,
                "scriptFile": function.script_file,
                "language": "python",
                "functionDirectory": function.directory,
                "bindings": function.declared,
            },
            "files": None,
            "test_data": "",
            "isDisabled": function.disabled,
            "isDirect": False,
            "isProxy": False,
        }


def unauthorized() -> web.Response:
    """401 as the host's own paths answer it."""
    return web.Response(status=401, headers={"WWW-Authenticate": "Bearer"})


def _invoke_url(origin: str, function: Function, prefix: str) -> str | None:
    if function.trigger.type != "httpTrigger":
        return None
    route = function.trigger.settings.get("route") or function.name
    return "/".join(part for part in (origin, prefix, route.strip("/")) if part).lower()
