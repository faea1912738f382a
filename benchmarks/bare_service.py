"""`python -m benchmarks.bare_service`: a job's work with the pieces called directly.

The bare SDK, plain SQL and plain HTTP do for each job what the service does for it, step by step:
this is the least that it could take. It keeps none of the service's promises: nothing is checked,
tried again or timed, and whoever kills it loses jobs.
"""

import argparse
import json
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusSender

from benchmarks.bare_rows import BareRows, job_status
from local.settings import HOST

RECEIVE_SECONDS = 60


class Announcements:
    """A sender of status messages, for one thread after the other."""

    def __init__(self, sender: ServiceBusSender) -> None:
        self._sender = sender
        self._lock = threading.Lock()

    def send(self, job_id: str, status: str) -> None:
        """Send it and wait until the broker has it."""
        message = ServiceBusMessage(
            job_status(job_id, status),
            message_id=f"{job_id}:{status}",
            subject=f"Job{status}",
            correlation_id=job_id,
            content_type="application/json",
        )
        with self._lock:
            self._sender.send_messages(message)


@dataclass(frozen=True)
class BareService:
    """The steps of a job. `callbacks` is where extractors may report."""

    rows: BareRows
    announcements: Announcements
    extraction_url: str
    callbacks: str

    def take_file(self, message: Any) -> None:
        """FileAccepted: make the job, announce it, call its extractor."""
        job_id, outbox_id = self.rows.accept(message["FileID"])
        self.announcements.send(job_id, "Queued")
        self.rows.begin_call(job_id, outbox_id)
        self._call(job_id)
        self.rows.record_call(job_id)

    def take_report(self, message: Any) -> None:
        """A report on the topic: record it."""
        status = message["type"].removeprefix("Job")
        self.rows.record_report(message["data"]["JobID"], status, announce=False)

    def take_callback(self, job_id: str, status: str) -> None:
        """A report over HTTP: record it, and announce it on the extractor's behalf."""
        outbox_id = self.rows.record_report(job_id, status, announce=True)
        if outbox_id:
            self.announcements.send(job_id, status)
            self.rows.mark_sent(outbox_id)

    def _call(self, job_id: str) -> None:
        target = urlsplit(self.extraction_url)
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": job_id,
            "X-Extractor-Callback-Url": f"{self.callbacks}/{job_id}",
            "X-Extractor-Callback-Token": "bare",
        }
        body = json.dumps({"fileUrl": f"{self.callbacks}/file", "jobId": job_id})
        with closing(HTTPConnection(target.netloc)) as connection:
            connection.request("POST", target.path, body, headers)
            connection.getresponse().read()


def main() -> None:
    """Serve until killed; prints `ready bare http://127.0.0.1:PORT`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bare_service")
    parser.add_argument("--bus", required=True)
    parser.add_argument("--database", type=Path, required=True)
    parser.add_argument("--topics", nargs=2, required=True, help="of files, and of statuses")
    parser.add_argument("--subscriptions", nargs=2, required=True)
    parser.add_argument("--extractor", nargs=2, required=True, metavar=("ID", "URL"))
    given = parser.parse_args()
    extractor_id, extraction_url = given.extractor
    rows = BareRows(given.database, given.topics[1], int(extractor_id))
    with (
        ServiceBusClient.from_connection_string(given.bus) as bus,
        bus.get_topic_sender(given.topics[1]) as sender,
        ThreadingHTTPServer((HOST, 0), Callbacks) as server,
    ):
        url = f"http://{HOST}:{server.server_port}"
        service = BareService(rows, Announcements(sender), extraction_url, url)
        Callbacks.service = service
        handlers = (service.take_file, service.take_report)
        for handle, topic, name in zip(handlers, given.topics, given.subscriptions, strict=True):
            threading.Thread(target=receive, args=(given.bus, topic, name, handle)).start()
        print(f"ready bare {url}", flush=True)
        server.serve_forever()


def receive(bus: str, topic: str, subscription: str, handle: Callable[[Any], None]) -> None:
    """Handle each message's JSON and complete it, one after the other."""
    with (
        ServiceBusClient.from_connection_string(bus) as client,
        client.get_subscription_receiver(topic, subscription) as receiver,
    ):
        while True:
            for message in receiver.receive_messages(1, max_wait_time=RECEIVE_SECONDS):
                handle(json.loads(b"".join(message.body)))
                receiver.complete_message(message)


class Callbacks(BaseHTTPRequestHandler):
    """`POST /{jobId}` with `{"status"}`: 202 when it is recorded and announced."""

    protocol_version = "HTTP/1.1"
    service: BareService

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.service.take_callback(self.path.strip("/"), body["status"])
        self.send_response(HTTPStatus.ACCEPTED)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Quiet: a line would cost as much as a row."""


if __name__ == "__main__":
    main()
