"""Rows of [extractor].[RetryRequest] and [extractor].[RetryFile]."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID, uuid4

import pytest
from sqlalchemy.exc import IntegrityError

from shared.adapters.database import SqlDatabase, tables
from shared.adapters.database.transactions import SqlTransaction
from shared.domain.errors import PermanentError
from shared.domain.retries import FileOutcome, RetryFile, RetryRequest
from shared.services.ports import ConflictError
from tests.unit.adapters.database.plans import plan
from tests.unit.adapters.database.rows import (
    MINUTE,
    NOW,
    a_request,
    add_request,
    count,
    stored_files,
    stored_request,
)

JOB, OTHER_JOB = uuid4(), uuid4()
LATER = NOW + 5 * MINUTE


def decide(
    database: SqlDatabase,
    job_id: UUID,
    succeeded: bool = True,
    error: str | None = None,
    retryable: bool = False,
    at: datetime = LATER,
) -> Sequence[tuple[str, int]]:
    return database.run(lambda tx: tx.retries.decide(job_id, succeeded, error, retryable, at))


def count_down(database: SqlDatabase, decided: int) -> int:
    return database.run(lambda tx: tx.retries.count_down("req-1", 1, decided))


def close(database: SqlDatabase, at: datetime = LATER) -> bool:
    return database.run(lambda tx: tx.retries.close("req-1", 1, at))


def listed(
    database: SqlDatabase,
    initiated_by: str | None = None,
    since: datetime | None = None,
    limit: int = 50,
) -> list[tuple[str, int]]:
    found = database.run(lambda tx: tx.retries.requests(initiated_by, since, limit))
    return [(request.request_id, request.retry_attempt) for request in found]


# Adding and reading


def test_an_attempt_comes_back_as_it_was_added(database: SqlDatabase) -> None:
    request = RetryRequest(
        request_id="req-1",
        retry_attempt=2,
        max_retries=3,
        reason="إعادة 😀",
        initiated_by="أحمد@example.com",
        client_application_id="client-a",
        asked_at=NOW,
        created_at=NOW + MINUTE,
        trace_parent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        pending=7,
        closed_at=NOW + 2 * MINUTE,
        next_attempt_at=NOW + 3 * MINUTE,
        metadata={"extractedEntityIds": [1, 9007199254740993], "note": "نص"},
    )

    database.run(lambda tx: tx.retries.add(request, []))

    assert stored_request(database, "req-1", 2) == request
    assert stored_files(database, "req-1", 2) == []


def test_files_come_back_in_the_order_they_were_sent(database: SqlDatabase) -> None:
    files = [
        RetryFile("req-1", 1, "z", uuid4(), uuid4()),
        RetryFile("req-1", 1, "a", uuid4(), JOB, FileOutcome.SUCCEEDED, None, False, LATER),
        RetryFile("req-1", 1, "m", None, None, FileOutcome.FAILED, "غير موجود", False, LATER),
    ]

    database.run(lambda tx: tx.retries.add(a_request(), files))
    add_request(database, "req-2", waiting_for=[JOB])

    assert stored_files(database) == files


def test_an_unknown_attempt_is_none(database: SqlDatabase) -> None:
    add_request(database, "req-1", 1)

    assert database.run(lambda tx: tx.retries.get("req-1", 2)) is None
    assert database.run(lambda tx: tx.retries.get("req-2", 1)) is None


def test_an_attempt_that_is_there_is_a_conflict_and_stays(database: SqlDatabase) -> None:
    first = add_request(database, waiting_for=[JOB])

    def add_again(transaction: SqlTransaction) -> None:
        again = replace(first, reason="another")
        with pytest.raises(ConflictError):
            transaction.retries.add(again, [RetryFile("req-1", 1, "another")])

    database.run(add_again)

    assert stored_request(database) == first
    assert [file.file_ref for file in stored_files(database)] == ["hash-0"]


def test_one_id_twice_in_an_attempt_is_refused_whole_and_no_conflict(
    database: SqlDatabase,
) -> None:
    twice = [RetryFile("req-1", 1, "a"), RetryFile("req-1", 1, "a")]

    with pytest.raises(IntegrityError, match="UNIQUE"):
        database.run(lambda tx: tx.retries.add(a_request(), twice))

    assert count(database, tables.retry_request) == 0


def test_two_spellings_of_one_id_are_two_files(database: SqlDatabase) -> None:
    spellings = [RetryFile("req-1", 1, "ab"), RetryFile("req-1", 1, "AB")]

    database.run(lambda tx: tx.retries.add(a_request(), spellings))

    assert stored_files(database) == spellings


@pytest.mark.parametrize(
    ("field", "request_", "file_ref"),
    [
        ("RetryRequest.RequestID", a_request("r" * 65), "a"),
        ("RetryRequest.RequestID", a_request("طلب"), "a"),
        ("RetryRequest.Reason", a_request(reason="😀" * 501), "a"),
        ("RetryRequest.InitiatedBy", a_request(initiated_by="i" * 321), "a"),
        ("RetryFile.FileRef", a_request(), "f" * 129),
    ],
)
def test_text_that_does_not_fit_is_refused_by_name(
    database: SqlDatabase, field: str, request_: RetryRequest, file_ref: str
) -> None:
    with pytest.raises(PermanentError, match=field):
        database.run(lambda tx: tx.retries.add(request_, [RetryFile("req-1", 1, file_ref)]))

    assert count(database, tables.retry_request) == 0


def test_the_attempts_of_a_request_come_first_to_last(database: SqlDatabase) -> None:
    for attempt in (2, 10, 1):
        add_request(database, "req-1", attempt)
    add_request(database, "req-2", 3)

    attempts = database.run(lambda tx: tx.retries.attempts("req-1"))

    assert [attempt.retry_attempt for attempt in attempts] == [1, 2, 10]


# Deciding


def test_a_success_decides_the_files_that_wait_for_the_job(database: SqlDatabase) -> None:
    add_request(database, waiting_for=[JOB, OTHER_JOB])
    waiting, other = stored_files(database)

    assert decide(database, JOB, succeeded=True, error="ignored", retryable=True) == [("req-1", 1)]

    succeeded = replace(waiting, outcome=FileOutcome.SUCCEEDED, decided_at=LATER)
    assert stored_files(database) == [succeeded, other]


def test_a_failure_keeps_its_error_and_whether_it_may_pass(database: SqlDatabase) -> None:
    add_request(database, waiting_for=[JOB])
    [waiting] = stored_files(database)

    decide(database, JOB, succeeded=False, error="فشل " * 3000, retryable=True)

    assert stored_files(database) == [
        replace(
            waiting,
            outcome=FileOutcome.FAILED,
            error="فشل " * 3000,
            retryable=True,
            decided_at=LATER,
        )
    ]


def test_every_row_decided_is_answered_once_in_key_order(database: SqlDatabase) -> None:
    for request_id, attempt in [("req-2", 1), ("req-1", 10), ("req-1", 2)]:
        add_request(database, request_id, attempt, waiting_for=[OTHER_JOB, JOB, JOB])

    assert decide(database, JOB) == [
        ("req-1", 2),
        ("req-1", 2),
        ("req-1", 10),
        ("req-1", 10),
        ("req-2", 1),
        ("req-2", 1),
    ]


def test_a_decided_file_is_not_decided_again(database: SqlDatabase) -> None:
    add_request(database, waiting_for=[JOB])
    decide(database, JOB, succeeded=True)
    decided = stored_files(database)

    assert decide(database, JOB, succeeded=False, error="late", at=LATER + MINUTE) == []
    assert stored_files(database) == decided


def test_a_job_that_no_file_waits_for_decides_nothing(database: SqlDatabase) -> None:
    add_request(database, waiting_for=[JOB])

    assert decide(database, uuid4()) == []


# Counting down and closing


def test_counting_down_answers_what_is_left(database: SqlDatabase) -> None:
    add_request(database, pending=5)
    untouched = add_request(database, "req-1", 2, pending=5)

    assert [count_down(database, 1), count_down(database, 3), count_down(database, 1)] == [4, 1, 0]
    assert stored_request(database).pending == 0
    assert stored_request(database, "req-1", 2) == untouched


def test_the_count_stops_at_zero(database: SqlDatabase) -> None:
    add_request(database, pending=1)

    assert count_down(database, 2) == 0
    assert count_down(database, 1) == 0
    assert stored_request(database).pending == 0


def test_an_attempt_with_nothing_pending_is_closed_once(database: SqlDatabase) -> None:
    request = add_request(database, pending=0)

    assert close(database) is True
    assert close(database, at=LATER + MINUTE) is False
    assert stored_request(database) == replace(request, closed_at=LATER)


def test_an_attempt_with_a_file_pending_stays_open(database: SqlDatabase) -> None:
    request = add_request(database, pending=1)

    assert close(database) is False
    assert stored_request(database) == request


def test_the_first_time_noted_for_the_next_attempt_stays(database: SqlDatabase) -> None:
    request = add_request(database)

    database.run(lambda tx: tx.retries.schedule_next("req-1", 1, LATER))
    database.run(lambda tx: tx.retries.schedule_next("req-1", 1, LATER + MINUTE))

    assert stored_request(database) == replace(request, next_attempt_at=LATER)


# Listing


def test_requests_come_newest_first_with_their_latest_attempts(database: SqlDatabase) -> None:
    add_request(database, "old", 1, asked_at=NOW)
    add_request(database, "new", 1, asked_at=NOW + 2 * MINUTE)
    add_request(database, "middle", 1, asked_at=NOW + MINUTE)
    add_request(database, "middle", 2, asked_at=NOW + 9 * MINUTE)

    assert listed(database) == [("new", 1), ("middle", 2), ("old", 1)]


def test_a_request_whose_first_attempt_came_from_elsewhere_is_listed(database: SqlDatabase) -> None:
    add_request(database, "req-1", 2)

    assert listed(database) == [("req-1", 2)]


def test_requests_are_listed_by_who_asked(database: SqlDatabase) -> None:
    add_request(database, "hers", 1, initiated_by="ana@example.com")
    add_request(database, "systems", 1, initiated_by="system")

    assert listed(database, initiated_by="system") == [("systems", 1)]
    assert listed(database, initiated_by="nobody") == []


def test_requests_are_listed_since_a_time_that_counts(database: SqlDatabase) -> None:
    add_request(database, "before", 1, asked_at=NOW - MINUTE)
    add_request(database, "before", 2, asked_at=NOW + MINUTE)
    add_request(database, "then", 1, asked_at=NOW)

    assert listed(database, since=NOW) == [("then", 1)]


def test_no_more_requests_are_listed_than_asked_for(database: SqlDatabase) -> None:
    for minute in range(5):
        add_request(database, f"req-{minute}", 1, asked_at=NOW + minute * MINUTE)

    assert listed(database, limit=2) == [("req-4", 1), ("req-3", 1)]


# Indexes


def test_the_files_that_wait_for_a_job_are_searched_by_index(database: SqlDatabase) -> None:
    steps = plan(database, lambda tx: tx.retries.decide(JOB, True, None, False, NOW))

    assert "USING INDEX IX_RetryFile_JobID" in steps


def test_requests_are_listed_by_index_without_sorting_them_all(database: SqlDatabase) -> None:
    steps = plan(database, lambda tx: tx.retries.requests(None, NOW, 50))

    assert "SEARCH earliest USING INDEX IX_RetryRequest_AskedAt" in steps
    assert "SCAN" not in steps
