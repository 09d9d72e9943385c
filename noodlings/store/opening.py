"""Which database is opened: a file in a folder, or one on a server."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import make_url

from noodlings.errors import NotFound, UserError
from noodlings.store.database import DATABASE_NAME, Database, Durability
from noodlings.store.sql_database import SqlDatabase
from noodlings.store.vault import Encryption


def name_of(where: Path | str) -> str:
    """What a folder or a URL is called in messages: never with a password."""
    if isinstance(where, Path):
        return str(where)
    url = make_url(where)
    return f"the database {url.database} on {url.host or url.query.get('host') or 'this machine'}"


def require_kept(where: Path | str) -> Path | str:
    """The same. Raises `NotFound` for a folder in which nothing is kept; of a URL, whoever opens it does."""
    if isinstance(where, Path) and not (where / DATABASE_NAME).is_file():
        raise NotFound(f"{where} has no {DATABASE_NAME} yet: name another folder with --data, or play first")
    return where


def open_database(
    where: Path | str,
    durability: Durability = "normal",
    read_only: bool = False,
    encryption: Encryption | None = None,
    shared: bool = False,
) -> SqlDatabase:
    """The database in a data folder, or that of a URL.

    Args:
        durability: of a file; "normal" survives a killed process, "full" a power cut too.
        read_only: no lock is taken and nothing is written; a running writer's commits are seen.
        encryption: the user's keys, and what they are for. A writer seals at once whatever is still plain.
            Without it nothing is encrypted, and nothing secret is kept.
        shared: other processes that share it write, too, each to its own agents; only with a URL.

    Raises:
        UserError: the URL is wrong, or what it needs is not installed, or something is to be encrypted, and
            there is no key.
        NotFound: read_only, and there is no database.
        StoreBusy: there is a writer already (the words say which), or the server is away.
        StoreError: it is damaged, foreign, or of a newer version. It is left as it is.
    """
    if isinstance(where, Path):
        return Database(where, durability, read_only, encryption)
    try:
        from noodlings.store.postgres import PostgresDatabase  # an extra, and slow to import
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "psycopg":
            raise
        raise UserError("PostgreSQL needs another package: pip install 'noodlings[postgresql]'") from error
    return PostgresDatabase(where, name_of(where), read_only, encryption, shared)
