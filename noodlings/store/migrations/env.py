"""What Alembic runs: every revision on the connection, and in the transaction, that `migrate` was given."""

from alembic import context

from noodlings.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite cannot alter most things in place; batch mode writes the table anew.
    render_as_batch=True,
)
context.run_migrations()
