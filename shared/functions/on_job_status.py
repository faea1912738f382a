"""Service Bus trigger: a job's status was announced, by its extractor or by ourselves."""

import logging
from functools import partial
from typing import Any

import azure.durable_functions as df
import azure.functions as func

from shared.functions.handling import JOB_STATUS
from shared.functions.holding import afterwards, hold
from shared.functions.messages import incoming
from shared.functions.names import SERVICE_BUS_CONNECTION
from shared.telemetry import log_event

bp = df.Blueprint()
logger = logging.getLogger(__name__)


@bp.service_bus_topic_trigger(
    arg_name="message",
    topic_name="%TOPIC_JOB_STATUS%",
    subscription_name="%SUBSCRIPTION_JOB_STATUS%",
    connection=SERVICE_BUS_CONNECTION,
    data_type=func.DataType.BINARY,
)
@bp.durable_client_input(client_name="client")
async def on_job_status(message: func.ServiceBusMessage, client: Any) -> None:
    """Record the report, wake the job's orchestration as the row says, and send what follows.

    Safe under repeats.
    """
    handle = partial(JOB_STATUS.handle, incoming(message))
    recorded = await hold(handle, message.delivery_count or 1)
    if recorded is None:
        return
    await afterwards(partial(JOB_STATUS.follow, client, recorded))
    job = recorded.job
    log_event(
        logger,
        "Job status received",
        jobId=job.job_id,
        fileId=job.file_id,
        extractorId=job.extractor_id,
        attempt=job.attempt,
        requestId=job.request_id,
        outcome=job.status,
        durationMs=round((job.updated_at - job.created_at).total_seconds() * 1000),
    )
