"""Reports over a real Service Bus connection, as the service reads them; outages on both sides."""

import json
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from uuid import UUID, uuid4

import pytest
import requests
from azure.servicebus import ServiceBusClient, ServiceBusReceivedMessage

from shared.contracts.job_status import JobStarted, JobStatusMessage, JobSucceeded, read_job_status
from tests.contract.parts import Part, running_part, running_script
from tests.contract.waiting import wait_until

TOPIC, SUBSCRIPTION = "job-status", "listener"
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
DOCUMENTATION = Path(__file__).parents[3] / "docs" / "extractors.md"


class Stack:
    """A broker that can be killed and started again, and a server of files."""

    def __init__(self, folder: Path, parts: ExitStack) -> None:
        self.folder = folder
        self._parts = parts
        self._port = 0
        self._config = folder / "topology.json"
        subscription = {"Name": SUBSCRIPTION, "Properties": {"LockDuration": "PT1M"}}
        topic = {"Name": TOPIC, "Properties": {}, "Subscriptions": [subscription]}
        namespace = {"Name": "sbemulatorns", "Topics": [topic]}
        self._config.write_text(json.dumps({"UserConfig": {"Namespaces": [namespace]}}))

    def run(self, module: str, *arguments: object) -> Part:
        environment = {"AZURE_SERVICE_BUS_CONNECTION_STRING": self.connection}
        options = ("--data", self.folder, *arguments)
        return self._parts.enter_context(running_part(module, *options, environment=environment))

    def start_broker(self) -> Part:
        """On the same port every time, with the messages that it had."""
        broker = self.run("local.servicebus", "--config", self._config, "--port", self._port)
        self._port = int(broker.url.rpartition(":")[2])
        return broker

    @property
    def connection(self) -> str:
        return (
            f"Endpoint=sb://127.0.0.1:{self._port};SharedAccessKeyName=local"
            ";SharedAccessKey=key;UseDevelopmentEmulator=true;"
        )

    def receive(self, count: int) -> list[ServiceBusReceivedMessage]:
        """Take so many messages off the subscription."""
        received: list[ServiceBusReceivedMessage] = []
        with (
            ServiceBusClient.from_connection_string(self.connection) as client,
            client.get_subscription_receiver(TOPIC, SUBSCRIPTION, max_wait_time=20) as receiver,
        ):
            for message in receiver:
                received.append(message)
                receiver.complete_message(message)
                if len(received) == count:
                    return received
        raise AssertionError("the receiver ended early")


class Files(SimpleHTTPRequestHandler):
    """Any file is this text."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"Total EUR 12.00")

    def log_message(self, *_arguments: object) -> None:
        """Keep the tests' output readable."""


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    with ExitStack() as parts:
        yield Stack(tmp_path, parts)


@pytest.fixture
def file_url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Files) as server:
        Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}/a.txt?sig=secret"
        server.shutdown()


def call(extractor_url: str, file_url: str) -> UUID:
    """Call an extractor as the service does."""
    job_id = uuid4()
    body = {"fileUrl": file_url, "jobId": str(job_id)}
    headers = {"Idempotency-Key": str(job_id), "traceparent": TRACE}
    answer = requests.post(extractor_url, json=body, headers=headers, timeout=10)
    assert answer.status_code == 202
    return job_id


def read(message: ServiceBusReceivedMessage) -> JobStatusMessage:
    """Read a message as the service does."""
    properties = message.application_properties or {}
    version = properties[b"schemaVersion"]
    assert isinstance(version, bytes)
    return read_job_status(b"".join(message.body), version.decode()).message


def assert_contract(messages: list[ServiceBusReceivedMessage], job_id: UUID) -> None:
    """Started and Succeeded of one job, with every property that the contract names."""
    start, end = map(read, messages)
    assert isinstance(start, JobStarted)
    assert isinstance(end, JobSucceeded)
    assert start.JobID == end.JobID == job_id
    for message, status in zip(messages, ["Started", "Succeeded"], strict=True):
        assert message.subject == f"Job{status}"
        assert message.message_id == f"{job_id}:{status}"
        assert message.correlation_id == str(job_id)
        assert message.content_type == "application/json"
        assert (message.application_properties or {})[b"traceparent"] == TRACE.encode()


def test_the_service_reads_what_the_extractor_reports(stack: Stack, file_url: str):
    stack.start_broker()
    extractor = stack.run("local.extractor", "--port", 0)

    job_id = call(f"{extractor.url}/extract", file_url)

    messages = stack.receive(2)
    assert_contract(messages, job_id)
    end = read(messages[1])
    assert isinstance(end, JobSucceeded)
    assert isinstance(end.ResultSummary, dict)
    assert end.ResultSummary["found"]["amounts"] == 1


def test_a_job_taken_while_the_broker_is_away_is_reported_once_it_is_back(
    stack: Stack, file_url: str
):
    broker = stack.start_broker()
    extractor = stack.run("local.extractor", "--port", 0)
    call(f"{extractor.url}/extract", file_url)
    stack.receive(2)
    broker.process.kill()
    broker.process.wait()

    job_id = call(f"{extractor.url}/extract", file_url)
    wait_until((stack.folder / "extractor" / f"{job_id}.json").exists)
    stack.start_broker()

    assert_contract(stack.receive(2), job_id)


def test_a_killed_extractor_goes_on_with_the_jobs_that_it_took(stack: Stack, file_url: str):
    broker = stack.start_broker()
    broker.process.kill()
    broker.process.wait()
    extractor = stack.run("local.extractor", "--port", 0)
    job_id = call(f"{extractor.url}/extract", file_url)
    extractor.process.kill()
    extractor.process.wait()

    stack.start_broker()
    stack.run("local.extractor", "--port", 0)

    assert_contract(stack.receive(2), job_id)


def test_the_documented_extractor_keeps_the_contract(stack: Stack, file_url: str, tmp_path: Path):
    stack.start_broker()
    [program] = re.findall(r"```python\n(.*?)```", DOCUMENTATION.read_text(), re.DOTALL)
    script = tmp_path / "extractor.py"
    script.write_text(program)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {"AZURE_SERVICE_BUS_CONNECTION_STRING": stack.connection, "PORT": str(port)}

    with running_script(script, port, environment):
        job_id = call(f"http://127.0.0.1:{port}/extract", file_url)

        messages = stack.receive(2)
    assert_contract(messages, job_id)
    end = read(messages[1])
    assert isinstance(end, JobSucceeded)
    assert end.ResultSummary == {"bytes": len("Total EUR 12.00")}
