"""Everything the app needs to be told about the embedded Azure, as environment variables."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from local.identity.claims import DEFAULT_TENANT, Issuer
from local.settings import HOST, LocalSettings

AUDIENCE = "api://extractor-service"
APP_CLIENT = "extractor-service"

BLOB_ACCOUNT = "devstoreaccount1"
BLOB_ACCOUNT_KEY = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)
"""Azurite's published account: every tool for Azure storage knows it, and it guards nothing."""

TOPICS = {
    "TOPIC_ACCEPTED_FILE": "accepted-file",
    "SUBSCRIPTION_ACCEPTED_FILE": "extractor-subscription",
    "TOPIC_JOB_STATUS": "job-status",
    "SUBSCRIPTION_JOB_STATUS": "extractor-job-status-subscription",
    "TOPIC_EXTRACTION_RETRY": "extraction-retry",
    "SUBSCRIPTION_EXTRACTION_RETRY": "extractor-retry-subscription",
    "TOPIC_EXTRACTION_RESULT": "extraction-result",
    "SUBSCRIPTION_EXTRACTION_RESULT": "mapper-result-subscription",
}

_AZURE_PREFIXES = ("AZURE_", "WEBSITE_", "APPLICATIONINSIGHTS_")


def database_path(data: Path) -> Path:
    return data / "extractor.sqlite3"


def database_url(settings: LocalSettings) -> str:
    return f"sqlite:///{database_path(settings.data)}"


def service_bus_connection(settings: LocalSettings) -> str:
    """In the form of Microsoft's emulator; the key is checked by no one."""
    return (
        f"Endpoint=sb://{HOST}:{settings.servicebus_port};SharedAccessKeyName=local"
        ";SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;"
    )


def blob_account_url(settings: LocalSettings) -> str:
    return f"http://{HOST}:{settings.blob_port}/{BLOB_ACCOUNT}"


def blob_connection(settings: LocalSettings) -> str:
    return (
        f"DefaultEndpointsProtocol=http;AccountName={BLOB_ACCOUNT};AccountKey={BLOB_ACCOUNT_KEY}"
        f";BlobEndpoint={blob_account_url(settings)};"
    )


def storage_ports(settings: LocalSettings) -> dict[str, int]:
    """The ports of Azurite's services, in the order in which they start."""
    first = settings.blob_port
    return {"blob": first, "queue": first + 1, "table": first + 2}


def storage_connection(settings: LocalSettings) -> str:
    """All of Azurite's services, as a Functions host wants them."""
    endpoints = "".join(
        f"{service.capitalize()}Endpoint=http://{HOST}:{port}/{BLOB_ACCOUNT};"
        for service, port in storage_ports(settings).items()
    )
    return (
        f"DefaultEndpointsProtocol=http;AccountName={BLOB_ACCOUNT};AccountKey={BLOB_ACCOUNT_KEY};"
        f"{endpoints}"
    )


def host_url(settings: LocalSettings) -> str:
    return f"http://{HOST}:{settings.host_port}"


def identity_url(settings: LocalSettings) -> str:
    return f"http://{HOST}:{settings.identity_port}"


def extraction_url(settings: LocalSettings) -> str:
    """Where the sample extractor takes jobs."""
    return f"http://{HOST}:{settings.extractor_port}/extract"


def app_settings(settings: LocalSettings, client_secret: str) -> dict[str, str]:
    """The settings of the app and its host; `client_secret` is its own client's at the issuer."""
    issuer = Issuer(identity_url(settings))
    return TOPICS | {
        "AzureWebJobsStorage": blob_connection(settings),
        "DURABLE_HUB_NAME": "extractor",
        "AZURE_SERVICE_BUS_CONNECTION_STRING": service_bus_connection(settings),
        "DATABASE_URL": database_url(settings),
        "BLOB_ACCOUNT_URL": blob_account_url(settings),
        "BLOB_ACCOUNT_KEY": BLOB_ACCOUNT_KEY,
        "REGISTRATION_URL": host_url(settings),
        "REGISTRATION_AUDIENCE": AUDIENCE,
        "SERVICE_TOKEN_URL": f"{issuer.url}/{issuer.tenant}/oauth2/v2.0/token",
        "SERVICE_CLIENT_ID": APP_CLIENT,
        "SERVICE_CLIENT_SECRET": client_secret,
        "AUTH_ISSUERS": issuer.name,
        "AUTH_AUDIENCES": AUDIENCE,
        "AUTH_JWKS_URL": f"{issuer.url}/{issuer.tenant}/discovery/v2.0/keys",
        "AUTH_TENANT": DEFAULT_TENANT,
        "PUBLIC_URL": host_url(settings),
        "CALLBACK_KEYS": hashlib.sha256(f"call-back {client_secret}".encode()).hexdigest(),
        "ALLOW_PRIVATE_EXTRACTORS": "true",
    }


def base_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What every part inherits: all but Azure's variables, and no proxy on the way to loopback."""
    kept = {name: value for name, value in environ.items() if not name.startswith(_AZURE_PREFIXES)}
    bypass = ",".join(filter(None, [environ.get("NO_PROXY"), HOST, "localhost"]))
    return kept | {"PYTHONUNBUFFERED": "1", "NO_PROXY": bypass, "no_proxy": bypass}
