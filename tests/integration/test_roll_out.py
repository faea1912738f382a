"""A function that is switched off by the platform's own flag leaves its messages waiting."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from local.demo.operator import Operator, is_over
from shared.domain.jobs import JobStatus
from tests.integration.whole_stack import WholeStack

# The SDK leaves the sockets of connections that broke to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@contextmanager
def switched_off(stack: WholeStack, function: str) -> Iterator[None]:
    """The host runs without the function meanwhile, and with it afterwards."""
    host = stack.stack.parts["host"]
    usual = host.part
    flag = {f"AzureWebJobs_{function}_Disabled": "true"}
    host.stop()
    host.part = replace(usual, environment={**usual.environment, **flag})
    try:
        host.start()
        yield
    finally:
        host.stop()
        host.part = usual
        host.start()


def test_files_wait_while_their_trigger_is_off_and_are_taken_when_it_is_on(
    stack: WholeStack,
) -> None:
    operator = Operator(stack.stack.settings)
    done = stack.submit(b"Invoice 81")
    stack.wait_for_end(done.job_id)

    with switched_off(stack, "on_file_accepted"):
        waiting = stack.submit(b"Invoice 82")
        asked = operator.post(f"/v1/retry/{done.file_id}", {}).json()["requestId"]
        assert operator.wait_for_request(asked, is_over)["state"] == "succeeded"
        assert stack.job(waiting.job_id) is None

    assert stack.wait_for_end(waiting.job_id).status is JobStatus.SUCCEEDED
