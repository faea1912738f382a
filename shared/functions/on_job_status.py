"""Service Bus trigger: a job's status was announced, by its extractor or by ourselves."""

import logging
from functools import partial
from typing import Any

import azure.durable_functions as df
import azure.functions as func

from shared.contracts.job_status import StatusReport, read_job_status
from shared.domain.jobs import JobStatus
from shared.functions.holding import afterwards, hold, in_thread
from shared.functions.messages import application_property
from shared.functions.names import SERVICE_BUS_CONNECTION
from shared.functions.orchestrations import wake
from shared.services.record_report import Recorded
from shared.telemetry import log_event
from shared.wiring import app

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
    recorded = await hold(partial(_record, message), message.delivery_count or 1)
    if recorded is None:
        return
    await afterwards(partial(_wake_and_send, client, recorded))
    log_event(logger, "Job status received", jobId=recorded.job.job_id, outcome=recorded.job.status)


def _record(message: func.ServiceBusMessage) -> Recorded | None:
    report: StatusReport = read_job_status(
        message.get_body(), application_property(message, "schemaVersion")
    )
    if report.status is JobStatus.QUEUED:
        return None
    return app().record_report(report, source="topic")


async def _wake_and_send(client: Any, recorded: Recorded) -> None:
    await wake(client, recorded.job, recorded.due_at)
    if not recorded.job.active:
        await in_thread(partial(app().send_outbox, recorded.job.job_id))
