"""HTTP: how extractors stand, and stopping and starting to call one."""

import logging
from typing import Literal

import azure.functions as func

from shared.auth import Access
from shared.contracts.http_extractors import (
    ExtractorAnswer,
    ExtractorPath,
    ExtractorsAnswer,
    PauseAnswer,
    PausedAnswer,
    PauseRequest,
)
from shared.domain.extractor_health import ExtractorHealth
from shared.functions.http import answer, endpoint, read_body
from shared.services.extractors import ExtractorView
from shared.telemetry import log_event
from shared.wiring import app

bp = func.Blueprint()
logger = logging.getLogger(__name__)


@bp.function_name("list_extractors")
@bp.route("v1/extractors", methods=["GET"])
@endpoint
def list_extractors(req: func.HttpRequest) -> func.HttpResponse:
    """200 with every registered extractor and how it stands."""
    app().authorize(req.headers.get("Authorization"), Access.READ)
    views = app().extractors.all()
    return answer(ExtractorsAnswer(extractors=[_extractor(view) for view in views]))


@bp.function_name("pause_extractor")
@bp.route("v1/extractors/{extractorId}/pause", methods=["POST"])
@endpoint
def pause_extractor(req: func.HttpRequest) -> func.HttpResponse:
    """200: it is called no more, and its jobs wait; 404."""
    caller = app().authorize(req.headers.get("Authorization"), Access.ADMINISTRATOR)
    extractor_id = ExtractorPath.read(req.route_params).extractorId
    reason = read_body(req, PauseRequest).reason
    app().extractors.pause(extractor_id, reason, caller.initiated_by)
    _audit("Extractor paused", extractor_id, caller.initiated_by, reason)
    return answer(PausedAnswer(extractorId=extractor_id, paused=True))


@bp.function_name("resume_extractor")
@bp.route("v1/extractors/{extractorId}/resume", methods=["POST"])
@endpoint
def resume_extractor(req: func.HttpRequest) -> func.HttpResponse:
    """200: it is called again, with a closed circuit; 404."""
    caller = app().authorize(req.headers.get("Authorization"), Access.ADMINISTRATOR)
    extractor_id = ExtractorPath.read(req.route_params).extractorId
    reason = read_body(req, PauseRequest).reason
    app().extractors.resume(extractor_id)
    _audit("Extractor resumed", extractor_id, caller.initiated_by, reason)
    return answer(PausedAnswer(extractorId=extractor_id, paused=False))


def _audit(event: str, extractor_id: int, actor: str, reason: str) -> None:
    log_event(logger, event, extractorId=extractor_id, initiatedBy=actor, reason=reason)


def _extractor(view: ExtractorView) -> ExtractorAnswer:
    health = view.health
    pause = None
    if health.paused_at:
        pause = PauseAnswer(at=health.paused_at, by=health.paused_by, reason=health.pause_reason)
    return ExtractorAnswer(
        extractorId=view.registered.extractor_id,
        clientApplicationId=view.registered.client_application_id,
        isActive=view.registered.is_active,
        state=_state(health),
        activeJobs=view.active_jobs,
        failures=health.failures,
        openUntil=health.open_until,
        pause=pause,
    )


def _state(health: ExtractorHealth) -> Literal["up", "failing", "open", "paused"]:
    if health.paused_at:
        return "paused"
    if health.broken:
        return "open"
    return "failing" if health.failures else "up"
