"""HTTP: an operator restarts the extraction of up to 100 extracted entities."""

from http import HTTPStatus

import azure.functions as func

from shared.auth import Access
from shared.contracts.http import RestartRequest
from shared.contracts.http_answers import (
    EntityError,
    RestartAnswer,
    RestartNotSentAnswer,
    RestartRefusedAnswer,
)
from shared.domain.restart import RestartStatus
from shared.functions.http import answer, current_exchange, endpoint, read_body
from shared.services.restart import Restart, Restarted, RestartNotSentError
from shared.wiring import app

bp = func.Blueprint()

IDEMPOTENCY_KEY = "idempotency-key"


@bp.function_name("restart_extraction")
@bp.route("v1/extracted_entities/restart", methods=["POST"])
@endpoint
def restart_extraction(req: func.HttpRequest) -> func.HttpResponse:
    """200 accepted or partial; 400 when none may be restarted, 404 when none is known."""
    caller = app().authorize(req.headers.get("Authorization"), Access.WRITE)
    body = read_body(req, RestartRequest)
    restart = Restart(
        entity_ids=body.extractedEntityIds,
        reason=body.reason,
        initiated_by=caller.initiated_by,
        client_application_id=caller.client_application_id,
        body=req.get_body(),
        idempotency_key=req.headers.get(IDEMPOTENCY_KEY),
    )
    try:
        return _answer(app().restart(restart, current_exchange().trace_parent))
    except RestartNotSentError as error:
        return _not_sent(error.request_id)


def _answer(restarted: Restarted) -> func.HttpResponse:
    plan = restarted.plan
    status = HTTPStatus.OK
    if plan.status is RestartStatus.FAILED:
        status = HTTPStatus.BAD_REQUEST if plan.any_known else HTTPStatus.NOT_FOUND
    document = RestartAnswer(
        requestId=restarted.request_id,
        extractedEntityIds=list(plan.entity_ids),
        fileHashes=list(plan.file_hashes),
        status=plan.status,
        message=plan.message,
        errors=[EntityError(extractedEntityId=id_, error=text) for id_, text in plan.errors]
        or None,
    )
    if status is HTTPStatus.OK:
        return answer(document)
    return answer(RestartRefusedAnswer(error=status.phrase, **dict(document)), status)


def _not_sent(request_id: str) -> func.HttpResponse:
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    message = (
        "Failed to restart extraction: the request could not be confirmed in time and may have"
        f" started all the same; GET /v1/requests/{request_id} tells, or repeat it with the same"
        " Idempotency-Key"
    )
    return answer(
        RestartNotSentAnswer(error=status.phrase, message=message, requestId=request_id), status
    )
