"""Every setting of the app: read from the environment, typed and validated once, on first use."""

import os
from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from shared.domain.deadlines import TimeLimits
from shared.domain.retention import Retention
from shared.domain.retries import RetryPolicy

SERVICE_BUS = "AZURE_SERVICE_BUS_CONNECTION_STRING"
"""The connection's name in trigger bindings; for identity with `__fullyQualifiedNamespace`."""

LINK_SLACK = timedelta(minutes=10)
"""How much longer than a job's start and run a signed link must live."""


class SettingsError(Exception):
    """Settings are missing or wrong. The text names each one and its rule, and no value."""


def _web_address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be an http or https address")
    return value.rstrip("/")


def _names(value: object) -> object:
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    return value.strip()


Text = Annotated[str, AfterValidator(_not_blank)]
Name = Annotated[str, Field(max_length=260), AfterValidator(_not_blank)]
WebAddress = Annotated[str, AfterValidator(_web_address)]
Names = Annotated[tuple[Text, ...], BeforeValidator(_names), Field(min_length=1)]
Minutes = Annotated[int, Field(ge=1, le=7 * 24 * 60)]


class Settings(BaseModel):
    """The settings table: a field's name is the variable's, its description the README's line."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    AZURE_SERVICE_BUS_CONNECTION_STRING: Text | None = Field(
        None, description="Service Bus connection string (locally)"
    )
    AZURE_SERVICE_BUS_CONNECTION_STRING__fullyQualifiedNamespace: Name | None = Field(
        None, description="Service Bus namespace, reached with the app's identity (in Azure)"
    )
    TOPIC_ACCEPTED_FILE: Name = Field(description="Topic of FileAccepted")
    SUBSCRIPTION_ACCEPTED_FILE: Name = Field(description="The service's subscription on it")
    TOPIC_JOB_STATUS: Name = Field(description="Topic of the job status messages")
    SUBSCRIPTION_JOB_STATUS: Name = Field(description="The service's subscription on it")
    TOPIC_EXTRACTION_RETRY: Name = Field(description="Topic of ExtractionRetryEvent")
    SUBSCRIPTION_EXTRACTION_RETRY: Name = Field(description="The service's subscription on it")
    TOPIC_EXTRACTION_RESULT: Name = Field(description="Topic of ExtractionRetryResult")
    SUBSCRIPTION_EXTRACTION_RESULT: Name = Field(description="The service's subscription on it")

    DATABASE_URL: Text = Field(
        description="SQLAlchemy URL: `mssql+pyodbc://@server/db?driver=…` or `sqlite:///path`"
    )
    BLOB_ACCOUNT_URL: WebAddress = Field(description="Blob account that holds the accepted files")
    BLOB_ACCOUNT_KEY: Text | None = Field(
        None, description="Account key that signs links (locally); without it, the app's identity"
    )
    REGISTRATION_URL: WebAddress = Field(description="Address of the registration service")
    REGISTRATION_AUDIENCE: Text = Field(description="Audience of the token that is sent to it")
    SERVICE_TOKEN_URL: WebAddress | None = Field(
        None, description="Token endpoint for client credentials (locally); else the app's identity"
    )
    SERVICE_CLIENT_ID: Text | None = Field(None, description="Client id at that token endpoint")
    SERVICE_CLIENT_SECRET: Text | None = Field(None, description="Client secret there")
    AUTH_ISSUERS: Names = Field(description="Accepted token issuers, separated by commas")
    AUTH_AUDIENCES: Names = Field(
        description="The audience of each, in the same order; an issuer may be named twice"
    )
    AUTH_JWKS_URL: WebAddress = Field(description="Where the issuer publishes its keys")
    AUTH_TENANT: Text | None = Field(None, description="The only accepted tenant, when given")

    JOB_CALL_TIMEOUT_MINUTES: Minutes = Field(
        60, description="How long an extractor's call is tried"
    )
    JOB_START_TIMEOUT_MINUTES: Minutes = Field(15, description="From the call being taken to start")
    JOB_RUN_TIMEOUT_MINUTES: Minutes = Field(60, description="From the start to the end")
    JOB_MAX_WAIT_HOURS: Annotated[int, Field(ge=1, le=7 * 24)] = Field(
        48, description="How long a job may wait for its call in all"
    )
    SIGNED_URL_MINUTES: Annotated[int, Field(ge=1, le=6 * 24 * 60)] = Field(
        90, description="Life of a signed link; covers start and run time-outs and 10 minutes"
    )
    EXTRACTOR_MAX_ACTIVE_JOBS: Annotated[int, Field(ge=1, le=10_000)] = Field(
        100, description="How many jobs one extractor has at once; the others wait"
    )
    PUBLIC_URL: WebAddress | None = Field(
        None, description="The app as extractors reach it, for their call-backs; needs the keys"
    )
    CALLBACK_KEYS: Annotated[tuple[Text, ...], BeforeValidator(_names)] | None = Field(
        None, description="Keys of call-back tokens, by commas; the first signs, all are accepted"
    )
    ALLOW_PRIVATE_EXTRACTORS: bool = Field(
        False, description="Allow http and private extractor addresses (locally only)"
    )
    AUTO_RETRY_ENABLED: bool = Field(
        True, description="Whether a failed first extraction is tried again by itself"
    )
    RETRY_BACKOFF_SECONDS: Annotated[int, Field(ge=1, le=24 * 3600)] = Field(
        30, description="Pause before the first retry; it doubles with every attempt"
    )
    RETRY_BACKOFF_MAX_SECONDS: Annotated[int, Field(ge=1, le=24 * 3600)] = Field(
        3600, description="The longest such pause"
    )
    BUILD_VERSION: Text = Field("dev", description="Version of the package, as health tells it")
    BUILD_COMMIT: Text = Field("unknown", description="Commit it was built from")
    PURGE_AFTER_DAYS: Annotated[int, Field(ge=8)] = Field(
        30, description="Age at which messages are refused and finished work may be removed"
    )
    PURGE_JOBS: bool = Field(
        False, description="Whether the rows of finished jobs and requests are removed then, too"
    )

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if not (self.AZURE_SERVICE_BUS_CONNECTION_STRING or self.service_bus_namespace):
            raise ValueError(f"{SERVICE_BUS} or {SERVICE_BUS}__fullyQualifiedNamespace is missing")
        if self.SERVICE_TOKEN_URL and not (self.SERVICE_CLIENT_ID and self.SERVICE_CLIENT_SECRET):
            raise ValueError(
                "SERVICE_CLIENT_ID and SERVICE_CLIENT_SECRET are needed with SERVICE_TOKEN_URL"
            )
        if len(self.AUTH_ISSUERS) != len(self.AUTH_AUDIENCES):
            raise ValueError("AUTH_AUDIENCES must have one audience for each of AUTH_ISSUERS")
        if bool(self.PUBLIC_URL) != bool(self.CALLBACK_KEYS):
            raise ValueError("PUBLIC_URL and CALLBACK_KEYS are needed together")
        if any(len(key) < 32 for key in self.CALLBACK_KEYS or ()):
            raise ValueError("CALLBACK_KEYS must have at least 32 characters each")
        needed = self.time_limits.start + self.time_limits.run + LINK_SLACK
        if timedelta(minutes=self.SIGNED_URL_MINUTES) < needed:
            raise ValueError(
                "SIGNED_URL_MINUTES must cover JOB_START_TIMEOUT_MINUTES and"
                " JOB_RUN_TIMEOUT_MINUTES and 10 minutes more"
            )
        return self

    @property
    def service_bus_namespace(self) -> str | None:
        return self.AZURE_SERVICE_BUS_CONNECTION_STRING__fullyQualifiedNamespace

    @property
    def retry_policy(self) -> RetryPolicy:
        return RetryPolicy(
            automatic=self.AUTO_RETRY_ENABLED,
            first_backoff=timedelta(seconds=self.RETRY_BACKOFF_SECONDS),
            longest_backoff=timedelta(seconds=self.RETRY_BACKOFF_MAX_SECONDS),
        )

    @property
    def retention(self) -> Retention:
        return Retention(timedelta(days=self.PURGE_AFTER_DAYS), self.PURGE_JOBS)

    @property
    def accepted_tokens(self) -> frozenset[tuple[str, str]]:
        """The pairs of issuer and audience whose tokens are accepted."""
        return frozenset(zip(self.AUTH_ISSUERS, self.AUTH_AUDIENCES, strict=True))

    @property
    def time_limits(self) -> TimeLimits:
        return TimeLimits(
            call=timedelta(minutes=self.JOB_CALL_TIMEOUT_MINUTES),
            start=timedelta(minutes=self.JOB_START_TIMEOUT_MINUTES),
            run=timedelta(minutes=self.JOB_RUN_TIMEOUT_MINUTES),
            max_wait=timedelta(hours=self.JOB_MAX_WAIT_HOURS),
        )


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Validate the variables of `environ` that are settings; blank optional ones count as absent.

    Raises SettingsError naming every missing or wrong variable and its rule, never a value.
    A Key Vault reference that the platform did not resolve is refused by name.
    """
    values = {name: environ[name] for name in Settings.model_fields if name in environ}
    unresolved = [name for name, value in values.items() if "@Microsoft.KeyVault(" in value]
    if unresolved:
        raise SettingsError(f"Key Vault reference not resolved: {', '.join(unresolved)}")
    if _true(values.get("ALLOW_PRIVATE_EXTRACTORS")) and environ.get("WEBSITE_SITE_NAME"):
        raise SettingsError("ALLOW_PRIVATE_EXTRACTORS is refused in Azure: it is for local use")
    try:
        return Settings.model_validate({k: v for k, v in values.items() if _given(k, v)})
    except ValidationError as error:
        raise SettingsError(_explain(error)) from None


@cache
def settings() -> Settings:
    """The settings of this process, read on first use. Raises SettingsError."""
    return read_settings(os.environ)


def _given(name: str, value: str) -> bool:
    return bool(value.strip()) or Settings.model_fields[name].is_required()


def _true(value: str | None) -> bool:
    return (value or "").strip().lower() in {"true", "1", "yes", "on", "t", "y"}


def _explain(error: ValidationError) -> str:
    problems = error.errors(include_input=False, include_context=False, include_url=False)
    return "; ".join(_one(problem) for problem in problems)


def _one(problem: Any) -> str:
    name = str(problem["loc"][0]) if problem["loc"] else ""
    if problem["type"] == "missing":
        return f"{name} is missing"
    return f"{name}: {problem['msg']}".removeprefix(": ").replace("Value error, ", "")
