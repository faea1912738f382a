"""An operator: a person with a token, who restarts over HTTP what has failed."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import requests

from local.identity.claims import Issuer, user_claims
from local.identity.keys import sign
from local.settings import LocalSettings
from local.supervisor.environment import AUDIENCE, host_url, identity_url

SCOPE = "EXTRACTED_ENTITIES_WRITE"
ROLE = "User"
RESTART = "/v1/extracted_entities/restart"
REQUESTS = "/v1/requests"

TIMEOUT_SECONDS = 15
POLL_SECONDS = 0.1

type Request = dict[str, Any]
"""The JSON of `GET /v1/requests/{requestId}`."""


class Operator:
    """Calls the service with a fresh token each time. Safe to use from several threads."""

    def __init__(self, settings: LocalSettings, email: str = "operator@example.com") -> None:
        self._settings = settings
        self._email = email

    def restart(
        self, entity_ids: Sequence[int], reason: str = "manual_restart", **headers: str
    ) -> requests.Response:
        """Ask for the extraction of these entities' documents once more."""
        return self.post(RESTART, {"extractedEntityIds": entity_ids, "reason": reason}, headers)

    def post(
        self, path: str, body: Any, headers: Mapping[str, str] | None = None
    ) -> requests.Response:
        """Post JSON."""
        return self._call("POST", path, headers or {}, json=body)

    def get(self, path: str, **query: str) -> requests.Response:
        """Get what is at a path."""
        return self._call("GET", path, {}, params=query)

    def wait_for_request(
        self, request_id: str, done: Callable[[Request], bool], seconds: float = 30
    ) -> Request:
        """The request as soon as `done` likes it. Raises TimeoutError."""
        deadline = time.monotonic() + seconds
        while True:
            answer = self.get(f"{REQUESTS}/{request_id}")
            request: Request = answer.json()
            if answer.ok and done(request):
                return request
            if time.monotonic() > deadline:
                stands = request.get("state", "not there yet")
                raise TimeoutError(f"request {request_id} is {stands} after {seconds:.0f} s")
            time.sleep(POLL_SECONDS)

    def token(self) -> str:
        """A token of this person, signed with the key in the data folder."""
        claims = user_claims(
            Issuer(identity_url(self._settings)),
            audience=AUDIENCE,
            client_id="local-console",
            email=self._email,
            scopes=[SCOPE],
            roles=[ROLE],
        )
        return sign(self._settings.data, claims)

    def _call(
        self, method: str, path: str, headers: Mapping[str, str], **more: Any
    ) -> requests.Response:
        with requests.Session() as session:
            session.trust_env = False  # no proxy on the way to loopback
            return session.request(
                method,
                host_url(self._settings) + path,
                headers={"Authorization": f"Bearer {self.token()}", **headers},
                timeout=TIMEOUT_SECONDS,
                **more,
            )


def is_over(request: Request) -> bool:
    """Whether nothing more happens to a request by itself."""
    return request["state"] in {"succeeded", "partial", "failed"}
