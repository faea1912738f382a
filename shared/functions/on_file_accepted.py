"""Service Bus trigger: a file was accepted."""

import logging
from functools import partial
from typing import Any

import azure.durable_functions as df
import azure.functions as func

from shared.functions.handling import ACCEPTED_FILE
from shared.functions.holding import afterwards, hold
from shared.functions.messages import incoming
from shared.functions.names import SERVICE_BUS_CONNECTION
from shared.telemetry import log_event

bp = df.Blueprint()
logger = logging.getLogger(__name__)


@bp.service_bus_topic_trigger(
    arg_name="message",
    topic_name="%TOPIC_ACCEPTED_FILE%",
    subscription_name="%SUBSCRIPTION_ACCEPTED_FILE%",
    connection=SERVICE_BUS_CONNECTION,
    data_type=func.DataType.BINARY,
)
@bp.durable_client_input(client_name="client")
async def on_file_accepted(message: func.ServiceBusMessage, client: Any) -> None:
    """Make the file's job, announce it, start its orchestration. Safe under repeats."""
    handle = partial(ACCEPTED_FILE.handle, incoming(message))
    job = await hold(handle, message.delivery_count or 1)
    await afterwards(partial(ACCEPTED_FILE.follow, client, job))
    log_event(logger, "File accepted", jobId=job.job_id, fileId=job.file_id, outcome=job.status)
