"""The tables. `migrations/` creates those of [extractor]; the others belong to other services.

SQLite has no schemas: there the engine maps all three away, so table names must not clash.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Unicode,
    UniqueConstraint,
    text,
)

from shared.adapters.database.types import Guid, JsonText, Timestamp, Utf8Text

EXTRACTOR = "extractor"
SCHEMAS = (EXTRACTOR, "file", "registration")

metadata = MetaData()

_row_id = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers INTEGER keys only

file = Table(
    "File",
    metadata,
    Column("FileID", Guid, nullable=False),
    Column("ClientApplicationID", String(64), nullable=False),
    Column("BlobContainer", String(63), nullable=False),
    Column("BlobName", Unicode(1024), nullable=False),
    Column("DocumentHash", String(128), nullable=False),
    Column("CreatedAt", Timestamp, nullable=False),
    PrimaryKeyConstraint("FileID", name="PK_File"),
    Index("IX_DocumentHash", "DocumentHash"),
    schema="file",
)

client_application_extractor = Table(
    "ClientApplicationExtractor",
    metadata,
    Column("ClientApplicationExtractorID", Integer, autoincrement=False, nullable=False),
    Column("ClientApplicationID", String(64), nullable=False),
    Column("ExtractionUrl", Unicode(2048), nullable=False),
    Column("IsActive", Boolean, nullable=False),
    PrimaryKeyConstraint("ClientApplicationExtractorID", name="PK_ClientApplicationExtractor"),
    schema="registration",
)

_active = text("Status IN ('Queued', 'Started')")

job = Table(
    "Job",
    metadata,
    Column("JobID", Guid, nullable=False),
    Column("FileID", Guid, ForeignKey(file.c.FileID, name="FK_Job_File"), nullable=False),
    Column(
        "ClientApplicationExtractorID",
        Integer,
        ForeignKey(
            client_application_extractor.c.ClientApplicationExtractorID,
            name="FK_Job_ClientApplicationExtractor",
        ),
    ),
    Column("Status", String(50), nullable=False),
    Column("StatusMessage", Utf8Text),
    Column("CreatedAt", Timestamp, nullable=False),
    Column("UpdatedAt", Timestamp, nullable=False),
    Column("CompletedAt", Timestamp),
    Column("ExtractorResponse", Unicode),
    Column("Attempt", Integer, nullable=False),
    Column("RequestID", String(64)),
    PrimaryKeyConstraint("JobID", name="PK_Job"),
    CheckConstraint(
        "Status IN ('Queued', 'Started', 'Succeeded', 'Failed', 'Cancelled')", name="CK_Job_Status"
    ),
    Index("IX_FileID", "FileID"),
    Index("IX_ClientApplicationExtractorID", "ClientApplicationExtractorID"),
    Index("IX_Status", "Status"),
    Index(
        "UX_Job_Active",
        "FileID",
        "ClientApplicationExtractorID",
        unique=True,
        mssql_where=_active,
        sqlite_where=_active,
    ),
    schema=EXTRACTOR,
)

job_call = Table(
    "JobCall",
    metadata,
    Column("JobID", Guid, ForeignKey(job.c.JobID, name="FK_JobCall_Job"), nullable=False),
    Column("TraceParent", String(55), nullable=False),
    Column("FirstTriedAt", Timestamp),
    Column("CalledAt", Timestamp),
    Column("LeaseUntil", Timestamp),
    Column("DueAt", Timestamp, nullable=False),
    Column("Tries", Integer, nullable=False),
    Column("LastError", Unicode),
    PrimaryKeyConstraint("JobID", name="PK_JobCall"),
    Index("IX_JobCall_DueAt", "DueAt"),
    schema=EXTRACTOR,
)

file_event = Table(
    "FileEvent",
    metadata,
    Column("FileEventID", _row_id, Identity(), nullable=False),
    Column("FileID", Guid, nullable=False),
    Column("JobID", Guid),
    Column("RequestID", String(64)),
    Column("At", Timestamp, nullable=False),
    Column("Kind", String(20), nullable=False),
    Column("Source", Unicode(100), nullable=False),
    Column("Actor", Unicode(320)),
    Column("Detail", JsonText, nullable=False),
    PrimaryKeyConstraint("FileEventID", name="PK_FileEvent"),
    Index("IX_FileEvent_FileID", "FileID", "At"),
    schema=EXTRACTOR,
)

_unsent = text("SentAt IS NULL")

outbox = Table(
    "Outbox",
    metadata,
    Column("OutboxID", _row_id, Identity(), nullable=False),
    Column("JobID", Guid),
    Column("Topic", String(260), nullable=False),
    Column("MessageID", String(128), nullable=False),
    Column("Body", Unicode, nullable=False),
    Column("Properties", JsonText, nullable=False),
    Column("NotBefore", Timestamp),
    Column("SentAt", Timestamp),
    PrimaryKeyConstraint("OutboxID", name="PK_Outbox"),
    UniqueConstraint("Topic", "MessageID", name="UQ_Outbox_Message"),
    Index("IX_Outbox_Unsent", "JobID", mssql_where=_unsent, sqlite_where=_unsent),
    schema=EXTRACTOR,
)
