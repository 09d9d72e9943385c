"""Facts that a model understood are memories of a kind that an older program does not know."""

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """The tables stay as they are."""
