"""Vectors of entries."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the table; what has no vector is embedded in the background."""
    op.create_table(
        "vectors",
        sa.Column("agent_id", sa.Text, nullable=False),
        sa.Column("entry_id", sa.Integer, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("vector", sa.LargeBinary),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("agent_id", "entry_id", name="pk_vectors"),
        sa.ForeignKeyConstraint(
            ["agent_id", "entry_id"],
            ["entries.agent_id", "entries.id"],
            name="fk_vectors_agent_id",
            ondelete="CASCADE",
        ),
    )
