"""Torn files of a database: what a crash can tear is whole again, and what is silently wrong is found."""

from __future__ import annotations

import asyncio
import io
import random
import shutil
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.histories.checker import Kept, read_export
from benchmarks.histories.damage import (
    DATABASE,
    LOG,
    committed_frames,
    cut_log,
    differences,
    empty_log,
    gaps,
    tear_logged_page,
    tear_page,
    wrongly_served,
)
from benchmarks.histories.history import History, Operation
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.errors import StoreError
from noodlings.portable.export import export
from noodlings.store.transfer import snapshot
from noodlings.values.percept import Percept

COUNT = 12


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Operation]]:
    """A folder as a kill leaves it, with a log beside the database, and its history."""
    folder, killed = (tmp_path_factory.mktemp(name) for name in ("lived", "killed"))
    settings = Settings(store={"path": str(folder)}, embedding={"model": "none"}, notes={"enabled": False})
    clock = ManualClock(1.7e9)

    async def live(history: History) -> None:
        with closing(build(settings, clock=clock)) as society:
            for number in range(COUNT):
                facts = {
                    "percept": f"c0-{number}",
                    "agent": "phi",
                    "user": "c0",
                    "text": f"I like day {number}.",
                }
                history.note("c0", "invoke", **facts)
                clock.advance(2.0)
                trace = await society.perceive("phi", Percept("c0", str(facts["text"]), clock.now()))
                history.note("c0", "ok", **facts, entry=trace.entry_id, response=trace.response, status=200)
            shutil.copytree(folder, killed, dirs_exist_ok=True)

    with closing(History(folder / "history.jsonl")) as history:
        asyncio.run(live(history))
    assert committed_frames(killed / LOG)[0] > COUNT
    return killed, history.operations


@pytest.fixture
def folder(killed: tuple[Path, list[Operation]], tmp_path: Path) -> Path:
    return Path(shutil.copytree(killed[0], tmp_path / "copy"))


def exported(folder: Path) -> str:
    """What an export says. Raises `StoreError`, also where it leaves something out."""
    lines = io.StringIO()
    with snapshot(folder) as kept:
        if export(kept, kept.agents(), lines.write).left_out:
            raise StoreError("left out")
    return lines.getvalue()


def kept_in(folder: Path) -> dict[str, Kept]:
    return read_export(exported(folder).splitlines())


@pytest.mark.parametrize("seed", range(6))
def test_a_log_that_was_cut_off_ends_sooner(
    killed: tuple[Path, list[Operation]], folder: Path, seed: int
) -> None:
    assert cut_log(folder, random.Random(seed)).startswith("the log")
    kept = kept_in(folder)
    assert len(kept["phi"].entries if kept else []) < COUNT
    assert gaps(killed[1], kept) == []


def test_what_is_missing_in_the_middle_is_found(killed: tuple[Path, list[Operation]], folder: Path) -> None:
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        database.execute("DELETE FROM entries WHERE id = 7")
        database.commit()
    assert "lost" in {fault.kind for fault in gaps(killed[1], kept_in(folder))}


@pytest.mark.slow
def test_a_page_torn_while_the_log_has_it_is_whole_again(folder: Path, tmp_path: Path) -> None:
    before, torn = exported(Path(shutil.copytree(folder, tmp_path / "whole"))), 0
    for seed in range(20):
        copy = Path(shutil.copytree(folder, tmp_path / f"torn{seed}"))
        torn += bool(tear_logged_page(copy, random.Random(seed)))
        assert list(differences(before, exported(copy))) == []
    assert torn > 5


def test_nothing_is_cut_that_the_database_has_too(folder: Path) -> None:
    (count, _), index = committed_frames(folder / LOG), folder / f"{DATABASE}-shm"
    data = bytearray(index.read_bytes())
    struct.pack_into("=I", data, 96, count)
    index.write_bytes(data)
    assert cut_log(folder, random.Random(0)) == ""
    empty_log(folder)
    assert cut_log(folder, random.Random(0)) == ""


@pytest.mark.slow
def test_a_page_torn_in_the_database_alone_is_missed_or_all_is_there(folder: Path, tmp_path: Path) -> None:
    empty_log(folder)
    before, told = exported(folder), 0
    for seed in range(40):
        torn = Path(shutil.copytree(folder, tmp_path / f"torn{seed}"))
        if tear_page(torn, random.Random(seed)):
            try:
                assert not is_sound(torn) or list(differences(before, exported(torn))) == []
            except StoreError:
                told += 1
    assert told > 2


def is_sound(folder: Path) -> bool:
    """What SQLite says of it."""
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        try:
            said = database.execute("PRAGMA integrity_check").fetchone()
        except sqlite3.DatabaseError:
            return False
    return bool(said == ("ok",))


def test_an_export_that_differs_and_says_nothing_is_found(folder: Path) -> None:
    before = exported(folder)
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        database.execute("UPDATE entries SET user_text = 'I like no day.' WHERE id = 7")
        database.commit()
    (fault,) = differences(before, exported(folder))
    assert '"id": 7' in fault.what


def test_what_is_served_wrongly_or_left_out_without_a_word_is_found(folder: Path) -> None:
    whole = kept_in(folder)
    seen = {entry["id"]: entry["user_text"] for entry in whole["phi"].entries}
    assert list(wrongly_served(whole, {"phi": seen, "maren": {}}, "")) == []
    assert list(wrongly_served(whole, {"phi": None}, "")) == []
    assert [fault.kind for fault in wrongly_served(whole, {"phi": seen | {7: "no"}}, "")] == ["damaged"]
    del seen[7]
    assert [fault.kind for fault in wrongly_served(whole, {"phi": seen}, "")] == ["damaged"]
    assert list(wrongly_served(whole, {"phi": seen}, "left out: entry 7 of phi is damaged")) == []
