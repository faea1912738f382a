"""The probe's ways into Azure: with its identity, or with the keys of the embedded Azure."""

from collections.abc import Callable
from functools import cache
from urllib.parse import urlsplit

from azure.core.credentials import AzureNamedKeyCredential, TokenCredential
from azure.identity import DefaultAzureCredential
from azure.servicebus import ServiceBusClient
from azure.storage.blob import ContainerClient
from sqlalchemy import Engine

from infra.probe.settings import ProbeSettings
from shared.adapters.database import create_engine
from shared.adapters.database.sql_server import TOKEN_SCOPE


class Connections:
    """Opens nothing before its first use. Close it in the end."""

    def __init__(self, settings: ProbeSettings) -> None:
        self._settings = settings
        credential = cache(DefaultAzureCredential)
        self._credential: Callable[[], TokenCredential] = credential
        self.engine: Engine = create_engine(
            settings.DATABASE_URL, 2, lambda: credential().get_token(TOKEN_SCOPE).token
        )
        self.container = ContainerClient(
            settings.BLOB_ACCOUNT_URL, settings.BLOB_CONTAINER, credential=self._blob_credential()
        )
        self.bus = self._open_bus()

    def api_token(self) -> str:
        """A token for the app's HTTP API."""
        given = self._settings.API_TOKEN
        return given or self._credential().get_token(self._settings.API_SCOPE or "").token

    def close(self) -> None:
        """Close what was opened."""
        self.bus.close()
        self.container.close()
        self.engine.dispose()

    def _blob_credential(self) -> TokenCredential | AzureNamedKeyCredential:
        key = self._settings.BLOB_ACCOUNT_KEY
        if not key:
            return self._credential()
        account = urlsplit(self._settings.BLOB_ACCOUNT_URL).path.strip("/")
        return AzureNamedKeyCredential(account, key)

    def _open_bus(self) -> ServiceBusClient:
        connection_string = self._settings.SERVICE_BUS_CONNECTION_STRING
        if connection_string:
            return ServiceBusClient.from_connection_string(connection_string)
        return ServiceBusClient(self._settings.SERVICE_BUS_NAMESPACE or "", self._credential())
