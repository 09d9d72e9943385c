"""A folder read in a process of its own: the same answers, no waiting, and nothing left when one leaves."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import pytest

from noodlings.config import load_settings
from noodlings.errors import Forbidden, NoodlingsError
from noodlings.host.studio import local_source, process_source
from noodlings.inspect import questions
from noodlings.ports import AgentState, Changes
from noodlings.store.sql import SqlStore
from studio.app import Studio
from studio.process import ProcessSource
from studio.source import Action, Unreachable
from tests.memory.entries import an_entry
from tests.studio.village import screen_of, until

pytestmark = pytest.mark.slow

PLAIN = {"embedding": {"model": "none"}}


def keep(folder: Path, *numbers: int) -> None:
    """Keep entries of Phi in a folder, as a game would."""
    with closing(SqlStore(folder)) as store:
        entries = tuple(an_entry(number) for number in numbers)
        store.commit(Changes("phi", added=entries, episodic=numbers, state=AgentState("phi")))


def met(folder: Path) -> ProcessSource:
    source = process_source(None, store={"path": str(folder)}, **PLAIN)
    source.connect()
    return source


@pytest.fixture
async def source(tmp_path: Path) -> AsyncIterator[ProcessSource]:
    keep(tmp_path, *range(1, 9))
    source = met(tmp_path)
    yield source
    await source.close()


async def test_it_answers_as_the_folder_itself(tmp_path: Path, source: ProcessSource) -> None:
    itself = local_source(load_settings(None, store={"path": str(tmp_path)}, **PLAIN))
    assert (source.label, source.changeable) == (itself.label, False)
    here, there = [await one.ask(questions.STATS, "phi") for one in (itself, source)]
    assert here.as_dict() == there.as_dict()
    how = {"affect": [0.5, 0.5, 0, 0, 0], "limit": 2}
    alike, likewise = [await one.ask(questions.ALIKE, "phi", **how) for one in (itself, source)]
    assert alike.current == likewise.current
    assert (await source.ask(questions.STATS, "phi")).perceived == 8
    assert (await source.ask(questions.RECALL, "phi", query="memory", limit=3)).archive.loaded
    await itself.close()


async def test_refusals_come_in_words(source: ProcessSource) -> None:
    with pytest.raises(NoodlingsError, match="nobody"):
        await source.ask(questions.STATS, "nobody")
    with pytest.raises(NoodlingsError, match="not by 'colour'"):
        await source.ask(questions.BROWSE, "phi", order="colour")
    with pytest.raises(NoodlingsError, match="no note of memory 1"):
        await source.note("phi", 1)
    with pytest.raises(Forbidden, match="--url"):
        await source.act(Action.PIN, "phi", entry=1, pinned=True)


async def test_many_questions_at_once_get_each_its_own_answer(source: ProcessSource) -> None:
    pages = [
        source.ask(questions.BROWSE, "phi", order="when", everything=True, limit=1, offset=at)
        for at in range(8)
    ]
    found = [page.entries[0].id for page in await asyncio.gather(*pages)]
    assert found == list(range(8, 0, -1))


async def test_a_question_that_is_given_up_disturbs_no_other(source: ProcessSource) -> None:
    given_up = asyncio.create_task(source.ask(questions.RECALL, "phi", query="memory"))
    await asyncio.sleep(0)
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    assert (await source.ask(questions.STATS, "phi")).perceived == 8


async def test_what_a_game_writes_is_told(tmp_path: Path, source: ProcessSource) -> None:
    signs = source.events()
    sign = asyncio.ensure_future(anext(signs))
    async with asyncio.timeout(60):
        for number in range(9, 200):
            if sign.done():
                break
            keep(tmp_path, number)
            await asyncio.wait([sign], timeout=1)
        assert (await sign).agent == ""
    await signs.aclose()


async def test_when_the_process_is_gone_that_is_said_and_nobody_waits_for_it(source: ProcessSource) -> None:
    await source.ask(questions.STATS, "phi")
    signs = source.events()
    waiting = asyncio.create_task(source.ask(questions.RECALL, "phi", query="memory"))
    os.kill(source.pid, signal.SIGKILL)
    async with asyncio.timeout(30):
        assert (await anext(signs)).agent == ""
        await asyncio.wait([waiting])
        with pytest.raises(Unreachable, match="has stopped"):
            await source.ask(questions.STATS, "phi")
    await signs.aclose()


async def test_the_studio_says_that_the_process_is_gone(source: ProcessSource) -> None:
    app = Studio(source, "phi")
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.press("0")
        await until(pilot, lambda: "8 of" in screen_of(app))
        os.kill(source.pid, signal.SIGKILL)
        await until(pilot, lambda: "The process that reads" in screen_of(app))
        assert "8 of" in screen_of(app)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [({}, "has no noodlings"), ({"memory": {"affect_threshold": 7}}, "affect_threshold")],
)
def test_what_cannot_be_read_is_said_before_there_is_a_screen(
    tmp_path: Path, overrides: dict[str, object], words: str
) -> None:
    source = process_source(None, store={"path": str(tmp_path)}, **overrides)
    with pytest.raises(NoodlingsError, match=words):
        source.connect()


def test_a_process_that_never_begins_is_refused_with_what_it_said() -> None:
    source = ProcessSource([sys.executable, "-c", "raise SystemExit('no memory left')"])
    with pytest.raises(NoodlingsError, match="no memory left"):
        source.connect()


async def test_leaving_in_the_midst_of_a_long_reading_takes_no_time(tmp_path: Path) -> None:
    keep(tmp_path, 1)
    # Somebody holds the file as a whole; whoever reads it now waits for seconds.
    source = met(tmp_path)
    with closing(sqlite3.connect(tmp_path / "noodlings.db", isolation_level=None)) as greedy:
        greedy.execute("PRAGMA locking_mode = EXCLUSIVE")
        greedy.execute("PRAGMA journal_mode = DELETE")
        greedy.execute("BEGIN EXCLUSIVE")
        app = Studio(source, "phi")
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.pause()
            began = time.monotonic()
            await pilot.press("q")
        assert time.monotonic() - began < 4.0
    assert not alive(source.pid)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes as Linux shows them")
def test_the_process_ends_with_whoever_asked_however_that_ends(tmp_path: Path) -> None:
    keep(tmp_path, 1)
    code = (
        "import sys, time; from noodlings.host.studio import process_source\n"
        "source = process_source(None, store={'path': sys.argv[1]})\n"
        "source.connect(); print(source.pid, flush=True); time.sleep(60)"
    )
    asker = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert asker.stdout is not None
    with asker:
        pid = int(asker.stdout.readline())
        assert alive(pid)
        asker.kill()
    _wait(lambda: not alive(pid))


def alive(pid: int) -> bool:
    """Whether there is such a process, and it is not only waiting to be counted."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _wait(holds: Callable[[], bool]) -> None:
    for _ in range(200):
        if holds():
            return
        signal.sigtimedwait([], 0.1)
    raise AssertionError("it never held")


def test_a_folder_that_is_damaged_or_of_another_version_is_refused_before_there_is_a_screen(
    tmp_path: Path,
) -> None:
    keep(tmp_path, 1)
    database = tmp_path / "noodlings.db"
    with closing(sqlite3.connect(database)) as other, other:
        other.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(NoodlingsError, match="made by a newer noodlings"):
        met(tmp_path)
    with closing(sqlite3.connect(database)) as other, other:
        other.execute("UPDATE alembic_version SET version_num = '0001'")
    with pytest.raises(NoodlingsError, match="from an older version; update it with noodlings play"):
        met(tmp_path)
    database.write_bytes(b"this is no database, but as long as the head of one would be" * 40)
    with pytest.raises(NoodlingsError, match="is damaged"):
        met(tmp_path)
