"""The HTTP edge: one place that turns errors into answers. Nothing internal leaves in them."""

import json
import logging
import re
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial, singledispatch, wraps
from http import HTTPStatus
from typing import Any, TypeVar
from uuid import uuid4

import azure.functions as func

from shared.auth import ForbiddenError, UnauthorizedError
from shared.contracts.http import Body, InvalidRequestError
from shared.contracts.http_answers import Answer
from shared.contracts.outgoing import trace_parent_of
from shared.domain.errors import (
    ConflictingStateError,
    NotFoundError,
    PermanentError,
    TransientError,
)
from shared.telemetry import log_context, log_event, run_in_thread

logger = logging.getLogger(__name__)

Handler = Callable[[func.HttpRequest], func.HttpResponse]
ClientHandler = Callable[[func.HttpRequest, Any], Awaitable[func.HttpResponse]]
B = TypeVar("B", bound=Body)
W = TypeVar("W")

LARGEST_BODY = 64 * 1024
"""Bytes; 100 ids and a reason take a tenth of it."""

RETRY_AFTER_SECONDS = 5
REQUEST_ID = "x-request-id"
_SANE_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")


@dataclass(frozen=True)
class Exchange:
    """What ties a request to its answer, its log lines and what it sets going."""

    request_id: str
    trace_parent: str


_current: ContextVar[Exchange] = ContextVar("exchange")


class RefusedRequestError(Exception):
    """The request is refused for its form, before its body is read. The text says what to do."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


def endpoint(handler: Handler) -> Handler:
    """Let a handler raise domain errors: each becomes its answer, and what is left a plain 500.

    Every answer and every log line within carries the request id: the header `x-request-id` when
    it is 1 to 64 letters, digits and `.`, `_`, `:`, `-`, else one that is made here.
    """

    @wraps(handler)
    def guarded(req: func.HttpRequest) -> func.HttpResponse:
        exchange = _exchange(req.headers)
        token = _current.set(exchange)
        trace_id = exchange.trace_parent.split("-")[1]
        try:
            with log_context(requestId=exchange.request_id, traceId=trace_id):
                response = _answer(handler, req)
        finally:
            _current.reset(token)
        response.headers[REQUEST_ID] = exchange.request_id
        return response

    return guarded


def endpoint_with(
    make: Callable[[Any], W],
) -> Callable[[Callable[[func.HttpRequest, W], func.HttpResponse]], ClientHandler]:
    """The same for a blocking handler that needs the durable client, which is asynchronous.

    It runs in a thread and is given what `make(client)` made of the client beside the event loop.
    """

    def wrap(handler: Callable[[func.HttpRequest, W], func.HttpResponse]) -> ClientHandler:
        async def guarded(req: func.HttpRequest, client: Any) -> func.HttpResponse:
            made = make(client)

            @endpoint
            @wraps(handler)
            def bound(req: func.HttpRequest) -> func.HttpResponse:
                return handler(req, made)

            return await run_in_thread(partial(bound, req))

        guarded.__name__ = handler.__name__
        guarded.__doc__ = handler.__doc__
        return guarded

    return wrap


def current_exchange() -> Exchange:
    """The exchange that is being handled. Raises LookupError outside of an endpoint."""
    return _current.get()


def answer(
    body: Any, status: HTTPStatus = HTTPStatus.OK, headers: dict[str, str] | None = None
) -> func.HttpResponse:
    """A JSON answer, of a model or of what JSON takes."""
    document = body.document() if isinstance(body, Answer) else body
    return func.HttpResponse(
        json.dumps(document, ensure_ascii=False),
        status_code=int(status),
        headers=headers,
        mimetype="application/json",
    )


def refusal(
    status: HTTPStatus,
    message: str,
    headers: dict[str, str] | None = None,
    more: Mapping[str, Any] | None = None,
) -> func.HttpResponse:
    """An error's answer: the reason phrase as `error`, what to do as `message`, and `more`."""
    body = {"error": status.phrase, "message": message, **(more or {})}
    return answer(body, status, headers)


def read_body(req: func.HttpRequest, model: type[B]) -> B:
    """The request's body. Raises RefusedRequestError, InvalidRequestError and ContractError."""
    body = req.get_body()
    _check_length(req.headers, len(body))
    _check_content_type(req.headers.get("content-type", ""))
    return model.read(body)


def _exchange(headers: Mapping[str, str]) -> Exchange:
    given = headers.get(REQUEST_ID, "")
    request_id = given if _SANE_ID.fullmatch(given) else str(uuid4())
    return Exchange(request_id, trace_parent_of(headers.get("traceparent")))


def _answer(handler: Handler, req: func.HttpRequest) -> func.HttpResponse:
    started = time.monotonic()
    try:
        response = handler(req)
    except Exception as error:
        response = _answer_to(error)
    log_event(
        logger,
        "Request answered",
        function=getattr(handler, "__name__", None),
        status=response.status_code,
        durationMs=round((time.monotonic() - started) * 1000),
    )
    return response


def _check_length(headers: Mapping[str, str], length: int) -> None:
    if not length and "transfer-encoding" in headers and "content-length" not in headers:
        # The platform hands on an empty body then, whatever was sent.
        raise RefusedRequestError(
            HTTPStatus.LENGTH_REQUIRED,
            "Send the body with a Content-Length header, not in chunks",
        )
    if max(length, _announced(headers.get("content-length", ""))) > LARGEST_BODY:
        raise RefusedRequestError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"The body must not be larger than {LARGEST_BODY // 1024} KB",
        )


def _announced(content_length: str) -> int:
    return int(content_length[:19]) if content_length[:19].isdecimal() else 0


def _check_content_type(value: str) -> None:
    if value.partition(";")[0].strip().lower() not in {"", "application/json"}:
        raise RefusedRequestError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "The Content-Type must be application/json"
        )


@singledispatch
def _answer_to(error: Exception) -> func.HttpResponse:
    trace = "".join(traceback.format_exception(error))
    log_event(logger, "Request failed", logging.ERROR, exception=trace)
    message = "The request failed inside the service; its log says why"
    return refusal(HTTPStatus.INTERNAL_SERVER_ERROR, message)


@_answer_to.register
def _(error: UnauthorizedError) -> func.HttpResponse:
    log_event(logger, "Token refused", logging.WARNING, reason=error.reason)
    return refusal(HTTPStatus.UNAUTHORIZED, str(error), {"WWW-Authenticate": "Bearer"})


@_answer_to.register
def _(error: ForbiddenError) -> func.HttpResponse:
    return refusal(HTTPStatus.FORBIDDEN, str(error))


@_answer_to.register
def _(error: RefusedRequestError) -> func.HttpResponse:
    return refusal(error.status, str(error))


@_answer_to.register
def _(error: PermanentError) -> func.HttpResponse:
    return refusal(HTTPStatus.BAD_REQUEST, str(error))


@_answer_to.register
def _(error: InvalidRequestError) -> func.HttpResponse:
    details = [{"field": field, "message": rule} for field, rule in error.details]
    more = {"details": details} if details else None
    return refusal(HTTPStatus.BAD_REQUEST, str(error), more=more)


@_answer_to.register
def _(error: NotFoundError) -> func.HttpResponse:
    later = {"Retry-After": str(error.retry_after)} if error.retry_after else None
    return refusal(HTTPStatus.NOT_FOUND, str(error), later)


@_answer_to.register
def _(error: ConflictingStateError) -> func.HttpResponse:
    return refusal(HTTPStatus.CONFLICT, str(error))


@_answer_to.register
def _(error: TransientError) -> func.HttpResponse:
    log_event(logger, "Part out of reach", logging.WARNING, part=error.part)
    return refusal(
        HTTPStatus.SERVICE_UNAVAILABLE,
        f"The {error.part} is out of reach; try again later",
        {"Retry-After": str(RETRY_AFTER_SECONDS)},
    )
