"""Where the words stand that show how two entries are linked, and what a memory weighs in hindsight."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the columns; the one of links stands in the index that they are read from, too."""
    op.drop_index("ix_links_target", "links")
    op.add_column("links", sa.Column("quoted", sa.Text))
    op.create_index("ix_links_target", "links", ["target_id", "agent_id", "strength", "created", "quoted"])
    op.add_column("entries", sa.Column("hindsight", sa.Text))
