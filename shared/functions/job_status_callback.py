"""HTTP: an extractor reports on its job, with the token that came with the call."""

from http import HTTPStatus

import azure.functions as func

from shared.auth import bearer_token
from shared.contracts.http_jobs import CallbackAnswer, CallbackRequest, JobPath
from shared.functions.http import answer, current_exchange, endpoint, read_body
from shared.services.record_callback import CallbackReport
from shared.wiring import app

bp = func.Blueprint()


@bp.function_name("report_job_status")
@bp.route("v1/jobs/{jobId}/status", methods=["POST"])
@endpoint
def report_job_status(req: func.HttpRequest) -> func.HttpResponse:
    """202, also for a repeat; 403 a token of another job, 404 unknown, 409 another end recorded."""
    job_id = JobPath.read(req.route_params).jobId
    app().check_callback(bearer_token(req.headers.get("Authorization")), job_id)
    body = read_body(req, CallbackRequest)
    report = CallbackReport(
        job_id=job_id,
        status=body.status,
        raw=req.get_body().decode("utf-8-sig"),
        result_summary=body.resultSummary,
        error_message=body.errorMessage,
    )
    app().record_callback(report, current_exchange().trace_parent)
    return answer(CallbackAnswer(jobId=str(job_id), status=body.status), HTTPStatus.ACCEPTED)
