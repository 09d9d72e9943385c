"""Who may learn of an entry."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the column; of what is stored already it follows from the kind of percept, as it did before."""
    op.add_column("entries", sa.Column("confined", sa.Boolean))
