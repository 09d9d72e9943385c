"""Places and sources are sealed, too: what was sealed before is looked through once more."""

from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Have the next start seal whatever is still plain."""
    op.execute("UPDATE keys SET sealed_from = NULL")
