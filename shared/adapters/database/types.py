"""Column types that mean the same on SQL Server and on SQLite."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Dialect, String, TypeDecorator, Unicode
from sqlalchemy.dialects import mssql
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.types import TypeEngine

UTF8_COLLATION = "Latin1_General_100_CI_AS_SC_UTF8"
EXACT_COLLATION = "Latin1_General_100_BIN2"


class Guid(TypeDecorator[UUID]):
    """UNIQUEIDENTIFIER; on SQLite text in lower case with hyphens."""

    impl = String(36)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "mssql":
            return dialect.type_descriptor(mssql.UNIQUEIDENTIFIER())
        return dialect.type_descriptor(String(36))

    def process_bind_param(self, value: UUID | None, dialect: Dialect) -> Any:
        return str(value) if value and dialect.name != "mssql" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> UUID | None:
        return None if value is None else UUID(str(value))


class Timestamp(TypeDecorator[datetime]):
    """DATETIMEOFFSET; on SQLite ISO text of one width, so that text order is order of time.

    Times are made UTC before binding and come back as aware UTC. Naive times are refused.
    """

    impl = String(27)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "mssql":
            return dialect.type_descriptor(mssql.DATETIMEOFFSET())  # type: ignore[no-untyped-call] # SQLAlchemy's
        return dialect.type_descriptor(String(27))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        if value.utcoffset() is None:
            raise ValueError("a time without an offset cannot be stored")
        moment = value.astimezone(UTC)
        if dialect.name == "mssql":
            return moment
        return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        return moment.astimezone(UTC)


class JsonText(TypeDecorator[dict[str, Any]]):
    """A JSON object as NVARCHAR(MAX)."""

    impl = Unicode()
    cache_ok = True

    def process_bind_param(self, value: dict[str, Any] | None, dialect: Dialect) -> str | None:
        return None if value is None else json.dumps(value, ensure_ascii=False)

    def process_result_value(self, value: Any, dialect: Dialect) -> dict[str, Any] | None:
        return None if value is None else json.loads(value)


class Utf8Text(Unicode):
    """VARCHAR(MAX) that holds every script, as UTF-8.

    It is bound as NVARCHAR: a VARCHAR parameter would pass through the code page of the
    database, which has no Arabic.
    """


@compiles(Utf8Text, "mssql")
def _utf8_text(_type: Utf8Text, _compiler: Any, **_options: Any) -> str:
    return f"VARCHAR(max) COLLATE {UTF8_COLLATION}"


class ExactText(String):
    """VARCHAR in which case matters, as it does on SQLite: "A" and "a" are two keys."""


@compiles(ExactText, "mssql")
def _exact_text(exact: ExactText, _compiler: Any, **_options: Any) -> str:
    return f"VARCHAR({exact.length}) COLLATE {EXACT_COLLATION}"
