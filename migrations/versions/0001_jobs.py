"""Jobs, their calls, what is written down about files, and the outbox."""

import sqlalchemy as sa
from alembic import op

from migrations.schemas import column, create_index, schema
from shared.adapters.database.types import Guid, JsonText, Timestamp, Utf8Text

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables. `[file].[File]` and the registrations must exist already."""
    _create_job()
    _create_job_call()
    _create_file_event()
    _create_outbox()


def downgrade() -> None:
    """Drop the tables with all they hold."""
    for table in ("Outbox", "FileEvent", "JobCall", "Job"):
        op.drop_table(table, schema=schema("extractor"))


def _create_job() -> None:
    op.create_table(
        "Job",
        sa.Column("JobID", Guid, nullable=False),
        sa.Column("FileID", Guid, nullable=False),
        sa.Column("ClientApplicationExtractorID", sa.Integer),
        sa.Column("Status", sa.String(50), nullable=False),
        sa.Column("StatusMessage", Utf8Text),
        sa.Column("CreatedAt", Timestamp, nullable=False),
        sa.Column("UpdatedAt", Timestamp, nullable=False),
        sa.Column("CompletedAt", Timestamp),
        sa.Column("ExtractorResponse", sa.Unicode),
        sa.Column("Attempt", sa.Integer, nullable=False),
        sa.Column("RequestID", sa.String(64)),
        sa.PrimaryKeyConstraint("JobID", name="PK_Job"),
        sa.CheckConstraint(
            "Status IN ('Queued', 'Started', 'Succeeded', 'Failed', 'Cancelled')",
            name="CK_Job_Status",
        ),
        sa.ForeignKeyConstraint(["FileID"], [column("file", "File", "FileID")], name="FK_Job_File"),
        sa.ForeignKeyConstraint(
            ["ClientApplicationExtractorID"],
            [column("registration", "ClientApplicationExtractor", "ClientApplicationExtractorID")],
            name="FK_Job_ClientApplicationExtractor",
        ),
        schema=schema("extractor"),
    )
    create_index("IX_FileID", "Job", ["FileID"])
    create_index("IX_ClientApplicationExtractorID", "Job", ["ClientApplicationExtractorID"])
    create_index("IX_Status", "Job", ["Status"])
    create_index(
        "UX_Job_Active",
        "Job",
        ["FileID", "ClientApplicationExtractorID"],
        unique=True,
        where="Status IN ('Queued', 'Started')",
    )


def _create_job_call() -> None:
    op.create_table(
        "JobCall",
        sa.Column("JobID", Guid, nullable=False),
        sa.Column("TraceParent", sa.String(55), nullable=False),
        sa.Column("FirstTriedAt", Timestamp),
        sa.Column("CalledAt", Timestamp),
        sa.Column("LeaseUntil", Timestamp),
        sa.Column("DueAt", Timestamp, nullable=False),
        sa.Column("Tries", sa.Integer, nullable=False),
        sa.Column("LastError", sa.Unicode),
        sa.PrimaryKeyConstraint("JobID", name="PK_JobCall"),
        sa.ForeignKeyConstraint(
            ["JobID"], [column("extractor", "Job", "JobID")], name="FK_JobCall_Job"
        ),
        schema=schema("extractor"),
    )
    create_index("IX_JobCall_DueAt", "JobCall", ["DueAt"])


def _create_file_event() -> None:
    op.create_table(
        "FileEvent",
        sa.Column("FileEventID", _row_id(), sa.Identity(), nullable=False),
        sa.Column("FileID", Guid, nullable=False),
        sa.Column("JobID", Guid),
        sa.Column("RequestID", sa.String(64)),
        sa.Column("At", Timestamp, nullable=False),
        sa.Column("Kind", sa.String(20), nullable=False),
        sa.Column("Source", sa.Unicode(100), nullable=False),
        sa.Column("Actor", sa.Unicode(320)),
        sa.Column("Detail", JsonText, nullable=False),
        sa.PrimaryKeyConstraint("FileEventID", name="PK_FileEvent"),
        schema=schema("extractor"),
    )
    create_index("IX_FileEvent_FileID", "FileEvent", ["FileID", "At"])


def _create_outbox() -> None:
    op.create_table(
        "Outbox",
        sa.Column("OutboxID", _row_id(), sa.Identity(), nullable=False),
        sa.Column("JobID", Guid),
        sa.Column("Topic", sa.String(260), nullable=False),
        sa.Column("MessageID", sa.String(128), nullable=False),
        sa.Column("Body", sa.Unicode, nullable=False),
        sa.Column("Properties", JsonText, nullable=False),
        sa.Column("NotBefore", Timestamp),
        sa.Column("SentAt", Timestamp),
        sa.PrimaryKeyConstraint("OutboxID", name="PK_Outbox"),
        sa.UniqueConstraint("Topic", "MessageID", name="UQ_Outbox_Message"),
        schema=schema("extractor"),
    )
    create_index("IX_Outbox_Unsent", "Outbox", ["JobID"], where="SentAt IS NULL")


def _row_id() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer, "sqlite")
