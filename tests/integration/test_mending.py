"""Reconciliation on the whole stack: a job whose orchestration is gone gets it back."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import requests
from sqlalchemy import update

from local.supervisor.environment import host_url
from shared.adapters.database.tables import job as job_table
from shared.domain.jobs import JobStatus
from tests.integration.whole_stack import WholeStack, wait_for


def runtime_status(stack: WholeStack, job_id: UUID) -> str | None:
    status = stack.orchestration(job_id)
    return status["runtimeStatus"] if status else None


def unchanged_for_long(stack: WholeStack, job_id: UUID) -> None:
    long_ago = datetime.now(UTC) - timedelta(minutes=5)
    with stack.services.database.engine.begin() as connection:
        connection.execute(
            update(job_table).where(job_table.c.JobID == job_id).values(UpdatedAt=long_ago)
        )


def test_a_job_whose_orchestration_was_lost_gets_it_back_and_ends(stack: WholeStack) -> None:
    client = stack.client_with(f"{stack.extraction_url}?behaviour=busy=8")
    stored = stack.submit(b"Invoice 21", client=client)
    stack.wait_for_job(stored.job_id, lambda job: job.status is JobStatus.STARTED)
    stack.durable("POST", f"instances/{stored.job_id}/terminate", reason="lost")
    wait_for(lambda: runtime_status(stack, stored.job_id) == "Terminated")
    unchanged_for_long(stack, stored.job_id)

    answer = requests.post(
        f"{host_url(stack.stack.settings)}/admin/functions/reconcile",
        headers={"x-functions-key": stack.host_key()},
        json={},
        timeout=10,
    )
    assert answer.status_code == 202
    wait_for(lambda: runtime_status(stack, stored.job_id) == "Running")
    assert stack.wait_for_end(stored.job_id).status is JobStatus.SUCCEEDED
    assert stack.wait_for_orchestration(stored.job_id)["output"] == "Succeeded"
    stack.wait_for_event(stored.file_id, lambda event: event.kind.value == "mended")
    assert stack.calls_of(stored.job_id)["called"] == 1
