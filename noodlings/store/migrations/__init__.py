"""How an older database comes to be what `noodlings.store.tables` says, revision by revision.

A new one is made from those tables at once. Alembic is imported only by `migrate`, and that is called only
for a file of an older revision: the import costs more than everything else that opening a store does.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection


def migrate(connection: Connection) -> None:
    """Bring the database to the newest revision, within the transaction that `connection` is in.

    A process that dies on the way leaves the database as it was.
    """
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    # Alembic reads % as the start of an interpolation.
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    command.upgrade(config, "head")
