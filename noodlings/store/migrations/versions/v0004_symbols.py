"""Symbols made of entries."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the table; no moment has left a symbol before."""
    op.add_column(
        "agents", sa.Column("forgotten_symbol_id", sa.Integer, nullable=False, server_default=sa.text("0"))
    )
    op.create_table(
        "symbols",
        sa.Column("agent_id", sa.Text, nullable=False),
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("entry_id", sa.Integer, nullable=False),
        sa.Column("timestamp", sa.Float, nullable=False),
        sa.Column("literal_event", sa.Text, nullable=False),
        sa.Column("symbolic_encoding", sa.Text, nullable=False),
        sa.Column("affect", sa.LargeBinary, nullable=False),
        sa.Column("salience", sa.Float, nullable=False),
        sa.Column("surprise", sa.Float, nullable=False),
        sa.Column("made_by", sa.Text, nullable=False),
        sa.Column("circle", sa.Text),
        sa.Column("faded", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("agent_id", "id", name="pk_symbols"),
        sa.ForeignKeyConstraint(
            ["agent_id", "entry_id"],
            ["entries.agent_id", "entries.id"],
            name="fk_symbols_agent_id",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_symbols_entry", "symbols", ["agent_id", "entry_id"])
    op.create_index("ix_symbols_in_mind", "symbols", ["agent_id", "id"], sqlite_where=sa.text("faded = 0"))
