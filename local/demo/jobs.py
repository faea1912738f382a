"""`make jobs`: the newest jobs as the database has them, whether or not a stack runs."""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Row, select

from local.demo.console import complain, say
from local.demo.laptop import settings_for
from local.settings import LocalSettings
from local.supervisor.environment import database_path, database_url
from shared.adapters.database import create_engine
from shared.adapters.database.tables import file, job

NEWEST = 20


def main() -> int:
    """Print the table; 1 when there is no database yet."""
    settings = settings_for("make jobs")
    if not database_path(settings.data).exists():
        complain(f"make jobs: there is no database in {settings.data} yet: start with `make run`")
        return 1
    for line in table(newest_jobs(settings)):
        say(line)
    return 0


def newest_jobs(settings: LocalSettings) -> Sequence[Row[Any]]:
    """The newest jobs with their files' names, newest first."""
    statement = (
        select(job, file.c.BlobName)
        .join(file, file.c.FileID == job.c.FileID)
        .order_by(job.c.CreatedAt.desc())
        .limit(NEWEST)
    )
    engine = create_engine(database_url(settings))
    try:
        with engine.begin() as connection:
            return connection.execute(statement).all()
    finally:
        engine.dispose()


def table(rows: Sequence[Row[Any]]) -> Iterator[str]:
    """A line for each job below a heading; why it failed stands under it."""
    if not rows:
        yield "There are no jobs yet."
        return
    yield f"{'created':<19}  {'job':<36}  {'status':<9}  {'took':>9}  file"
    for row in rows:
        created = f"{row.CreatedAt.astimezone():%Y-%m-%d %H:%M:%S}"
        name = row.BlobName.rpartition("/")[2]
        yield f"{created}  {row.JobID!s}  {row.Status:<9}  {_took(row):>9}  {name}"
        if row.StatusMessage:
            yield f"{'':<19}  {row.StatusMessage}"


def _took(row: Row[Any]) -> str:
    if row.CompletedAt is None:
        return ""
    return f"{(row.CompletedAt - row.CreatedAt).total_seconds():.2f} s"


if __name__ == "__main__":
    sys.exit(main())
