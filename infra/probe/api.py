"""The app's HTTP API, as the probe uses it."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import requests

from infra.probe.report import ProbeFailedError

TIMEOUT_SECONDS = 30

Answer = dict[str, Any]

_ADVICE = {
    401: "the app does not accept this token: compare PROBE_API_SCOPE with AUTH_AUDIENCES, and"
    " AUTH_ISSUERS with the token's issuer",
    403: "who deploys needs the application role EXTRACTED_ENTITIES_READ, or as a person the scope"
    " of that name and the role User",
}


class Api:
    """`token` is called for each question that needs one."""

    def __init__(self, url: str, token: Callable[[], str]) -> None:
        self._url = url.rstrip("/")
        self._token = token
        self._session = requests.Session()
        self._session.trust_env = False  # a .netrc must not replace the token

    def live(self) -> Answer | None:
        """Version and commit of what runs; None while nothing does."""
        return self._health("live")

    def ready(self) -> Answer | None:
        """The parts that the app needs, each up or down; None while nothing runs."""
        return self._health("ready")

    def jobs(self, file_id: UUID) -> list[Answer]:
        """The jobs of a file, newest first."""
        found = self._get("/v1/jobs", fileId=str(file_id)) or {}
        jobs: list[Answer] = found.get("jobs", [])
        return jobs

    def job(self, job_id: UUID) -> Answer | None:
        """A job with its history; None when there is none."""
        return self._get(f"/v1/jobs/{job_id}")

    def timeline(self, file_id: UUID) -> list[Answer]:
        """Everything written down of a file."""
        found = self._get(f"/v1/files/{file_id}/timeline") or {}
        events: list[Answer] = found.get("events", [])
        return events

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def _health(self, which: str) -> Answer | None:
        try:
            answer = self._session.get(f"{self._url}/health/{which}", timeout=TIMEOUT_SECONDS)
            document = answer.json()
        except requests.RequestException:
            return None  # an app that starts may refuse connections, or answer without JSON
        return document if isinstance(document, dict) else None

    def _get(self, path: str, **query: str) -> Answer | None:
        answer = self._session.get(
            f"{self._url}{path}",
            params=query,
            headers={"Authorization": f"Bearer {self._token()}"},
            timeout=TIMEOUT_SECONDS,
            allow_redirects=False,
        )
        if answer.status_code == requests.codes.not_found:
            return None
        if answer.status_code != requests.codes.ok:
            advice = _ADVICE.get(answer.status_code, answer.text[:200])
            raise ProbeFailedError(f"{path} answered {answer.status_code}: {advice}")
        document: Answer = answer.json()
        return document
