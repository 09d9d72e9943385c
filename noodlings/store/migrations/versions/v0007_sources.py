"""Where an entry comes from, and which records of a source were taken in."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make the column and the table; whatever is stored already was lived."""
    op.add_column("entries", sa.Column("source", sa.Text))
    op.create_index("ix_entries_lived", "entries", ["agent_id", "id"], sqlite_where=sa.text("source IS NULL"))
    op.create_table(
        "source_records",
        sa.Column("agent_id", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("record_id", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("entry_id", sa.Integer),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("record", sa.Text),
        sa.PrimaryKeyConstraint("agent_id", "source", "record_id", name="pk_source_records"),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.agent_id"], name="fk_source_records_agent_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_source_records_entry", "source_records", ["agent_id", "entry_id"])
    op.create_index(
        "ix_source_records_parked",
        "source_records",
        ["agent_id", "source", "record_id"],
        sqlite_where=sa.text("record IS NOT NULL"),
    )
