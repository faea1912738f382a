"""Service Bus trigger: a retry was asked for, by an operator, a service or ourselves."""

import logging
from functools import partial
from typing import Any

import azure.durable_functions as df
import azure.functions as func

from shared.contracts.outgoing import trace_parent_of
from shared.contracts.retry import ExtractionRetryEvent, read_retry_event
from shared.functions.holding import afterwards, hold, in_thread
from shared.functions.messages import application_property, enqueued_at
from shared.functions.names import SERVICE_BUS_CONNECTION
from shared.functions.orchestrations import start
from shared.services.handle_retry import Asked
from shared.telemetry import log_event
from shared.wiring import app

bp = df.Blueprint()
logger = logging.getLogger(__name__)


@bp.service_bus_topic_trigger(
    arg_name="message",
    topic_name="%TOPIC_EXTRACTION_RETRY%",
    subscription_name="%SUBSCRIPTION_EXTRACTION_RETRY%",
    connection=SERVICE_BUS_CONNECTION,
    data_type=func.DataType.BINARY,
)
@bp.durable_client_input(client_name="client")
async def on_extraction_retry(message: func.ServiceBusMessage, client: Any) -> None:
    """Make one job for each file that needs one, and start them. Safe under repeats."""
    event, asked = await hold(partial(_ask, message), message.delivery_count or 1)
    await afterwards(partial(_send_and_start, client, asked))
    log_event(
        logger,
        "Processing extraction retry request",
        requestId=event.requestId,
        fileCount=len(event.fileIds),
        fileIds=event.fileIds,
        reason=event.reason,
        retryAttempt=event.retryAttempt,
        clientApplicationId=event.clientApplicationId,
        jobs=len(asked.jobs),
    )


def _ask(message: func.ServiceBusMessage) -> tuple[ExtractionRetryEvent, Asked]:
    event = read_retry_event(
        message.get_body(), enqueued_at(message), application_property(message, "schemaVersion")
    )
    trace_parent = trace_parent_of(application_property(message, "traceparent"))
    return event, app().handle_retry(event, trace_parent)


async def _send_and_start(client: Any, asked: Asked) -> None:
    for kept_by in asked.outboxes:
        await in_thread(partial(app().send_outbox, kept_by))
    for job in asked.jobs:
        if job.active:
            await start(client, job)
