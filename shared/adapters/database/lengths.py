"""Text is measured before it is written: SQL Server's own refusal comes late and names no field."""

from typing import Any

from sqlalchemy import String, Table, Unicode

from shared.domain.errors import PermanentError


def checked(table: Table, **row: Any) -> dict[str, Any]:
    """The row, when each text fits its column.

    Raises PermanentError `value_too_long` (NVARCHAR and VARCHAR count UTF-16 units) and
    `value_not_ascii` (a VARCHAR column would keep question marks), both naming the field.
    """
    for name, value in row.items():
        column_type = table.c[name].type
        if isinstance(value, str) and isinstance(column_type, String):
            _check(f"{table.name}.{name}", value, column_type)
    return row


def _check(field: str, value: str, column_type: String) -> None:
    units = len(value.encode("utf-16-le", "surrogatepass")) // 2
    if column_type.length and units > column_type.length:
        raise PermanentError(
            "value_too_long", f"{field} has {units} UTF-16 units; at most {column_type.length} fit"
        )
    if not isinstance(column_type, Unicode) and not value.isascii():
        raise PermanentError("value_not_ascii", f"{field} may only hold ASCII characters")
