"""HTTP: whether the app lives, and whether the parts it needs are within reach."""

from collections.abc import Sequence
from http import HTTPStatus

import azure.functions as func

from shared.contracts.http_health import (
    LiveAnswer,
    MendedAnswer,
    PartAnswer,
    ReadyAnswer,
    ReconciliationAnswer,
)
from shared.domain.mended import PASSES, Mended
from shared.functions.http import RETRY_AFTER_SECONDS, answer, endpoint
from shared.wiring import app

bp = func.Blueprint()


@bp.function_name("health_live")
@bp.route("health/live", methods=["GET"])
@endpoint
def health_live(req: func.HttpRequest) -> func.HttpResponse:
    """200 with what is running. Looks at no other part."""
    return answer(LiveAnswer(version=app().version, commit=app().commit))


@bp.function_name("health_ready")
@bp.route("health/ready", methods=["GET"])
@endpoint
def health_ready(req: func.HttpRequest) -> func.HttpResponse:
    """200 with every part's state and last success, or 503 naming what is down."""
    health = app().check_health()
    document = ReadyAnswer(
        status="ready" if health.ready else "not ready",
        down=health.down or None,
        parts={
            name: PartAnswer(state="up" if part.up else "down", lastSuccess=part.last_success)
            for name, part in health.parts.items()
        },
        reconciliation=_reconciliation(health.mended or []),
        version=app().version,
        commit=app().commit,
    )
    if health.ready:
        return answer(document)
    later = {"Retry-After": str(RETRY_AFTER_SECONDS)}
    return answer(document, HTTPStatus.SERVICE_UNAVAILABLE, later)


def _reconciliation(mended: Sequence[Mended]) -> ReconciliationAnswer | None:
    kinds = {each.kind: each for each in mended}
    passes = kinds.pop(PASSES, None)
    if passes is None:
        return None
    return ReconciliationAnswer(
        passes=passes.total,
        lastPass=passes.last_at,
        mended={
            kind: MendedAnswer(count=each.total, last=each.last_at) for kind, each in kinds.items()
        },
    )
