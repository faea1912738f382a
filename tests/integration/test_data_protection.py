"""Personal data lies where `docs/operations/data-protection.md` says, and nowhere else."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import String, cast, func, select

from local.demo.file_service import StoredFile
from local.demo.operator import Operator, is_over
from local.supervisor.environment import database_path
from shared.adapters.database.tables import metadata
from shared.domain.jobs import JobStatus
from tests.integration.whole_stack import WholeStack, wait_for
from tests.pages import DOCS, blocks

PAGE = DOCS / "operations" / "data-protection.md"
SQL = [block.text for block in blocks(PAGE) if block.info == "sql"]
ERASE_A_FILE, ERASE_A_PERSON, WHAT_IS_OLD = SQL


class Story:
    """A file of somebody, whose extraction fails, is restarted by somebody else, and succeeds."""

    def __init__(self, stack: WholeStack) -> None:
        self.stack = stack
        self.mark = uuid4().hex[:12]
        self.name = f"anna-{self.mark}.txt"
        self.content = f"Dear Anna, number {self.mark}-content"
        self.operator = f"ada-{self.mark}@example.com"
        self.reason = f"asked for by telephone, {self.mark}-reason"

    def happen(self) -> StoredFile:
        client = self.stack.client_with(f"{self.stack.extraction_url}?behaviour=refuse")
        stored = self.stack.submit(self.content.encode(), self.name, client)
        assert self.stack.wait_for_end(stored.job_id).status is JobStatus.FAILED
        self.stack.register(client, self.stack.extraction_url)
        operator = Operator(self.stack.stack.settings, self.operator)
        asked = operator.post(f"/v1/retry/{stored.file_id}", {"reason": self.reason}).json()
        request = operator.wait_for_request(asked["requestId"], is_over)
        assert request["state"] == "succeeded"
        wait_for(lambda: not self._unsent(stored))
        return stored

    def _unsent(self, stored: StoredFile) -> bool:
        jobs = self.stack.jobs_of(stored.file_id)
        return any(
            self.stack.services.database.run(lambda tx, job=job: tx.outbox.unsent(job.job_id))
            for job in jobs
        )


def columns_with(stack: WholeStack, text: str) -> set[str]:
    """The columns of all tables that hold a text, as `Table.Column`."""
    with stack.services.database.engine.begin() as connection:
        return {
            f"{table.name}.{column.name}"
            for table in metadata.sorted_tables
            for column in table.c
            if connection.execute(
                select(func.count()).where(cast(column, String).contains(text, autoescape=True))
            ).scalar()
        }


def run_sql(stack: WholeStack, sql: str, values: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Statements of the page on SQLite, which has no schemas, in one transaction."""
    plain = sql.replace("[extractor].", "").replace("[file].", "")
    found: list[tuple[str, ...]] = []
    path = database_path(stack.stack.settings.data)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.create_function("CONCAT", -1, lambda *parts: "".join(map(str, parts)))
        for statement in plain.split(";"):
            if statement.strip():
                found += connection.execute(statement, values).fetchall()
    return found


def bytes_of(*files: Path) -> bytes:
    return b"".join(
        file.read_bytes() for each in files for file in each.parent.glob(f"{each.name}*")
    )


@pytest.fixture
def story(stack: WholeStack) -> Story:
    return Story(stack)


def test_what_is_personal_stands_in_the_named_columns_only(stack: WholeStack, story: Story) -> None:
    story.happen()
    assert columns_with(stack, story.content) == set()
    assert columns_with(stack, story.name) == {"File.BlobName"}
    assert columns_with(stack, story.operator) == {
        "FileEvent.Actor",
        "RetryRequest.InitiatedBy",
    }
    assert columns_with(stack, story.reason) == {"FileEvent.Detail", "RetryRequest.Reason"}


def test_orchestrations_and_log_hold_no_name_and_no_content(
    stack: WholeStack, story: Story
) -> None:
    story.happen()
    data = stack.stack.settings.data
    kept = bytes_of(data / "durable.sqlite3", data / "logs" / "host.log")
    assert story.reason.encode() in kept  # what is looked for would be found
    for personal in (story.name, story.content, story.operator):
        assert personal.encode() not in kept


def test_a_file_is_erased_with_all_that_was_written_about_it(
    stack: WholeStack, story: Story
) -> None:
    stored, other = story.happen(), Story(stack)
    kept = other.happen()

    run_sql(stack, ERASE_A_FILE, {"FileID": str(stored.file_id)})

    for needle in (str(stored.file_id), stored.document_hash, str(stored.job_id)):
        assert columns_with(stack, needle) <= {
            "File.FileID",
            "File.BlobName",
            "File.DocumentHash",
        }
    assert len(stack.jobs_of(kept.file_id)) == 2
    assert columns_with(stack, other.operator) == {"FileEvent.Actor", "RetryRequest.InitiatedBy"}


def test_a_person_is_erased_and_the_trail_stays(stack: WholeStack, story: Story) -> None:
    stored = story.happen()
    before = len(stack.events_of(stored.file_id))

    run_sql(stack, ERASE_A_PERSON, {"Person": story.operator})

    assert columns_with(stack, story.operator) == set()
    assert len(stack.events_of(stored.file_id)) == before


def test_files_are_old_when_all_their_jobs_ended_before(stack: WholeStack, story: Story) -> None:
    stored = story.happen()
    ended = max(job.updated_at for job in stack.jobs_of(stored.file_id))
    moment = ended.isoformat(timespec="microseconds").replace("+00:00", "Z")

    at_its_end = run_sql(stack, WHAT_IS_OLD, {"Before": moment})
    later = run_sql(stack, WHAT_IS_OLD, {"Before": "9999-12-31T00:00:00.000000Z"})

    assert (str(stored.file_id),) not in at_its_end
    assert (str(stored.file_id),) in later
