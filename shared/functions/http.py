"""The HTTP edge: one place that turns errors into answers. Nothing internal leaves in them."""

import json
import logging
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any

import azure.functions as func

from shared.auth import ForbiddenError, UnauthorizedError
from shared.domain.errors import PermanentError, TransientError
from shared.telemetry import log_event

logger = logging.getLogger(__name__)

Handler = Callable[[func.HttpRequest], func.HttpResponse]

RETRY_AFTER_SECONDS = "5"


def answer(
    body: Any, status: HTTPStatus = HTTPStatus.OK, headers: dict[str, str] | None = None
) -> func.HttpResponse:
    """A JSON answer."""
    return func.HttpResponse(
        json.dumps(body, ensure_ascii=False),
        status_code=int(status),
        headers=headers,
        mimetype="application/json",
    )


def endpoint(handler: Handler) -> Handler:
    """Let a handler raise domain errors: they become 400, 401, 403 or 503, the rest a plain 500."""

    @wraps(handler)
    def guarded(req: func.HttpRequest) -> func.HttpResponse:
        try:
            return handler(req)
        except UnauthorizedError as error:
            log_event(logger, "Token refused", logging.WARNING, reason=error.reason)
            challenge = {"WWW-Authenticate": "Bearer"}
            return _error(HTTPStatus.UNAUTHORIZED, str(error), challenge)
        except ForbiddenError as error:
            return _error(HTTPStatus.FORBIDDEN, str(error))
        except PermanentError as error:
            return _error(HTTPStatus.BAD_REQUEST, str(error))
        except TransientError as error:
            log_event(logger, "Part out of reach", logging.WARNING, part=error.part)
            retry = {"Retry-After": RETRY_AFTER_SECONDS}
            message = f"The {error.part} is out of reach; try again later"
            return _error(HTTPStatus.SERVICE_UNAVAILABLE, message, retry)
        except Exception:
            logger.exception("Request failed")
            message = "The request failed inside the service; its log says why"
            return _error(HTTPStatus.INTERNAL_SERVER_ERROR, message)

    return guarded


def _error(
    status: HTTPStatus, message: str, headers: dict[str, str] | None = None
) -> func.HttpResponse:
    return answer({"error": status.phrase, "message": message}, status, headers)
