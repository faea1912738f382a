"""Call-back tokens: an extractor reports on its own job over HTTPS with one, and on no other."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

import jwt

from shared.auth import ForbiddenError, UnauthorizedError
from shared.domain.extractor_calls import Callback

AUDIENCE = "extractor-callback"
ALGORITHM = "HS256"
SHORTEST_KEY = 32
"""Characters; a shorter key could be guessed from a token."""


class Callbacks:
    """Signs with the first key and accepts all of them, so that keys can rotate.

    `base_url` is the app as extractors reach it; a token lives `life`. Raises ValueError for no
    key or a short one.
    """

    def __init__(
        self,
        base_url: str,
        keys: Sequence[str],
        life: timedelta,
        clock: Callable[[], datetime],
    ) -> None:
        if not keys or any(len(key) < SHORTEST_KEY for key in keys):
            raise ValueError(f"Call-back keys need at least {SHORTEST_KEY} characters each")
        self._base_url = base_url.rstrip("/")
        self._keys = list(keys)
        self._life = life
        self._clock = clock

    def for_job(self, job_id: UUID) -> Callback:
        """Where the job's extractor may report, and the token for it."""
        claims = {"sub": str(job_id), "aud": AUDIENCE, "exp": self._clock() + self._life}
        token = jwt.encode(claims, self._keys[0], ALGORITHM)
        return Callback(f"{self._base_url}/v1/jobs/{job_id}/status", token)

    def check(self, token: str, job_id: UUID) -> None:
        """Raises UnauthorizedError for a bad token, ForbiddenError for one of another job."""
        if self._job_of(token) != str(job_id):
            raise ForbiddenError("The token belongs to another job")

    def _job_of(self, token: str) -> str:
        for key in self._keys:
            try:
                claims = jwt.decode(
                    token,
                    key,
                    algorithms=[ALGORITHM],
                    audience=AUDIENCE,
                    options={"require": ["exp", "sub", "aud"], "verify_exp": False},
                )
            except jwt.InvalidSignatureError:
                continue
            except jwt.InvalidTokenError as error:
                raise UnauthorizedError(type(error).__name__) from None
            if not isinstance(claims["exp"], int) or claims["exp"] <= self._clock().timestamp():
                raise UnauthorizedError("expired")
            return str(claims["sub"])
        raise UnauthorizedError("signed with no key of ours")
