"""HTTP: dead letters are counted, explained, handled again in place and discarded."""

from collections.abc import Sequence

import azure.durable_functions as df
import azure.functions as func

from shared.auth import Access
from shared.contracts.http_dead_letters import (
    DeadLetterAnswer,
    DeadLetterCountAnswer,
    DeadLetterCountsAnswer,
    DeadLettersAnswer,
    DeadLettersQuery,
    DiscardAnswer,
    DiscardRequest,
    ExplanationAnswer,
    ResubmitAnswer,
    ResubmitRequest,
    SubscriptionPath,
    VerdictAnswer,
)
from shared.contracts.incoming import DeadLetter
from shared.domain.dead_letters import Explanation, Operator, Verdict
from shared.functions.handling import handle_here
from shared.functions.http import answer, endpoint, endpoint_with, read_body
from shared.services.handle_dead_letters import Handle
from shared.telemetry import redact
from shared.wiring import app

bp = df.Blueprint()


@bp.function_name("list_dead_letters")
@bp.route("v1/dead_letters", methods=["GET"])
@endpoint
def list_dead_letters(req: func.HttpRequest) -> func.HttpResponse:
    """200 with the counts of all subscriptions."""
    app().authorize(req.headers.get("Authorization"), Access.ADMINISTRATOR)
    counts = [
        DeadLetterCountAnswer(
            subscription=each.subscription,
            topic=each.topic,
            count=each.count,
            more=each.more,
            oldest=each.oldest,
        )
        for each in app().dead_letters.counts()
    ]
    return answer(DeadLetterCountsAnswer(subscriptions=counts))


@bp.function_name("get_dead_letters")
@bp.route("v1/dead_letters/{subscription}", methods=["GET"])
@endpoint
def get_dead_letters(req: func.HttpRequest) -> func.HttpResponse:
    """200 with a page of dead letters, each explained; none is received. 404."""
    app().authorize(req.headers.get("Authorization"), Access.ADMINISTRATOR)
    name = SubscriptionPath.read(req.route_params).subscription
    query = DeadLettersQuery.read(req.params)
    page = app().dead_letters.peek(name, query.after, query.limit)
    document = DeadLettersAnswer(
        subscription=name,
        deadLetters=[_dead_letter(*each) for each in page],
        nextAfter=page[-1][0].sequence_number if len(page) == query.limit else None,
    )
    return answer(document)


@bp.function_name("resubmit_dead_letters")
@bp.route("v1/dead_letters/{subscription}/resubmit", methods=["POST"])
@bp.durable_client_input(client_name="client")
@endpoint_with(handle_here)
def resubmit_dead_letters(req: func.HttpRequest, handle: Handle) -> func.HttpResponse:
    """200 with one answer for each message, a dry run unless `dryRun` is false; 404."""
    caller = app().authorize(req.headers.get("Authorization"), Access.ADMINISTRATOR)
    name = SubscriptionPath.read(req.route_params).subscription
    body = read_body(req, ResubmitRequest)
    dead_letters = app().dead_letters
    if body.dryRun:
        verdicts = dead_letters.foretell(name, body.sequenceNumbers)
    else:
        by = Operator("operator", caller.initiated_by)
        verdicts = dead_letters.resubmit(name, body.sequenceNumbers, by, handle)
    results = _results(verdicts)
    return answer(ResubmitAnswer(subscription=name, dryRun=body.dryRun, results=results))


@bp.function_name("discard_dead_letters")
@bp.route("v1/dead_letters/{subscription}/discard", methods=["POST"])
@endpoint
def discard_dead_letters(req: func.HttpRequest) -> func.HttpResponse:
    """200 with one answer for each message; 404."""
    caller = app().authorize(req.headers.get("Authorization"), Access.ADMINISTRATOR)
    name = SubscriptionPath.read(req.route_params).subscription
    body = read_body(req, DiscardRequest)
    by = Operator("operator", caller.initiated_by, body.reason)
    verdicts = app().dead_letters.discard(name, body.sequenceNumbers, by)
    return answer(DiscardAnswer(subscription=name, results=_results(verdicts)))


def _dead_letter(letter: DeadLetter, explanation: Explanation) -> DeadLetterAnswer:
    return DeadLetterAnswer(
        sequenceNumber=letter.sequence_number,
        messageId=letter.message_id,
        subject=letter.subject,
        correlationId=letter.correlation_id,
        enqueuedAt=letter.message.enqueued_at,
        deliveryCount=letter.delivery_count,
        reason=letter.reason,
        description=redact(letter.description) if letter.description else None,
        explanation=ExplanationAnswer(
            code=explanation.code,
            text=explanation.text,
            canBeHandled=explanation.can_be_handled,
            fileIds=[str(file_id) for file_id in explanation.file_ids],
            jobId=str(explanation.job_id) if explanation.job_id else None,
            requestId=explanation.request_id,
        ),
    )


def _results(verdicts: Sequence[Verdict]) -> list[VerdictAnswer]:
    return [
        VerdictAnswer(
            sequenceNumber=verdict.sequence_number,
            outcome=verdict.outcome,
            code=verdict.code,
            explanation=verdict.text,
        )
        for verdict in verdicts
    ]
