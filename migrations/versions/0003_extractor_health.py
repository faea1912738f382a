"""How extractors stand: failures in a row, the circuit, and pauses.

Safe while the release before runs: the table is its successor's alone.
"""

import sqlalchemy as sa
from alembic import op

from migrations.schemas import schema
from shared.adapters.database.types import Timestamp

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "ExtractorHealth",
        sa.Column("ClientApplicationExtractorID", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("Failures", sa.Integer, nullable=False),
        sa.Column("OpenUntil", Timestamp),
        sa.Column("PausedAt", Timestamp),
        sa.Column("PausedBy", sa.Unicode(320)),
        sa.Column("PauseReason", sa.Unicode(1000)),
        sa.PrimaryKeyConstraint("ClientApplicationExtractorID", name="PK_ExtractorHealth"),
        schema=schema("extractor"),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("ExtractorHealth", schema=schema("extractor"))
