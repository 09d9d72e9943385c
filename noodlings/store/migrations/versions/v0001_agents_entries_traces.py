"""Agents, their entries and traces, events, and the world store."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make every table; there was none."""
    op.create_table(
        "agents",
        sa.Column("agent_id", sa.Text, nullable=False),
        sa.Column("state", sa.Text),
        sa.Column("forgotten_id", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("agent_id", name="pk_agents"),
    )
    op.create_table(
        "entries",
        sa.Column("row_id", sa.Integer, nullable=False),
        sa.Column("agent_id", sa.Text, nullable=False),
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("timestamp", sa.Float, nullable=False),
        sa.Column("step", sa.Integer, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("user_text", sa.Text, nullable=False),
        sa.Column("affect", sa.LargeBinary),
        sa.Column("surprise", sa.Float, nullable=False),
        sa.Column("encoded_importance", sa.Float, nullable=False),
        sa.Column("parts", sa.Text, nullable=False),
        sa.Column("override", sa.Float),
        sa.Column("override_by", sa.Text, nullable=False),
        sa.Column("response", sa.Text),
        sa.Column("identity_salience", sa.Float, nullable=False),
        sa.Column("phenomenal_state", sa.LargeBinary),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("audience", sa.Text),
        sa.Column("place", sa.Text, nullable=False),
        sa.Column("pinned", sa.Boolean, nullable=False),
        sa.Column("recall_count", sa.Integer, nullable=False),
        sa.Column("last_recalled", sa.Float),
        sa.Column("stability", sa.Float, nullable=False),
        sa.Column("extra", sa.Text),
        sa.Column("episodic", sa.Boolean, nullable=False),
        sa.Column("consolidated", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("row_id", name="pk_entries"),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.agent_id"], name="fk_entries_agent_id"),
        sa.UniqueConstraint("agent_id", "id", name="uq_entries_agent_id"),
    )
    op.create_index(
        "ix_entries_episodic", "entries", ["agent_id", "id"], sqlite_where=sa.text("episodic = 1")
    )
    op.create_index(
        "ix_entries_consolidated", "entries", ["agent_id"], sqlite_where=sa.text("consolidated = 1")
    )
    op.create_table(
        "traces",
        sa.Column("agent_id", sa.Text, nullable=False),
        sa.Column("entry_id", sa.Integer, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("agent_id", "entry_id", name="pk_traces"),
        sa.ForeignKeyConstraint(
            ["agent_id", "entry_id"],
            ["entries.agent_id", "entries.id"],
            name="fk_traces_agent_id",
            ondelete="CASCADE",
        ),
    )
    op.create_table(
        "events",
        sa.Column("event_id", sa.Integer, nullable=False),
        sa.Column("agent_id", sa.Text, nullable=False),
        sa.Column("timestamp", sa.Float, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("by_user", sa.Text, nullable=False),
        sa.Column("count", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("event_id", name="pk_events"),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.agent_id"], name="fk_events_agent_id"),
    )
    op.create_table(
        "world",
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_world"),
    )
