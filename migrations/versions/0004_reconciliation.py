"""What reconciliation has mended, counted by kind.

Safe while the release before runs: the table is its successor's alone.
"""

import sqlalchemy as sa
from alembic import op

from migrations.schemas import schema
from shared.adapters.database.types import Timestamp

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "Reconciliation",
        sa.Column("Kind", sa.String(50), nullable=False),
        sa.Column("Total", sa.BigInteger, nullable=False),
        sa.Column("LastAt", Timestamp, nullable=False),
        sa.PrimaryKeyConstraint("Kind", name="PK_Reconciliation"),
        schema=schema("extractor"),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("Reconciliation", schema=schema("extractor"))
