"""Service Bus trigger: a file was accepted."""

import logging
from functools import partial
from typing import Any

import azure.durable_functions as df
import azure.functions as func

from shared.contracts.file_accepted import read_file_accepted
from shared.contracts.outgoing import trace_parent_of
from shared.domain.jobs import Job
from shared.functions.holding import afterwards, hold, in_thread
from shared.functions.messages import application_property, enqueued_at
from shared.functions.names import SERVICE_BUS_CONNECTION
from shared.functions.orchestrations import start
from shared.telemetry import log_event
from shared.wiring import app

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
    job = await hold(partial(_accept, message), message.delivery_count or 1)
    await afterwards(partial(_send_and_start, client, job))
    log_event(logger, "File accepted", jobId=job.job_id, fileId=job.file_id, outcome=job.status)


def _accept(message: func.ServiceBusMessage) -> Job:
    accepted = read_file_accepted(
        message.get_body(), application_property(message, "schemaVersion")
    )
    trace_parent = trace_parent_of(application_property(message, "traceparent"))
    return app().accept_file(accepted, enqueued_at(message), trace_parent)


async def _send_and_start(client: Any, job: Job) -> None:
    await in_thread(partial(app().send_outbox, job.job_id))
    if job.active:
        await start(client, job)
