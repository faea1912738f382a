"""What the probe is told, by `PROBE_*` variables."""

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator


class ProbeSettingsError(Exception):
    """Variables are missing or wrong. The text names each one, and shows no value."""


class ProbeSettings(BaseModel):
    """A field's name is the variable's, after `PROBE_`."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    URL: str = Field(description="The app, https://NAME.azurewebsites.net")
    VERSION: str | None = Field(None, description="What /health/live must tell")
    COMMIT: str | None = Field(None, description="Likewise")
    API_SCOPE: str | None = Field(None, description="Scope of the app's tokens, api://…/.default")
    API_TOKEN: str | None = Field(None, description="A token instead, for the embedded Azure")
    DATABASE_URL: str = Field(description="As the app's, with the rights of an administrator")
    BLOB_ACCOUNT_URL: str = Field(description="Account of the accepted files")
    BLOB_ACCOUNT_KEY: str | None = Field(None, description="Its key, for the embedded Azure")
    BLOB_CONTAINER: str = Field("accepted-files", description="Container of the accepted files")
    SERVICE_BUS_NAMESPACE: str | None = Field(None, description="NAME.servicebus.windows.net")
    SERVICE_BUS_CONNECTION_STRING: str | None = Field(
        None, description="A connection string instead, for the embedded Azure"
    )
    TOPIC_ACCEPTED_FILE: str = Field("accepted-file", description="Topic of FileAccepted")
    CLIENT: str | None = Field(
        None, description="A registered client; one is registered and removed without it"
    )
    EXTRACTOR_URL: str | None = Field(
        None, description="Extractor of the client that is registered; without it the app refuses"
    )
    ONLY_LOOK: bool = Field(
        False, description="Whether no file is sent, because on_file_accepted is switched off"
    )
    PATIENCE_SECONDS: Annotated[float, Field(gt=0)] = Field(
        300, description="How long each thing may take"
    )

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        _exactly_one(API_SCOPE=self.API_SCOPE, API_TOKEN=self.API_TOKEN)
        _exactly_one(
            SERVICE_BUS_NAMESPACE=self.SERVICE_BUS_NAMESPACE,
            SERVICE_BUS_CONNECTION_STRING=self.SERVICE_BUS_CONNECTION_STRING,
        )
        if self.CLIENT and self.EXTRACTOR_URL:
            raise ValueError("PROBE_EXTRACTOR_URL is of no use with PROBE_CLIENT")
        return self

    @property
    def must_succeed(self) -> bool:
        """Whether an extractor is there to do the job."""
        return bool(self.CLIENT or self.EXTRACTOR_URL)


def read_probe_settings(environ: Mapping[str, str]) -> ProbeSettings:
    """Read the `PROBE_*` variables; empty ones are left out. Raises ProbeSettingsError."""
    given = {
        name: environ[f"PROBE_{name}"]
        for name in ProbeSettings.model_fields
        if environ.get(f"PROBE_{name}", "").strip()
    }
    try:
        return ProbeSettings.model_validate(given)
    except ValidationError as error:
        raise ProbeSettingsError("; ".join(map(_fault, error.errors()))) from None


def _exactly_one(**values: str | None) -> None:
    if sum(bool(value) for value in values.values()) != 1:
        raise ValueError(f"give one of {' and '.join(f'PROBE_{name}' for name in values)}")


def _fault(error: object) -> str:
    assert isinstance(error, dict)
    names = "".join(f"PROBE_{name}: " for name in error["loc"])
    return f"{names}{error['msg'].removeprefix('Value error, ')}"
