"""`python -m local.extractor --port 7082 --data DIR`: serve extractions on 127.0.0.1.

Reports go to the topic TOPIC_JOB_STATUS (default `job-status`) of the Service Bus namespace that
AZURE_SERVICE_BUS_CONNECTION_STRING names.
"""

import argparse
import asyncio
import logging
import os
from pathlib import Path

from aiohttp import web
from azure.servicebus import parse_connection_string

from local.extractor.reports import StatusTopic, until_accepted
from local.extractor.server import create_app
from local.serving import serve
from local.settings import DEFAULT_PORTS


def main() -> None:
    """Read the command line and the environment, and serve until told to end."""
    parser = argparse.ArgumentParser(prog="python -m local.extractor")
    parser.add_argument("--port", type=int, default=DEFAULT_PORTS["LOCAL_EXTRACTOR_PORT"])
    parser.add_argument("--data", type=Path, required=True, help="the folder for jobs and results")
    options = parser.parse_args()
    connection_string = os.environ.get("AZURE_SERVICE_BUS_CONNECTION_STRING", "")
    try:
        parse_connection_string(connection_string)
    except ValueError:
        parser.error("AZURE_SERVICE_BUS_CONNECTION_STRING must hold a connection string")
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
    logging.getLogger("azure").setLevel(logging.WARNING)
    topic = StatusTopic(connection_string, os.environ.get("TOPIC_JOB_STATUS") or "job-status")
    asyncio.run(serve("extractor", options.port, lambda _url: _app(options.data, topic)))


def _app(data: Path, topic: StatusTopic) -> web.Application:
    app = create_app(data / "extractor", until_accepted(topic.send))

    async def close_topic(_app: web.Application) -> None:
        await topic.close()

    app.on_cleanup.append(close_topic)
    return app


main()
