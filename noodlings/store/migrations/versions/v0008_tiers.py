"""How far memories are kept from others, and the keys that they are sealed with."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the columns; what is confined says so in a column of its own, as before."""
    for table in ("entries", "symbols"):
        op.add_column(table, sa.Column("tier", sa.Integer, nullable=False, server_default=sa.text("0")))
    op.create_table(
        "keys",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("key_id", sa.Text, nullable=False),
        sa.Column("wrapped", sa.LargeBinary, nullable=False),
        sa.Column("sealed_from", sa.Integer),
    )
