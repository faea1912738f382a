"""Service Bus trigger: a retry was asked for, by an operator, a service or ourselves."""

import logging
from datetime import UTC, datetime
from functools import partial
from typing import Any

import azure.durable_functions as df
import azure.functions as func

from shared.functions.handling import EXTRACTION_RETRY
from shared.functions.holding import afterwards, hold
from shared.functions.messages import incoming
from shared.functions.names import SERVICE_BUS_CONNECTION
from shared.telemetry import log_event

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
    handle = partial(EXTRACTION_RETRY.handle, incoming(message))
    event, asked = await hold(handle, message.delivery_count or 1)
    await afterwards(partial(EXTRACTION_RETRY.follow, client, (event, asked)))
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
        waitedMs=max(round((datetime.now(UTC) - event.timestamp).total_seconds() * 1000), 0),
    )
