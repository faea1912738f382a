"""Calling an HTTP function as the host does, with a valid token unless told otherwise."""

import json
from typing import Any

import azure.functions as func


def ask(
    function: Any,
    body: Any = b"",
    headers: dict[str, str] | None = None,
    params: dict[str, str] | None = None,
    **route: str,
) -> func.HttpResponse:
    """The answer of a function of a blueprint; a body that is no bytes is sent as JSON."""
    request = func.HttpRequest(
        "POST",
        "/",
        headers={"authorization": "Bearer good"} | (headers or {}),
        params=params or {},
        route_params=route,
        body=body if isinstance(body, bytes) else json.dumps(body).encode(),
    )
    response: func.HttpResponse = function._function.get_user_function()(request)
    return response


def read(response: func.HttpResponse) -> Any:
    """The JSON of an answer."""
    assert response.mimetype == "application/json"
    return json.loads(response.get_body())
