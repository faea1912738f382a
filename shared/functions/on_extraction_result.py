"""Service Bus trigger: an attempt has ended; the stage mapper asks for the next one."""

import logging
from functools import partial
from uuid import UUID

import azure.functions as func

from shared.contracts.retry import RESULT_ATTEMPT, ExtractionRetryResult, read_retry_result
from shared.contracts.wire import ContractError
from shared.functions.holding import afterwards, hold, in_thread
from shared.functions.messages import application_property
from shared.functions.names import SERVICE_BUS_CONNECTION
from shared.telemetry import log_event
from shared.wiring import app

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
    result, kept_by = await hold(partial(_decide, message), message.delivery_count or 1)
    if kept_by:
        await afterwards(partial(in_thread, partial(app().send_outbox, kept_by)))
    log_event(
        logger,
        "Extraction retry completed",
        requestId=result.requestId,
        total=len(result.fileIds),
        successful=len(result.successfulIds),
        failed=len(result.failedIds),
        outcome="next attempt" if kept_by else "final",
    )


def _decide(message: func.ServiceBusMessage) -> tuple[ExtractionRetryResult, UUID | None]:
    result = read_retry_result(message.get_body(), application_property(message, "schemaVersion"))
    return result, app().stage_mapper.ask_for_next_attempt(result, _attempt(message))


def _attempt(message: func.ServiceBusMessage) -> int:
    given = application_property(message, RESULT_ATTEMPT)
    text = str(1 if given is None else given).strip()
    if not text.isdecimal() or int(text) < 1:
        raise ContractError("contract_broken", f"{RESULT_ATTEMPT} must be a number from 1 on")
    return int(text)
