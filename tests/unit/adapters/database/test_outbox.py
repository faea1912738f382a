"""Rows of [extractor].[Outbox]."""

from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

from shared.adapters.database import SqlDatabase, tables
from shared.contracts.outgoing import OutgoingMessage
from shared.domain.errors import PermanentError
from tests.unit.adapters.database.rows import MINUTE, NOW, count

JOB = uuid4()


def message(message_id: str, topic: str = "job-status", body: str = "{}") -> OutgoingMessage:
    return OutgoingMessage(topic, message_id, "JobQueued", body, correlation_id=str(JOB))


def add(database: SqlDatabase, message: OutgoingMessage, job_id: UUID | None = JOB) -> None:
    database.run(lambda tx: tx.outbox.add(message, job_id))


def unsent_ids(database: SqlDatabase) -> list[str]:
    rows = database.run(lambda tx: tx.outbox.unsent(JOB))
    return [message.message_id for _, message in rows]


def test_a_message_comes_back_as_it_was_added(database: SqlDatabase) -> None:
    whole = OutgoingMessage(
        topic="extraction-retry",
        message_id="req-1:1",
        subject="ExtractionRetryEvent",
        body='{"reason": "إعادة 😀"}',
        correlation_id="req-1",
        properties={"schemaVersion": "1.0", "retryAttempt": 1, "willRetry": True},
        not_before=NOW + MINUTE,
    )

    add(database, whole)

    assert [found for _, found in database.run(lambda tx: tx.outbox.unsent(JOB))] == [whole]


def test_a_jobs_messages_come_in_the_order_they_were_written(database: SqlDatabase) -> None:
    for message_id in ("c", "a", "b"):
        add(database, message(message_id))
    add(database, message("of another job"), job_id=uuid4())
    add(database, message("of no job"), job_id=None)

    assert unsent_ids(database) == ["c", "a", "b"]


def test_a_message_that_is_there_already_is_not_written_again(database: SqlDatabase) -> None:
    add(database, message("a", body="first"))
    add(database, message("a", body="second"))
    add(database, message("a", topic="extraction-retry"))

    rows = database.run(lambda tx: tx.outbox.unsent(JOB))
    assert [(found.topic, found.body) for _, found in rows] == [
        ("job-status", "first"),
        ("extraction-retry", "{}"),
    ]


def test_a_sent_message_is_not_sent_again_even_when_it_is_added_again(
    database: SqlDatabase,
) -> None:
    add(database, message("a"))
    add(database, message("b"))
    [(row_id, _), _] = database.run(lambda tx: tx.outbox.unsent(JOB))

    database.run(lambda tx: tx.outbox.mark_sent(row_id, NOW))
    add(database, message("a"))

    assert unsent_ids(database) == ["b"]
    assert count(database, tables.outbox) == 2


def test_a_message_is_dated_by_the_clock_of_the_database(database: SqlDatabase) -> None:
    dated = SqlDatabase(database.engine, now=lambda: NOW)

    add(dated, message("a"))
    add(SqlDatabase(database.engine, now=lambda: NOW + MINUTE), message("a"))

    with database.engine.begin() as connection:
        assert connection.execute(select(tables.outbox.c.CreatedAt)).scalars().all() == [NOW]


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("Outbox.MessageID", message("m" * 129)),
        ("Outbox.Topic", message("m", topic="t" * 261)),
        ("Outbox.MessageID", message("مفتاح")),
    ],
)
def test_a_key_that_does_not_fit_is_refused_by_name(
    database: SqlDatabase, field: str, wrong: OutgoingMessage
) -> None:
    with pytest.raises(PermanentError, match=field):
        add(database, wrong)
