"""Plays the services around ours by hand, on a stack that runs; answers are JSON objects.

`extractor --client C [--behaviour B | --url U]` registers the extractor of client C: the sample
extractor, misbehaving as `docs/extractors.md` says, or one of your own.
`file --client C [--behaviour B | --url U] [--times N] [FILE]` does so where it is asked to, then
accepts a file of C, and does not wait for its extraction.
`message TOPIC BODY` sends a message of whatever body.
"""

import argparse
import json
import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

from azure.core.exceptions import AzureError
from azure.servicebus import ServiceBusClient, ServiceBusMessage

from local.demo.console import complain, say
from local.demo.document import INVOICE, DocumentError, read_document
from local.demo.documents_service import DocumentsService
from local.demo.file_service import FileService
from local.demo.laptop import settings_for
from local.demo.registrations import DEMO_CLIENT, register_extractor, registered_id
from local.settings import LocalSettings
from local.supervisor.environment import database_url, extraction_url, service_bus_connection
from local.supervisor.lock import find_running
from shared.adapters.database import SqlDatabase, create_engine

COMMAND = "local.demo.around"

type Answer = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """0, with the answer printed; 1 when no stack runs or the file cannot be read."""
    logging.getLogger("azure").setLevel(logging.CRITICAL)  # what fails is said in our words
    options = _options(arguments)
    data = settings_for(COMMAND).data
    running = find_running(data)
    if running is None:
        complain(f"{COMMAND}: no stack runs on {data}: start one with `make run`")
        return 1
    try:
        for answer in options.act(running.settings, options):
            say(json.dumps(answer, indent=2))
    except (AzureError, DocumentError) as error:
        complain(f"{COMMAND}: {error}")
        return 1
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"python -m {COMMAND}", description=__doc__)
    actions = parser.add_subparsers(required=True, metavar="extractor | file | message")

    extractor = actions.add_parser("extractor", help="register a client's extractor")
    extractor.add_argument("--client", required=True)
    _add_address(extractor)
    extractor.set_defaults(act=_register)

    file = actions.add_parser("file", help="accept a file")
    file.add_argument("--client", default=DEMO_CLIENT)
    _add_address(file)
    file.add_argument("path", nargs="?", type=Path, default=INVOICE, metavar="FILE")
    file.add_argument("--times", type=int, default=1, help="each time as another file")
    file.set_defaults(act=_accept)

    message = actions.add_parser("message", help="send a message")
    message.add_argument("topic")
    message.add_argument("body")
    message.set_defaults(act=_send)
    return parser.parse_args(arguments)


def _add_address(parser: argparse.ArgumentParser) -> None:
    address = parser.add_mutually_exclusive_group()
    address.add_argument("--behaviour", help="of the sample extractor")
    address.add_argument("--url", help="of an extractor of your own")


def _register(settings: LocalSettings, options: argparse.Namespace) -> Iterator[Answer]:
    wish = f"?behaviour={options.behaviour}" if options.behaviour else ""
    url = options.url or f"{extraction_url(settings)}{wish}"
    with closing(SqlDatabase(create_engine(database_url(settings)))) as database:
        number = registered_id(database, options.client)
        register_extractor(database, number, options.client, url)
    yield {"extractorId": number, "clientApplicationId": options.client, "extractionUrl": url}


def _accept(settings: LocalSettings, options: argparse.Namespace) -> Iterator[Answer]:
    document = read_document(options.path)
    if options.behaviour or options.url:
        yield from _register(settings, options)
    with (
        closing(SqlDatabase(create_engine(database_url(settings)))) as database,
        FileService(settings, database) as files,
    ):
        for _ in range(options.times):
            stored = files.submit(document.content, document.name, options.client)
            yield {
                "fileId": str(stored.file_id),
                "jobId": str(stored.job_id),
                "fileHash": stored.document_hash,
                "extractedEntityId": DocumentsService(database).add_entity(stored.document_hash),
            }


def _send(settings: LocalSettings, options: argparse.Namespace) -> Iterator[Answer]:
    message_id = str(uuid4())
    message = ServiceBusMessage(
        options.body, content_type="application/json", message_id=message_id
    )
    with (
        ServiceBusClient.from_connection_string(service_bus_connection(settings)) as bus,
        bus.get_topic_sender(options.topic) as sender,
    ):
        sender.send_messages(message)
    yield {"messageId": message_id, "topic": options.topic}


if __name__ == "__main__":
    sys.exit(main())
