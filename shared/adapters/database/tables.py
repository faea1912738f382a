"""The tables. `migrations/` creates those of [extractor]; the others belong to other services.

SQLite has no schemas: there the engine maps them all away, so table names must not clash.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
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

from shared.adapters.database.types import ExactText, Guid, JsonText, Timestamp, Utf8Text

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

documents = Table(
    "Documents",
    metadata,
    Column("DocumentId", BigInteger, autoincrement=False, nullable=False),
    Column("DocumentHash", String(128), nullable=False),
    PrimaryKeyConstraint("DocumentId", name="PK_Documents"),
    Index("IX_Documents_DocumentHash", "DocumentHash"),
)

extracted_entities = Table(
    "ExtractedEntities",
    metadata,
    Column("ExtractedEntityId", BigInteger, autoincrement=False, nullable=False),
    Column(
        "DocumentId",
        BigInteger,
        ForeignKey(documents.c.DocumentId, name="FK_ExtractedEntities_Documents"),
        nullable=False,
    ),
    Column("Status", String(50), nullable=False),
    Column("Stage", String(50), nullable=False),
    Column("Substatus", String(50)),
    Column("CreatedOn", Timestamp, nullable=False),
    Column("ModifiedOn", Timestamp),
    PrimaryKeyConstraint("ExtractedEntityId", name="PK_ExtractedEntities"),
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

extractor_health = Table(
    "ExtractorHealth",
    metadata,
    Column("ClientApplicationExtractorID", Integer, autoincrement=False, nullable=False),
    Column("Failures", Integer, nullable=False),
    Column("OpenUntil", Timestamp),
    Column("PausedAt", Timestamp),
    Column("PausedBy", Unicode(320)),
    Column("PauseReason", Unicode(1000)),
    PrimaryKeyConstraint("ClientApplicationExtractorID", name="PK_ExtractorHealth"),
    schema=EXTRACTOR,
)

reconciliation = Table(
    "Reconciliation",
    metadata,
    Column("Kind", String(50), nullable=False),
    Column("Total", BigInteger, nullable=False),
    Column("LastAt", Timestamp, nullable=False),
    PrimaryKeyConstraint("Kind", name="PK_Reconciliation"),
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
    Column("CreatedAt", Timestamp),
    PrimaryKeyConstraint("OutboxID", name="PK_Outbox"),
    UniqueConstraint("Topic", "MessageID", name="UQ_Outbox_Message"),
    Index("IX_Outbox_Unsent", "JobID", mssql_where=_unsent, sqlite_where=_unsent),
    schema=EXTRACTOR,
)

_open = text("ClosedAt IS NULL")

retry_request = Table(
    "RetryRequest",
    metadata,
    Column("RequestID", String(64), nullable=False),
    Column("RetryAttempt", Integer, autoincrement=False, nullable=False),
    Column("MaxRetries", Integer, nullable=False),
    Column("Reason", Unicode(1000), nullable=False),
    Column("InitiatedBy", Unicode(320), nullable=False),
    Column("ClientApplicationID", String(64), nullable=False),
    Column("AskedAt", Timestamp, nullable=False),
    Column("CreatedAt", Timestamp, nullable=False),
    Column("TraceParent", String(55), nullable=False),
    Column("Pending", Integer, nullable=False),
    Column("ClosedAt", Timestamp),
    Column("NextAttemptAt", Timestamp),
    Column("Metadata", JsonText),
    PrimaryKeyConstraint("RequestID", "RetryAttempt", name="PK_RetryRequest"),
    Index("IX_RetryRequest_AskedAt", "AskedAt"),
    Index("IX_RetryRequest_Open", "CreatedAt", mssql_where=_open, sqlite_where=_open),
    schema=EXTRACTOR,
)

retry_file = Table(
    "RetryFile",
    metadata,
    Column("RequestID", String(64), nullable=False),
    Column("RetryAttempt", Integer, autoincrement=False, nullable=False),
    Column("Position", Integer, autoincrement=False, nullable=False),
    Column("FileRef", ExactText(128), nullable=False),
    Column("FileID", Guid),
    Column("JobID", Guid),
    Column("Outcome", String(20), nullable=False),
    Column("Error", Unicode),
    Column("Retryable", Boolean, nullable=False),
    Column("DecidedAt", Timestamp),
    PrimaryKeyConstraint("RequestID", "RetryAttempt", "Position", name="PK_RetryFile"),
    ForeignKeyConstraint(
        ["RequestID", "RetryAttempt"],
        [retry_request.c.RequestID, retry_request.c.RetryAttempt],
        name="FK_RetryFile_RetryRequest",
    ),
    UniqueConstraint("RequestID", "RetryAttempt", "FileRef", name="UQ_RetryFile_FileRef"),
    CheckConstraint("Outcome IN ('pending', 'succeeded', 'failed')", name="CK_RetryFile_Outcome"),
    Index("IX_RetryFile_JobID", "JobID"),
    schema=EXTRACTOR,
)
