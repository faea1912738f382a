"""Reading the parameters of management calls, as leniently as the real host does."""

import base64
from datetime import datetime

from aiohttp import web

from local.durable.clock import parse_time
from local.durable.events import RuntimeStatus
from local.durable.instances import PAGE_SIZE, Query

CONTINUATION_HEADER = "x-ms-continuation-token"
FLAGS = {"true": True, "false": False}


class BadToken(ValueError):
    """A continuation token that was not ours."""


class Parameters:
    """A query string; names are compared without case, and a bad value counts as none."""

    def __init__(self, request: web.Request) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in request.query.items():
            self._values.setdefault(name.lower(), []).append(value)

    def text(self, name: str) -> str | None:
        """The first value."""
        values = self._values.get(name.lower())
        return values[0] if values else None

    def flag(self, name: str, *, default: bool) -> bool:
        """`true` or `false`."""
        return FLAGS.get((self.text(name) or "").lower(), default)

    def seconds(self, name: str) -> float | None:
        """A number of seconds."""
        try:
            return float(self.text(name) or "")
        except ValueError:
            return None

    def time(self, name: str) -> datetime | None:
        """A point in time."""
        try:
            return parse_time(self.text(name) or "")
        except ValueError:
            return None

    def page_size(self) -> int:
        """`top`, which can be 0 and (wrongly) less."""
        try:
            return int(self.text("top") or "")
        except ValueError:
            return PAGE_SIZE

    def statuses(self) -> list[RuntimeStatus]:
        """`runtimeStatus`: names as they are written, with commas between them."""
        names = ",".join(self._values.get("runtimestatus", ())).split(",")
        return [RuntimeStatus[name] for name in names if name in RuntimeStatus.__members__]


def read_query(request: web.Request) -> Query:
    """Which instances a list is to hold. Raises BadToken."""
    parameters = Parameters(request)
    return Query(
        statuses=parameters.statuses(),
        id_prefix=parameters.text("instanceIdPrefix") or "",
        created_from=parameters.time("createdTimeFrom"),
        created_to=parameters.time("createdTimeTo"),
        first_id=_read_token(request.headers.get(CONTINUATION_HEADER, "")),
        page_size=parameters.page_size(),
    )


def continuation_token(next_id: str) -> str:
    """Where the next page begins, as a header's value; the blank at its end is the real host's."""
    return base64.b64encode(next_id.encode()).decode() + " "


def _read_token(token: str) -> str:
    try:
        return base64.b64decode(token.strip(), validate=True).decode()
    except ValueError as error:
        raise BadToken(token) from error
