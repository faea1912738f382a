"""Service Bus trigger: an attempt has ended; the stage mapper asks for the next one."""

import logging
from functools import partial

import azure.functions as func

from shared.functions.handling import EXTRACTION_RESULT
from shared.functions.holding import afterwards, hold
from shared.functions.messages import incoming
from shared.functions.names import SERVICE_BUS_CONNECTION
from shared.telemetry import log_event

bp = func.Blueprint()
logger = logging.getLogger(__name__)


@bp.service_bus_topic_trigger(
    arg_name="message",
    topic_name="%TOPIC_EXTRACTION_RESULT%",
    subscription_name="%SUBSCRIPTION_EXTRACTION_RESULT%",
    connection=SERVICE_BUS_CONNECTION,
    data_type=func.DataType.BINARY,
)
async def on_extraction_result(message: func.ServiceBusMessage) -> None:
    """Ask again for what failed and may pass, after a backoff. Safe under repeats."""
    handle = partial(EXTRACTION_RESULT.handle, incoming(message))
    ended, kept_by = await hold(handle, message.delivery_count or 1)
    await afterwards(partial(EXTRACTION_RESULT.follow, None, (ended, kept_by)))
    log_event(
        logger,
        "Extraction retry completed",
        requestId=ended.result.requestId,
        total=len(ended.result.fileIds),
        successful=len(ended.result.successfulIds),
        failed=len(ended.result.failedIds),
        outcome="next attempt" if kept_by else "final",
    )
