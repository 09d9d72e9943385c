"""A backup to a point in time, with the commands of docs/scale.md."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from noodlings.ports import Changes
from noodlings.store.sql import SqlStore
from tests.postgres import running, started
from tests.store.records import AGENT, an_entry

pytestmark = pytest.mark.slow
SCALE = (Path(__file__).parents[2] / "docs" / "scale.md").read_text("utf-8")


def documented(begin: str, **places: Path | str) -> str:
    """The line of the page that begins so, with our places in it."""
    (line,) = [line for line in SCALE.splitlines() if line.startswith(begin)]
    for place, ours in places.items():
        line = line.replace(f"/srv/{place}", str(ours))
    return line.partition("  #")[0]


def test_what_was_said_before_an_accident_is_back_and_the_accident_is_not() -> None:
    with running() as server:
        archive, base = server.folder / "archive", server.folder / "base"
        for folder in (server.folder, archive):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o777)  # to whom the server belongs depends on who runs the tests
        for setting in ("archive_mode", "archive_command"):
            name, _, value = documented(f"{setting} =", archive=archive).partition(" = ")
            server.admin(f"ALTER SYSTEM SET {name} = {value}")
        server.stop()
        server.start()
        url = server.new_database()
        with closing(SqlStore(url)) as store:
            store.commit(Changes(AGENT, added=(an_entry(1, "before the backup"),)))
            command = documented("pg_basebackup", base=base).split()
            server.run(*command, "--dbname", server.url)
            store.commit(Changes(AGENT, added=(an_entry(2, "after the backup"),)))
            (when,) = server.admin("SELECT now()::text")
            store.forget(AGENT, [1, 2], by_user="admin", timestamp=1.0)
        server.admin("SELECT pg_switch_wal()")
        server.stop()  # and what was not archived yet is
        with (base / "postgresql.auto.conf").open("a") as settings:
            settings.write("archive_mode = off\n")
            settings.write(documented("restore_command =", archive=archive) + "\n")
            settings.write(f"recovery_target_time = '{when}'\n")
            settings.write(documented("recovery_target_action =") + "\n")
        (base / "recovery.signal").touch()
        (base / ".s.PGSQL.5432.lock").unlink()  # this server has its socket among its data
        there = url.replace(str(server.folder / "pg"), str(base))
        with started(base), closing(SqlStore(there)) as store:
            kept = store.entries(AGENT, [1, 2]).values()
            assert [entry.user_text for entry in kept] == ["before the backup", "after the backup"]
        server.start()
