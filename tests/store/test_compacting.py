"""A data folder of an older noodlings reads the same before it is compacted, after it, and half way."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noodlings.errors import NotFound, StoreBusy, StoreError
from noodlings.ports import Changes
from noodlings.store import compacting
from noodlings.store.cipher import UserKey
from noodlings.store.compacting import compaction, size
from noodlings.store.database import DATABASE_NAME
from noodlings.store.documents import to_json
from noodlings.store.keys import UserKeys
from noodlings.store.packing import unpacked, unpacked_vectors
from noodlings.store.sql import SqlStore
from noodlings.store.vault import Encryption
from noodlings.values.audience import Tier
from noodlings.values.memory import EntryVector, ImportanceParts
from noodlings.values.trace import Modulation
from tests.store.records import AGENT, BEFORE_SOURCES, a_trace, an_entry

ROOT = Path(__file__).parents[2]
MODEL = "small"
TURNS = 30


def a_vector(number: int) -> EntryVector:
    numbers = np.random.default_rng(number).normal(size=384)
    return EntryVector(number, MODEL, (numbers / np.linalg.norm(numbers)).astype(np.float32))


def told(folder: Path, agent_id: str = AGENT) -> None:
    """What a new noodlings writes."""
    with closing(SqlStore(folder)) as store:
        for number in range(1, TURNS + 1):
            parts = ImportanceParts(surprise=number / 7, addressed=1.0, significance=number / 11)
            made = Modulation("ego", 0.5, f"thought {number}", f"THOUGHT {number}", read=("duty",))
            entry = an_entry(number, f"line {number}", parts=parts, response=f"answer {number}")
            trace = a_trace(
                number,
                number,
                agent_id=agent_id,
                surprise=number / 13,
                response=f"answer {number}",
                modulations=(made,),
            )
            store.commit(Changes(agent_id, added=(entry,), trace=trace, vectors=(a_vector(number),)))


def as_before(folder: Path) -> None:
    """Bring a folder back to how the noodlings before wrote it, and to its schema."""
    with closing(sqlite3.connect(folder / DATABASE_NAME)) as database, database:
        database.create_function("document", 1, lambda blob: to_json(unpacked(blob, "it"), "it"))
        database.create_function("longer", 1, lambda blob: unpacked_vectors([blob])[0].tobytes())
        database.create_function("named", 1, _named)
        database.execute("UPDATE traces SET document = document(packed)")
        database.execute("UPDATE vectors SET vector = longer(vector)")
        database.execute("UPDATE entries SET parts = named(parts)")
        database.executescript(BEFORE_SOURCES)
        database.execute("ALTER TABLE traces DROP COLUMN packed")
        database.execute("UPDATE alembic_version SET version_num = '0005'")


def _named(document: str) -> str:
    names = ImportanceParts.__slots__
    return to_json(dict(zip(names, json.loads(document)["data"], strict=True)), "it")


def everything(folder: Path, agent_id: str = AGENT, encryption: Encryption | None = None) -> tuple[Any, ...]:
    with closing(SqlStore(folder, encryption=encryption)) as store:
        vectors = store.vectors(agent_id, MODEL, 0, 10**6)
        return (
            store.archive(agent_id),
            store.traces(agent_id, 100),
            {number: one.vector.tobytes() for number, one in vectors.items() if one.vector is not None},
        )


def compacted(folder: Path, *agents: str) -> int:
    with compaction(folder) as work:
        chosen = agents or work.agents()
        due, seen = work.due(chosen), [0]
        written = work.rewrite(chosen, seen.append)
        assert seen[-1] == due
        assert work.shrink()
    return written


@pytest.fixture
def older(tmp_path: Path) -> Iterator[Path]:
    told(tmp_path)
    as_before(tmp_path)
    yield tmp_path
    with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_an_older_folder_reads_as_a_new_one_and_so_it_does_when_it_is_compacted(
    older: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    new = tmp_path_factory.mktemp("new")
    told(new)
    expected = everything(new)
    before = size(older)
    assert everything(older) == expected
    assert compacted(older) == 3 * TURNS
    assert everything(older) == expected
    assert size(older) < 0.72 * before  # what is empty takes a page each
    bytes_of_it = (older / DATABASE_NAME).read_bytes()
    assert compacted(older) == 0
    assert everything(older) == expected
    assert (older / DATABASE_NAME).read_bytes() == bytes_of_it


def test_a_vector_of_before_is_rounded_to_what_is_kept_now(older: Path) -> None:
    exact = np.random.default_rng(3).normal(size=384)
    exact = (exact / np.linalg.norm(exact)).astype("<f4")
    with closing(sqlite3.connect(older / DATABASE_NAME)) as database, database:
        database.execute("UPDATE vectors SET vector = ? WHERE entry_id = 3", [exact.tobytes()])
    expected = everything(older)  # read, it is rounded, too
    assert compacted(older) == 3 * TURNS
    assert everything(older) == expected


def test_an_older_folder_forgets_to_the_last_byte(older: Path) -> None:
    with closing(SqlStore(older)) as store:
        store.forget(AGENT, [7], by_user="admin", timestamp=1.0)
        assert store.erase()
        store.commit(Changes(AGENT, added=(an_entry(TURNS + 1),), trace=a_trace(TURNS + 1, 8)))
    assert b"line 7" not in (older / DATABASE_NAME).read_bytes()
    kept = everything(older)
    assert compacted(older) > 0
    assert everything(older) == kept


def test_an_older_folder_that_was_encrypted_reads_the_same_and_is_compacted_like_any_other(
    older: Path,
) -> None:
    expected = everything(older)
    encryption = Encryption(Tier.OPEN, UserKeys(UserKey(bytes(32)).text))
    assert everything(older, encryption=encryption) == expected
    assert b"answer 7" not in (older / DATABASE_NAME).read_bytes()
    with compaction(older, encryption=encryption) as work:
        assert (
            work.rewrite([AGENT], lambda position: None) == 2 * TURNS
        )  # vectors were packed when they were sealed
    assert everything(older, encryption=encryption) == expected
    assert b"answer 7" not in (older / DATABASE_NAME).read_bytes()


def test_one_character_alone(older: Path) -> None:
    told(older, "servnak")
    assert compacted(older, "servnak") == 0
    assert compacted(older, AGENT) == 3 * TURNS


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
@pytest.mark.slow
@pytest.mark.parametrize("killed_at", [20, 30, 47, 90])
def test_killed_half_way_it_loses_nothing_and_goes_on(older: Path, killed_at: int) -> None:
    program = """
import os, signal, sys
from pathlib import Path
from noodlings.store import compacting

compacting.AT_ONCE = 10
with compacting.compaction(Path(sys.argv[1])) as work:
    def done(position):
        if position >= int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
    work.rewrite(work.agents(), done)
"""
    expected = everything(older)
    as_it_was = subprocess.run(
        [sys.executable, "-c", program, str(older), str(killed_at)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert as_it_was.returncode == -signal.SIGKILL
    assert everything(older) == expected
    assert compacted(older) == 3 * TURNS - 10 * -(-killed_at // 10)
    assert everything(older) == expected


def test_a_row_that_cannot_be_read_stays_and_is_named(
    older: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(compacting, "AT_ONCE", 4)
    with closing(sqlite3.connect(older / DATABASE_NAME)) as database, database:
        database.execute("UPDATE traces SET document = 'the secret' WHERE entry_id BETWEEN 5 AND 8")
        database.execute("UPDATE vectors SET vector = zeroblob(1536) WHERE entry_id = 9")
        database.execute("""UPDATE entries SET parts = '{"v":1,"data":{"secret":1}}' WHERE id = 10""")
    assert compacted(older) == 3 * TURNS - 6
    for what in ("the trace of turn 6", "the vector of entry 9", "entry 10"):
        assert f"left unchanged: {what} of phi is damaged" in caplog.text
    assert "secret" not in caplog.text
    assert compacted(older) == 0


def test_while_somebody_plays_it_is_refused_and_nothing_changes(older: Path) -> None:
    with (
        closing(SqlStore(older)) as store,
        pytest.raises(StoreBusy, match="is already in use by process"),
        compaction(older),
    ):
        pass
    assert store is not None
    assert compacted(older) == 3 * TURNS


def test_while_somebody_reads_the_room_comes_later(older: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noodlings.store.database.BUSY_SECONDS", 0.05)
    SqlStore(older).close()
    with closing(sqlite3.connect(older / DATABASE_NAME, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM entries").fetchone()
        with compaction(older) as work:
            assert work.rewrite(work.agents(), lambda position: None) == 3 * TURNS
            assert not work.shrink()
    assert compacted(older) == 0


@pytest.mark.parametrize("content", [None, b"", b"no database"])
def test_where_nothing_is_kept_nothing_is_made(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / DATABASE_NAME).write_bytes(content)
    with pytest.raises(NotFound if content is None else StoreError), compaction(tmp_path):
        pass
    left = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.suffix == ".db"}
    assert left == ({} if content is None else {DATABASE_NAME: content})
