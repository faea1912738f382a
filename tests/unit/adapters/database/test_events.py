"""Rows of [extractor].[FileEvent]."""

from uuid import uuid4

import pytest

from shared.adapters.database import SqlDatabase
from shared.adapters.database.transactions import SqlTransaction
from shared.domain.errors import PermanentError
from shared.domain.events import EventKind, FileEvent
from tests.unit.adapters.database.rows import MINUTE, NOW


def test_what_is_written_about_a_file_comes_in_order_of_time(database: SqlDatabase) -> None:
    file_id, job_id = uuid4(), uuid4()
    late = FileEvent(file_id, NOW + MINUTE, EventKind.DEAD_LETTER, "dead_letters", job_id=job_id)
    first = FileEvent(file_id, NOW, EventKind.ACCEPTED, "on_file_accepted")
    second = FileEvent(
        file_id,
        NOW,
        EventKind.RETRY,
        "on_extraction_retry",
        request_id="req-1",
        actor="أحمد@example.com",
        detail={"retryAttempt": 1, "nested": {"reason": "manual_restart"}},
    )
    other = FileEvent(uuid4(), NOW, EventKind.STATUS, "on_job_status")

    def write(transaction: SqlTransaction) -> None:
        for event in (late, first, second, other):
            transaction.events.add(event)

    database.run(write)

    assert database.run(lambda tx: tx.events.of_file(file_id)) == [first, second, late]


def test_an_actor_that_does_not_fit_is_refused_by_name(database: SqlDatabase) -> None:
    event = FileEvent(uuid4(), NOW, EventKind.OPERATOR, "cancel", actor="a" * 321)

    with pytest.raises(PermanentError, match=r"FileEvent\.Actor"):
        database.run(lambda tx: tx.events.add(event))
