"""A data folder as a source: the same answers as the inspector's, never a change, and new words seen soon."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest

from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.config import Settings, load_settings
from noodlings.errors import Forbidden, NotFound, StoreError, UserError
from noodlings.host.studio import local_source
from noodlings.inspect import questions
from noodlings.inspect.inspector import Inspector
from noodlings.ports import AgentState, Changes
from noodlings.store.sql import SqlStore
from studio.local import LocalSource
from studio.source import Action
from tests.memory.entries import an_entry
from tests.studio.village import VIEWER, Village, memories, society


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(None, store={"path": str(tmp_path)})


def keep(folder: Path, *numbers: int) -> None:
    """Keep entries of Phi in a folder, as a game would."""
    with closing(SqlStore(folder)) as store:
        entries = tuple(an_entry(number) for number in numbers)
        store.commit(Changes("phi", added=entries, episodic=numbers, state=AgentState("phi")))


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.slow
async def test_every_answer_is_the_inspectors(tmp_path: Path) -> None:
    source = Village(tmp_path)
    inspector = Inspector(society())
    assert await source.ask(questions.AGENTS) == await inspector.agents(VIEWER)
    assert await source.ask(questions.STATS, "phi") == inspector.stats(VIEWER, "phi")
    assert await source.ask(questions.WORKING, "phi") == inspector.working(VIEWER, "phi")
    assert await source.ask(questions.MOOD, "phi") == inspector.mood(VIEWER, "phi")
    assert await source.ask(questions.OBSERVE, "phi") == inspector.observe(VIEWER, "phi")
    groups = await source.ask(questions.AFFECT_GROUPS, "phi", limit=2)
    assert groups == inspector.affect_groups(VIEWER, "phi", 2)
    links = await source.ask(questions.LINKS, "phi", entry_id=3)
    assert links == inspector.links(VIEWER, "phi", 3)
    page = await source.ask(questions.BROWSE, "phi", order="when", limit=3, containing="wolf")
    assert [entry.id for entry in page.entries] == [145, 144, 143]
    alike = await source.ask(questions.ALIKE, "phi", affect=[0.5, 0.5, 0, 0, 0], limit=2)
    assert alike.current.affect.valence == 0.5


async def test_what_cannot_be_asked_is_refused_in_words(tmp_path: Path) -> None:
    source = Village(tmp_path)
    with pytest.raises(NotFound):
        await source.ask(questions.STATS, "nobody")
    with pytest.raises(UserError):
        await source.ask(questions.BROWSE, "phi", order="colour")


async def test_a_folder_is_only_looked_at(tmp_path: Path, settings: Settings) -> None:
    keep(tmp_path, 1, 2)
    before = names_in(tmp_path)
    source = local_source(settings)
    assert not source.changeable
    stats = await source.ask(questions.STATS, "phi")
    assert stats.perceived == 2
    with pytest.raises(Forbidden, match="--url"):
        await source.act(Action.PIN, "phi", entry=1, pinned=True)
    with pytest.raises(NotFound, match="no note of memory 1"):
        await source.note("phi", 1)
    await source.close()
    left = names_in(tmp_path) - before
    assert all(name.endswith(("-wal", "-shm")) for name in left)


async def test_a_folder_with_nothing_in_it_is_refused(settings: Settings) -> None:
    with pytest.raises(NotFound, match=r"has no noodlings\.db yet"):
        local_source(settings)


@pytest.mark.slow
async def test_what_a_game_writes_is_told_and_read_anew(tmp_path: Path, settings: Settings) -> None:
    keep(tmp_path, 1)
    source = local_source(settings)
    signs = source.events()
    sign = asyncio.ensure_future(anext(signs))
    assert (await source.ask(questions.STATS, "phi")).perceived == 1
    async with asyncio.timeout(60):
        while not sign.done():
            keep(tmp_path, 2 + (await asyncio.to_thread(perceived, tmp_path)))
            await asyncio.wait([sign], timeout=2)
    assert (await sign).agent == ""
    assert (await source.ask(questions.STATS, "phi")).perceived == await asyncio.to_thread(
        perceived, tmp_path
    )
    await signs.aclose()
    await source.close()


def perceived(folder: Path) -> int:
    """How much there is by now."""
    with closing(build(load_settings(None, store={"path": str(folder)}), read_only=True)) as there:
        return Inspector(there).stats(VIEWER, "phi").perceived


async def test_a_note_is_read(tmp_path: Path) -> None:
    note = tmp_path / "one.md"
    note.write_text("# one", encoding="utf-8")
    source = Village(tmp_path, lambda: society(memories(5)), {1: note})
    assert await source.note("phi", 1) == "# one"


async def test_what_cannot_be_opened_is_tried_again(tmp_path: Path) -> None:
    there: list[Society] = []

    def open_society() -> AbstractContextManager[Society]:
        if not there:
            raise StoreError("it is damaged")
        return closing(there[0])

    source = LocalSource(tmp_path, open_society, VIEWER, lambda agent, entry: None)
    with pytest.raises(StoreError, match="damaged"):
        await source.ask(questions.AGENTS)
    there.append(society())
    assert (await source.ask(questions.AGENTS)).agents
    await source.close()


async def test_a_question_in_the_midst_of_which_the_file_is_let_go_of_is_answered(
    tmp_path: Path, settings: Settings
) -> None:
    keep(tmp_path, *range(1, 30))
    source = local_source(settings)
    await source.ask(questions.AGENTS)
    asked = [
        asyncio.create_task(
            source.ask(questions.BROWSE, "phi", everything=True, containing=str(number), order="when")
        )
        for number in range(8)
    ]
    await asyncio.sleep(0)
    await source.close()
    assert [(await one).total for one in asked]
    await source.close()
