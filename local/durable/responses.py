"""Answers of the management interface, worded as the real host words them."""

from typing import Any

from aiohttp import web

from local.durable.events import compact


def json_response(
    document: Any, status: int = 200, headers: dict[str, str] | None = None
) -> web.Response:
    """JSON without blanks; a text is a JSON text."""
    return web.Response(
        body=compact(document).encode(),
        status=status,
        headers=headers,
        content_type="application/json",
        charset="utf-8",
    )


def error_response(status: int, message: str, text: str, type: str) -> web.Response:
    """An error with the .NET exception that the real host would name."""
    return json_response(
        {"Message": message, "ExceptionMessage": text, "ExceptionType": type, "StackTrace": ""},
        status,
    )


def went_wrong(text: str, type: str = "System.InvalidOperationException") -> web.Response:
    """500 with the reason."""
    return error_response(500, "Something went wrong while processing your request", text, type)


def invalid_json(error: ValueError) -> web.Response:
    """400 for a body that is not JSON."""
    return error_response(
        400, "Invalid JSON content", str(error), "Newtonsoft.Json.JsonReaderException"
    )


def already_exists(status_name: str) -> str:
    """Why an id can't be used again yet."""
    return f"An Orchestration instance with the status {status_name} already exists."


def not_supported(what: str) -> web.Response:
    """501: this engine doesn't do that."""
    return json_response(f"{what} not supported by the embedded durable engine.", 501)
