"""Calls to a hub, and what is seen of each, in the words of the recording."""

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import azure.durable_functions as df
import azure.functions as func

from tests.contract.durable.hub import KEY, Hub
from tests.until import until

HEADERS = ("Content-Type", "Location", "Retry-After", "WWW-Authenticate", "x-ms-continuation-token")
"""The headers that are compared."""


class Session:
    """Calls, and what was seen of each, by its name in the recording."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.client = hub.client
        self.seen: dict[str, Any] = {}

    async def http(self, name: str, method: str, path: str, **options: Any) -> None:
        """A call below the web hooks' path."""
        async with self.hub.http.request(method, path, **options) as answer:
            text = await answer.text()
            body = json.loads(text) if answer.content_type == "application/json" else text
            headers = {key: value for key, value in answer.headers.items() if key in HEADERS}
            if not text:
                headers.pop("Content-Type", None)
            self.note(name, {"status": answer.status, "headers": headers, "body": body})

    async def post(self, name: str, path: str, body: str = "", **options: Any) -> None:
        await self.http(name, "POST", path, data=body.encode(), **options)

    async def call(self, name: str, call: Awaitable[Any] | Callable[[], Any]) -> Any:
        """A call of the Python client: the type and value of its result, or what it raises."""
        result = None
        try:
            result = await call if isinstance(call, Awaitable) else call()
            value = result.to_json() if hasattr(result, "to_json") else result
            if isinstance(result, df.models.PurgeHistoryResult):
                value = {key: str(number) for key, number in vars(result).items()}
            self.note(name, {"type": type(result).__name__, "r": value})
        except Exception as error:
            self.note(name, {"exc": type(error).__name__, "text": str(error)})
        return result

    async def status(self, name: str, id: str, *, history: bool = False) -> None:
        """The status by HTTP, as a pair of status code and document."""
        shown = {"showHistory": "true", "showHistoryOutput": "true"} if history else {}
        await self.http(name, "GET", f"instances/{quote(id)}", params=shown)
        self.seen[name] = [self.seen[name]["status"], self.seen[name]["body"]]

    def response(self, name: str, response: func.HttpResponse) -> None:
        """What a function would answer."""
        body = json.loads(response.get_body())
        headers = {key: value for key, value in response.headers.items() if key in HEADERS}
        headers.setdefault("Content-Type", response.mimetype)
        self.note(name, {"status": response.status_code, "headers": headers, "body": body})

    def note(self, name: str, value: Any) -> None:
        """Keep what was seen, with the recording's address, and without key and made-up ids."""
        text = json.dumps(value).replace(self.hub.url, "http://localhost:7071")
        text = re.sub(r"\b[0-9a-f]{32}\b", "<id>", text.replace(KEY, "<key>"))
        self.seen[name] = json.loads(text)

    async def start(self, function: str, id: str, input: Any = None) -> None:
        await self.client.start_new(function, id, input)
        await until(lambda: self.hub.instance(id).status.name != "Pending")

    async def ended(self, *ids: str) -> None:
        for id in ids:
            await self.hub.ended(id)
