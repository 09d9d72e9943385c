"""Links between entries."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the table; nothing was linked before."""
    op.create_table(
        "links",
        sa.Column("agent_id", sa.Text, nullable=False),
        sa.Column("source_id", sa.Integer, nullable=False),
        sa.Column("target_id", sa.Integer, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("strength", sa.Float, nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("source_id", "agent_id", "target_id", "type", name="pk_links"),
        sa.ForeignKeyConstraint(
            ["agent_id", "source_id"],
            ["entries.agent_id", "entries.id"],
            name="fk_links_source_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["agent_id", "target_id"],
            ["entries.agent_id", "entries.id"],
            name="fk_links_target_id",
            ondelete="CASCADE",
        ),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_links_target", "links", ["target_id", "agent_id", "strength", "created"])
