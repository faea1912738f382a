"""Retry requests with their files, and when a message was put into the outbox.

Safe while the release before runs: the tables are its successor's alone, and the column is
nullable.
"""

import sqlalchemy as sa
from alembic import op

from migrations.schemas import column, create_index, schema
from shared.adapters.database.types import ExactText, Guid, JsonText, Timestamp

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the tables, and add `CreatedAt` to the outbox, null in the rows that stand there."""
    op.add_column("Outbox", sa.Column("CreatedAt", Timestamp), schema=schema("extractor"))
    _create_retry_request()
    _create_retry_file()


def downgrade() -> None:
    """Drop the tables with all they hold, and the column."""
    op.drop_table("RetryFile", schema=schema("extractor"))
    op.drop_table("RetryRequest", schema=schema("extractor"))
    op.drop_column("Outbox", "CreatedAt", schema=schema("extractor"))


def _create_retry_request() -> None:
    op.create_table(
        "RetryRequest",
        sa.Column("RequestID", sa.String(64), nullable=False),
        sa.Column("RetryAttempt", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("MaxRetries", sa.Integer, nullable=False),
        sa.Column("Reason", sa.Unicode(1000), nullable=False),
        sa.Column("InitiatedBy", sa.Unicode(320), nullable=False),
        sa.Column("ClientApplicationID", sa.String(64), nullable=False),
        sa.Column("AskedAt", Timestamp, nullable=False),
        sa.Column("CreatedAt", Timestamp, nullable=False),
        sa.Column("TraceParent", sa.String(55), nullable=False),
        sa.Column("Pending", sa.Integer, nullable=False),
        sa.Column("ClosedAt", Timestamp),
        sa.Column("NextAttemptAt", Timestamp),
        sa.Column("Metadata", JsonText),
        sa.PrimaryKeyConstraint("RequestID", "RetryAttempt", name="PK_RetryRequest"),
        schema=schema("extractor"),
    )
    create_index("IX_RetryRequest_AskedAt", "RetryRequest", ["AskedAt"])
    create_index("IX_RetryRequest_Open", "RetryRequest", ["CreatedAt"], where="ClosedAt IS NULL")


def _create_retry_file() -> None:
    op.create_table(
        "RetryFile",
        sa.Column("RequestID", sa.String(64), nullable=False),
        sa.Column("RetryAttempt", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("Position", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("FileRef", ExactText(128), nullable=False),
        sa.Column("FileID", Guid),
        sa.Column("JobID", Guid),
        sa.Column("Outcome", sa.String(20), nullable=False),
        sa.Column("Error", sa.Unicode),
        sa.Column("Retryable", sa.Boolean, nullable=False),
        sa.Column("DecidedAt", Timestamp),
        sa.PrimaryKeyConstraint("RequestID", "RetryAttempt", "Position", name="PK_RetryFile"),
        sa.ForeignKeyConstraint(
            ["RequestID", "RetryAttempt"],
            [
                column("extractor", "RetryRequest", "RequestID"),
                column("extractor", "RetryRequest", "RetryAttempt"),
            ],
            name="FK_RetryFile_RetryRequest",
        ),
        sa.UniqueConstraint("RequestID", "RetryAttempt", "FileRef", name="UQ_RetryFile_FileRef"),
        sa.CheckConstraint(
            "Outcome IN ('pending', 'succeeded', 'failed')", name="CK_RetryFile_Outcome"
        ),
        schema=schema("extractor"),
    )
    create_index("IX_RetryFile_JobID", "RetryFile", ["JobID"])
