"""HTTP: extract files again, one or up to 100, by document hash or FileID."""

from http import HTTPStatus

import azure.functions as func

from shared.auth import Access
from shared.contracts.http import FilePath, RetryBatchRequest, RetryFileRequest
from shared.contracts.http_answers import RetryBatchAnswer, RetryFileAnswer
from shared.functions.http import answer, current_exchange, endpoint, read_body
from shared.wiring import app

bp = func.Blueprint()


# The platform matches routes in the order of function names: retry_batch comes before retry_file.
@bp.function_name("retry_batch")
@bp.route("v1/retry/batch", methods=["POST"])
@endpoint
def retry_batch(req: func.HttpRequest) -> func.HttpResponse:
    """202: the files will be extracted again. A file named twice is taken once."""
    caller = app().authorize(req.headers.get("Authorization"), Access.WRITE)
    body = read_body(req, RetryBatchRequest)
    file_ids = list(dict.fromkeys(body.fileIds))
    request_id = app().stage_mapper.retry_extraction_batch(
        file_ids,
        caller.client_application_id,
        body.reason,
        caller.initiated_by,
        trace_parent=current_exchange().trace_parent,
    )
    document = RetryBatchAnswer(requestId=request_id, fileIds=file_ids, count=len(file_ids))
    return answer(document, HTTPStatus.ACCEPTED)


@bp.function_name("retry_file")
@bp.route("v1/retry/{fileId}", methods=["POST"])
@endpoint
def retry_file(req: func.HttpRequest) -> func.HttpResponse:
    """202: the file will be extracted again."""
    caller = app().authorize(req.headers.get("Authorization"), Access.WRITE)
    path = FilePath.read(req.route_params)
    body = read_body(req, RetryFileRequest)
    request_id = app().stage_mapper.retry_extraction(
        path.fileId,
        caller.client_application_id,
        body.reason,
        caller.initiated_by,
        trace_parent=current_exchange().trace_parent,
    )
    return answer(RetryFileAnswer(requestId=request_id, fileId=path.fileId), HTTPStatus.ACCEPTED)
