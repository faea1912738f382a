"""The management calls, one by one."""

import asyncio
import json

from aiohttp import web

from local.durable.engine import DurableEngine
from local.durable.events import RuntimeStatus, compact
from local.durable.instances import Instance, UnknownInstance, WrongStatus
from local.durable.links import WEBHOOK_PATH, management_urls
from local.durable.parameters import (
    CONTINUATION_HEADER,
    BadToken,
    Parameters,
    continuation_token,
    read_query,
)
from local.durable.responses import (
    already_exists,
    error_response,
    invalid_json,
    json_response,
    not_supported,
    went_wrong,
)
from local.durable.status import history_document, status_document

SHORTEST_POLL_SECONDS = 0.05


class Handlers:
    """What answers each call. UnknownInstance and FinishedInstance pass through to the caller."""

    def __init__(self, engine: DurableEngine, key: str) -> None:
        self._engine = engine
        self._key = key

    async def start(self, request: web.Request, name: str, id: str = "") -> web.Response:
        """POST orchestrators/{name}[/{id}]"""
        try:
            input = await _input(request)
        except ValueError as error:
            return invalid_json(error)
        try:
            id = self._engine.instances.start(name, id or None, input)
        except WrongStatus as problem:
            return json_response({"Message": already_exists(problem.status.name)}, 409)
        return await self._wait_or_links(request, id)

    async def restart(self, request: web.Request, id: str) -> web.Response:
        """POST instances/{id}/restart; by default under a new id"""
        under_new_id = Parameters(request).flag("restartWithNewInstanceId", default=True)
        try:
            id = self._engine.instances.restart(id, under_new_id=under_new_id)
        except WrongStatus as problem:
            return error_response(
                409,
                "A non-terminal instance with this instance ID already exists.",
                already_exists(problem.status.name),
                "DurableTask.Core.Exceptions.OrchestrationAlreadyExistsException",
            )
        except UnknownInstance:
            return error_response(
                400,
                "InstanceId does not match a valid orchestration instance.",
                f"No instance with ID '{id}' was found. (Parameter 'instanceId')",
                "System.ArgumentException",
            )
        return await self._wait_or_links(request, id)

    async def _wait_or_links(self, request: web.Request, id: str) -> web.Response:
        parameters = Parameters(request)
        timeout, pause = parameters.seconds("timeout"), parameters.seconds("pollingInterval")
        if timeout is not None and pause is not None:
            instance = await self._wait(id, timeout, pause)
            if instance.status is RuntimeStatus.Completed:
                return json_response(status_document(instance)["output"])
            if instance.status.is_final:
                return await self.get(request, id)
        webhooks = f"{request.scheme}://{request.host}{WEBHOOK_PATH}"
        options = self._engine.options
        links = management_urls(webhooks, options.hub_name, id, self._key, options.connection)
        headers = {"Location": links["statusQueryGetUri"], "Retry-After": "10"}
        return json_response(links, 202, headers)

    async def _wait(self, id: str, seconds: float, pause: float) -> Instance:
        """The instance when it is over, or when the time is."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while True:
            instance = self._engine.instances.find(id)
            left = deadline - loop.time()
            if instance.status.is_final or left <= 0:
                return instance
            await asyncio.sleep(min(max(pause, SHORTEST_POLL_SECONDS), left))

    async def get(self, request: web.Request, id: str) -> web.Response:
        """GET instances/{id}"""
        parameters = Parameters(request)
        show_input = parameters.flag("showInput", default=True)
        instance = self._engine.instances.find(id)
        document = status_document(instance, show_input=show_input)
        if parameters.flag("showHistory", default=False):
            document["historyEvents"] = history_document(
                self._engine.instances.history(id),
                show_input=show_input,
                show_output=parameters.flag("showHistoryOutput", default=False),
            )
        if not instance.status.is_final:
            headers = {"Location": str(request.url), "Retry-After": "5"}
            return json_response(document, 202, headers)
        is_error = instance.status is RuntimeStatus.Failed and parameters.flag(
            "returnInternalServerErrorOnFailure", default=False
        )
        return json_response(document, 500 if is_error else 200)

    async def list(self, request: web.Request) -> web.Response:
        """GET instances"""
        try:
            query = read_query(request)
        except BadToken:
            return json_response([])
        if query.page_size < 0:
            return went_wrong(
                "An error occurred while communicating with Azure Storage",
                "DurableTask.AzureStorage.Storage.DurableTaskStorageException",
            )
        page = self._engine.instances.list(query)
        show_input = Parameters(request).flag("showInput", default=True)
        documents = [status_document(one, show_input=show_input) for one in page.instances]
        headers = {CONTINUATION_HEADER: continuation_token(page.next_id)} if page.next_id else {}
        return json_response(documents, headers=headers)

    async def raise_event(self, request: web.Request, id: str, name: str) -> web.Response:
        """POST instances/{id}/raiseEvent/{name}"""
        self._engine.instances.check_unfinished(id)
        if request.content_type.lower() != "application/json":
            text = "Only application/json request content is supported"
            return json_response({"Message": text}, 400)
        try:
            input = compact(json.loads(await request.read()))
        except ValueError as error:
            return invalid_json(error)
        self._engine.instances.raise_event(id, name, input)
        return web.Response(status=202)

    async def terminate(self, request: web.Request, id: str) -> web.Response:
        """POST instances/{id}/terminate"""
        self._engine.instances.terminate(id, Parameters(request).text("reason"))
        return web.Response(status=202)

    async def suspend(self, request: web.Request, id: str) -> web.Response:
        """POST instances/{id}/suspend"""
        try:
            self._engine.instances.suspend(id, Parameters(request).text("reason"))
        except WrongStatus as problem:
            return _cannot("suspend", id, problem.status)
        return web.Response(status=202)

    async def resume(self, request: web.Request, id: str) -> web.Response:
        """POST instances/{id}/resume"""
        try:
            self._engine.instances.resume(id, Parameters(request).text("reason"))
        except WrongStatus as problem:
            return _cannot("resume", id, problem.status)
        return web.Response(status=202)

    async def rewind(self, request: web.Request, id: str) -> web.Response:
        """POST instances/{id}/rewind"""
        try:
            status = self._engine.instances.find(id).status
        except UnknownInstance:
            return json_response(f'No orchestration with instance ID "${id}" found.', 404)
        if status is not RuntimeStatus.Failed:
            text = (
                f"This orchestration has status {status.name}, but only orchestrations in the "
                '"Failed" state can be rewound.'
            )
            return json_response(text, 412)
        return not_supported("Rewinding is")

    async def purge(self, request: web.Request, id: str) -> web.Response:
        """DELETE instances/{id}"""
        try:
            self._engine.instances.purge(id)
        except WrongStatus as problem:
            text = (
                "Only orchestrations in a terminal state can be purged, but the orchestration "
                f"with instance ID {id} has status {problem.status.name}"
            )
            return json_response(text, 412)
        return json_response({"instancesDeleted": 1})

    async def purge_all(self, request: web.Request) -> web.Response:
        """DELETE instances"""
        parameters = Parameters(request)
        created_from = parameters.time("createdTimeFrom")
        if not created_from:
            return json_response("Please provide value for 'createdTimeFrom' parameter.", 400)
        created_to = parameters.time("createdTimeTo") or self._engine.clock()
        deleted = self._engine.instances.purge_all(created_from, created_to, parameters.statuses())
        return json_response({"instancesDeleted": deleted}) if deleted else web.Response(status=404)

    async def entities(self, request: web.Request) -> web.Response:
        """Anything under entities"""
        return not_supported("Entities are")


async def _input(request: web.Request) -> str | None:
    """An input as JSON text. Raises ValueError when the body is not JSON."""
    body = await request.read()
    if body:
        return compact(json.loads(body))
    # A body that is announced as empty is none; one that is not announced at all is an empty text.
    return None if request.content_length == 0 else '""'


def _cannot(do: str, id: str, status: RuntimeStatus) -> web.Response:
    return went_wrong(
        f"Cannot {do} the orchestration instance {id} because instance is in the "
        f"{status.name} state."
    )
