"""Traces in fewer bytes."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the column; what is stored already stays as it is until it is compacted."""
    op.add_column("traces", sa.Column("packed", sa.LargeBinary))
