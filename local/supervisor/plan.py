"""Prepares a data folder for the embedded Azure: topics, the app's secret, the database."""

import json
import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from local.identity.clients import clients_path, default_clients, read_clients, write_clients
from local.private_file import write_private
from local.settings import LocalSettings
from local.supervisor.database import create_database
from local.supervisor.environment import (
    APP_CLIENT,
    TOPICS,
    app_settings,
    base_environment,
    database_url,
    storage_connection,
)
from local.supervisor.parts import all_but_the_host, embedded_azure, topology_path
from local.supervisor.processes import Part
from local.supervisor.topology import emulator_config
from shared.contracts.topology import LOCK_DURATION, Topic, topology


def plan_embedded_azure(
    settings: LocalSettings,
    overrides: Mapping[str, str] | None = None,
    lock_duration: timedelta = LOCK_DURATION,
    environ: Mapping[str, str] = os.environ,
) -> Sequence[Sequence[Part]]:
    """The real parts on this data folder, which is prepared here; safe to repeat.

    `overrides` are settings of the app that replace or extend those that point at the parts. A
    short `lock_duration` lets a test see soon what happens to the messages of a dead host.
    """
    app = _prepare(settings, lock_duration) | dict(overrides or {})
    return embedded_azure(settings, app, base_environment(environ))


def plan_for_core_tools(
    settings: LocalSettings, environ: Mapping[str, str] = os.environ
) -> Sequence[Sequence[Part]]:
    """The same parts without the host, and the settings with which `func start` runs the app."""
    app = _prepare(settings)
    values = app | {
        "FUNCTIONS_WORKER_RUNTIME": "python",
        "AzureWebJobsStorage": storage_connection(settings),
    }
    document = {"IsEncrypted": False, "Values": values}
    write_private(func_settings_path(settings.data), json.dumps(document, indent=2) + "\n")
    return all_but_the_host(settings, app, base_environment(environ))


def func_settings_path(data: Path) -> Path:
    """What `func start` is to find as `local.settings.json` beside the app."""
    return data / "local.settings.json"


def _prepare(settings: LocalSettings, lock_duration: timedelta = LOCK_DURATION) -> dict[str, str]:
    """Topics, database and secret; answers the settings of the app."""
    config = emulator_config(local_topics(), TOPICS["TOPIC_JOB_STATUS"], lock_duration)
    topology_path(settings.data).write_text(json.dumps(config, indent=2))
    create_database(database_url(settings))
    return app_settings(settings, client_secret(settings.data))


def local_topics() -> list[Topic]:
    """The declared topics under the names that are used here."""
    kinds = ("ACCEPTED_FILE", "JOB_STATUS", "EXTRACTION_RETRY", "EXTRACTION_RESULT")
    return topology(*[(TOPICS[f"TOPIC_{kind}"], TOPICS[f"SUBSCRIPTION_{kind}"]) for kind in kinds])


def client_secret(data: Path) -> str:
    """The secret of the app's own client at the token issuer, made at the first start."""
    path = clients_path(data)
    clients = {client.client_id: client for client in default_clients()} | read_clients(path)
    write_clients(path, clients.values())
    return clients[APP_CLIENT].secret
