"""Times, GUIDs and text as they stand in SQLite."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest
from sqlalchemy import Column, MetaData, Table, create_engine, insert, select
from sqlalchemy.engine import Connection
from sqlalchemy.exc import StatementError

from shared.adapters.database.types import Guid, JsonText, Timestamp, Utf8Text

samples = Table(
    "Sample",
    MetaData(),
    Column("Id", Guid, primary_key=True),
    Column("At", Timestamp),
    Column("Detail", JsonText),
    Column("Message", Utf8Text),
)
SOME_ID = UUID("5F0F3A52-7F0E-5E62-9A35-5D8D1F6F9A41")


@pytest.fixture
def connection() -> Iterator[Connection]:
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        samples.create(connection)
        yield connection
    engine.dispose()


def raw(connection: Connection, column: str) -> object:
    return connection.exec_driver_sql(f"SELECT {column} FROM Sample").scalar()


def test_a_time_comes_back_as_the_same_instant_in_utc(connection: Connection) -> None:
    west = datetime(2020, 1, 1, tzinfo=timezone(timedelta(hours=-7)))

    connection.execute(insert(samples).values(Id=SOME_ID, At=west))

    stored = connection.execute(select(samples.c.At)).scalar_one()
    assert stored == west
    assert stored.tzinfo is UTC
    assert raw(connection, "At") == "2020-01-01T07:00:00.000000Z"


def test_the_machines_time_zone_does_not_matter(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    time.tzset()
    try:
        moment = datetime(2020, 1, 1, tzinfo=UTC)
        connection.execute(insert(samples).values(Id=SOME_ID, At=moment))
        assert connection.execute(select(samples.c.At)).scalar_one() == moment
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_naive_time_is_refused(connection: Connection) -> None:
    naive = datetime(2020, 1, 1, tzinfo=UTC).replace(tzinfo=None)

    with pytest.raises(StatementError, match="without an offset"):
        connection.execute(insert(samples).values(Id=SOME_ID, At=naive))


def test_times_with_and_without_fractions_compare_in_order_of_time(connection: Connection) -> None:
    whole = datetime(2020, 1, 1, tzinfo=UTC)
    moments = [whole - timedelta(microseconds=1), whole, whole + timedelta(microseconds=1)]
    for number, moment in enumerate(moments):
        connection.execute(insert(samples).values(Id=UUID(int=number), At=moment))

    later = select(samples.c.At).where(samples.c.At > whole)
    in_order = select(samples.c.At).order_by(samples.c.At)
    assert connection.execute(later).scalars().all() == moments[2:]
    assert connection.execute(in_order).scalars().all() == moments


@pytest.mark.parametrize("form", [str(SOME_ID).upper(), f"{{{SOME_ID}}}", SOME_ID.hex])
def test_a_guid_is_one_and_the_same_in_every_form(connection: Connection, form: str) -> None:
    connection.execute(insert(samples).values(Id=UUID(form)))

    found = connection.execute(select(samples.c.Id).where(samples.c.Id == SOME_ID)).scalar_one()
    assert found == SOME_ID
    assert raw(connection, "Id") == "5f0f3a52-7f0e-5e62-9a35-5d8d1f6f9a41"


def test_json_and_messages_keep_every_script(connection: Connection) -> None:
    detail = {"name": "تقرير 😀", "pages": 3, "none": None}

    connection.execute(insert(samples).values(Id=SOME_ID, Detail=detail, Message="تقرير"))

    row = connection.execute(select(samples)).one()
    assert row.Detail == detail
    assert row.Message == "تقرير"


def test_absent_values_stay_absent(connection: Connection) -> None:
    connection.execute(insert(samples).values(Id=SOME_ID))

    assert tuple(connection.execute(select(samples)).one()) == (SOME_ID, None, None, None)
