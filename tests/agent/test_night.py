"""The night of an agent: what it finds, for whom, and that it may be cut off anywhere."""

import asyncio
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from noodlings.agent.corrections import Corrections
from noodlings.agent.night import PAGE
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.embed.queue import EmbeddingQueue
from noodlings.errors import Forbidden, StoreError, UserError
from noodlings.memory.context import ContextBudget
from noodlings.ports import Changes
from noodlings.scheduling import LongAnswers
from noodlings.store.sql import SqlStore
from noodlings.values.audience import Audience, Tier
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import Hindsight, LinkType, Why
from noodlings.values.percept import Kind, Percept
from tests.store.records import AGENT, an_entry
from tests.thorough import examples

ADMIN = Caller("user_root", "root", Role.ADMIN)
FOUND = {LinkType.CONTRADICTS, LinkType.CAUSES}
LINES = (
    "I have a goat called Bill",
    "the mill wheel cracked in the frost",
    "I don't have a goat any more",
    "there is no flour because the mill wheel cracked",
)


@pytest.fixture
def tell(clock):
    async def tell(agent, *lines, user="user_ann", **changes):
        ids = []
        for line in lines:
            clock.advance(3_600)
            said = Percept(user, line, clock.now(), addressed=True, **changes)
            ids.append((await agent.perceive(said)).entry_id)
        return ids

    return tell


def links(store, count=100):
    return [one for one in store.links_of(AGENT, list(range(count))) if one.type in FOUND]


async def test_it_links_what_contradicts_and_what_is_a_cause_once(make_agent, store, tell):
    agent = make_agent()
    goat, mill, gone, flour = await tell(agent, *LINES)
    first = await agent.reflect()
    assert (first.done, first.contradictions, first.causes, first.running) == (4, 1, 1, False)
    made = links(store)
    assert {(one.type, one.source, one.target) for one in made} == {
        (LinkType.CONTRADICTS, gone, goat),
        (LinkType.CAUSES, mill, flour),
    }
    assert all(one.created == agent.entry(max(one.source, one.target)).timestamp for one in made)
    before = store.load(AGENT).state
    again = await agent.reflect()
    assert (again.done, again.contradictions, links(store), store.load(AGENT).state) == (0, 0, made, before)


async def test_a_dry_run_finds_the_same_and_changes_nothing(make_agent, store, tell):
    agent = make_agent()
    await tell(agent, *LINES)
    before = store.load(AGENT).state
    would = await agent.reflect(dry_run=True)
    assert (store.load(AGENT).state, links(store)) == (before, [])
    assert await agent.reflect() == would


async def test_after_a_restart_it_goes_on_with_what_is_new(make_agent, store, tell):
    agent = make_agent()
    await tell(agent, *LINES[:2])
    await agent.reflect()
    agent = make_agent()
    await tell(agent, *LINES[2:])
    night = await agent.reflect()
    assert (night.done, len(links(store))) == (2, 2)


async def test_what_cannot_be_kept_is_done_another_time(make_agent, store, tell, monkeypatch):
    agent = make_agent()
    await tell(agent, *LINES)

    def full(changes: Changes) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(store, "commit", full)
        with pytest.raises(StoreError):
            await agent.reflect()
    assert not agent.night.progress.running
    assert links(store) == []
    assert (await agent.reflect()).contradictions == 1


@pytest.mark.slow
async def test_percepts_are_taken_in_between_two_pages(make_agent, store, tell):
    agent = make_agent()
    await tell(agent, *(f"rain {number}" for number in range(3 * PAGE)))
    night = asyncio.create_task(agent.reflect())
    await asyncio.sleep(0)
    await tell(agent, *LINES)
    assert not night.done()
    assert (await night).contradictions == 1


async def test_own_lines_and_events_are_no_telling(make_agent, store, tell):
    agent = make_agent()
    await tell(agent, LINES[0], LINES[2], user=AGENT)
    await tell(agent, LINES[0], LINES[2], kind=Kind.EVENT)
    assert (await agent.reflect()).contradictions == 0


async def test_what_is_forgotten_takes_its_links_along(make_agent, store, tell):
    agent = make_agent()
    goat, *_ = await tell(agent, *LINES)
    await agent.reflect()
    agent.forget([goat], "user_root", 0.0)
    assert [one.type for one in links(store)] == [LinkType.CAUSES]


async def test_a_link_that_was_removed_does_not_come_back(make_agent, store, clock, tell):
    agent = make_agent()
    goat, mill, gone, flour = await tell(agent, *LINES)
    await agent.reflect()
    corrections = Corrections(lambda name: agent, store, clock, LongAnswers())
    removed = corrections.unlink(ADMIN, "phi", goat, gone)
    assert LinkType.CONTRADICTS in {one.type for one in removed}
    with pytest.raises(UserError, match="no link that can be removed"):
        corrections.unlink(ADMIN, "phi", goat, gone)
    with pytest.raises(Forbidden):
        corrections.unlink(Caller("user_ann", "ann"), "phi", mill, flour)
    await tell(agent, "rain")
    await agent.reflect()
    assert [one.type for one in links(store)] == [LinkType.CAUSES]


async def test_the_other_end_comes_to_mind_for_those_who_may_know_it(make_agent, store, tell, make_archive):
    agent = make_agent(archive=make_archive(EmbeddingQueue()))
    alone, both = frozenset({"user_ann"}), frozenset({"user_ann", "user_bob"})
    (goat,) = await tell(agent, LINES[0], present=both)
    (gone,) = await tell(agent, LINES[2], present=alone, kind=Kind.WHISPER)
    await agent.reflect()
    assert agent.entry(gone).audience == Audience(frozenset({"user_ann", AGENT}), confined=True)

    async def in_mind(present):
        trace = (await tell(agent, "what about Bill?", present=present)) and store.traces(AGENT, 1)[0]
        return {one.entry_id: one for one in trace.recalled}

    before_both, before_one = await in_mind(both), await in_mind(alone)
    assert gone not in before_both
    assert before_both[goat].superseded_by is None
    assert Why.LINKED in before_one[gone].why
    assert before_one[goat].superseded_by == gone


async def test_a_plain_memory_has_no_nights(make_agent, tell):
    agent = make_agent(plain=True)
    await tell(agent, *LINES)
    assert (await agent.reflect()).done == 0


async def test_what_matters_in_hindsight_comes_to_mind_sooner_and_can_be_turned_off(make_agent, store, tell):
    agent = make_agent()
    goat, _, gone, _ = await tell(agent, *LINES)
    night = await agent.reflect()
    old, new = agent.entry(goat), agent.entry(gone)
    assert night.reweighed >= 1
    assert old.hindsight[Hindsight.SUPERSEDED] < 0.0
    assert old.weight < old.importance
    assert Hindsight.SUPERSEDED not in new.hindsight
    # In mind and in the store alike.
    assert store.entries(AGENT, [goat])[goat].hindsight == old.hindsight
    assert make_agent().memory.find(goat).hindsight == old.hindsight
    memory = agent.memory
    memory._revise(old, override=0.99, override_by="response")
    memory._revise(new, override=0.98, override_by="response")

    def first(hindsight):
        memory._episodic.hindsight = hindsight
        budget = ContextBudget(working=0, episodic=1, affect_similar=0)
        return memory.context("user_ann", None, budget)[0].entry.id

    assert (first(True), first(False)) == (gone, goat)


async def test_who_left_episodic_memory_does_not_come_back_by_night(make_agent, store, tell):
    agent = make_agent(windows=(2, 2))
    await tell(agent, *(f"remember that my {word} burnt down" for word in ("mill", "barn", "boat", "inn")))
    await tell(agent, "what about the mill?", "does anybody know of my barn that burnt down?")
    members = {entry.id for entry in agent.memory.retrieve_episodic(limit=None)}
    assert (await agent.reflect()).reweighed > 0
    assert {entry.id for entry in agent.memory.retrieve_episodic(limit=None)} == members


async def test_a_removed_link_takes_its_weight_back_the_next_night(make_agent, store, clock, tell):
    agent = make_agent()
    goat, _, gone, _ = await tell(agent, *LINES)
    await agent.reflect()
    Corrections(lambda name: agent, store, clock, LongAnswers()).unlink(ADMIN, "phi", goat, gone)
    await agent.reflect()
    assert Hindsight.SUPERSEDED not in agent.entry(goat).hindsight


async def test_a_search_in_a_busy_room_knows_hindsight_too(make_agent, store, tell, make_archive):
    archive = make_archive(EmbeddingQueue())
    agent = make_agent(archive=archive)
    goat, *_ = await tell(agent, *LINES)
    await archive.whole()
    await agent.reflect()
    row = archive.index.index.row_of[goat]
    entry = agent.entry(goat)
    assert archive.index.index.weights.rows[row] == pytest.approx(entry.weight)
    assert archive.index.index.importances.rows[row] == pytest.approx(entry.importance)
    loaded = make_archive(EmbeddingQueue())
    await loaded.whole()
    assert loaded.index.index.weights.rows[row] == pytest.approx(entry.weight)


async def test_what_is_sealed_keeps_its_answer(make_agent, store, tell):
    agent = make_agent()
    (number,) = await tell(agent, LINES[0], tier=Tier.SEALED)
    before = store.columns(AGENT, "").texts
    await agent.reflect()
    assert store.columns(AGENT, "").texts == before
    assert agent.entry(number).hindsight == {}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_killed_at_any_moment_or_run_twice_it_ends_as_one_undisturbed_night(tmp_path):
    folder = tmp_path / "past"
    things = ("goat", "boat", "harp", "cart", "mule", "loom", "kiln")
    settings = Settings(store={"path": str(folder)}, embedding={"model": "none"})
    with closing(build(settings, clock=ManualClock(0.0))) as society:
        society.agents[AGENT].keep()  # else it would be born when it first reflects
    with closing(SqlStore(folder)) as kept:
        for number in range(1, 301):
            thing = f"{things[number % 7]} called {number // 14}"
            text = (
                f"I have a {thing}",
                f"I don't have a {thing} any more",
                f"I am sad because the {thing} is gone",
                f"I will sell the {thing} tomorrow",
                f"does anybody remember my {thing}?",
            )[number % 5]
            user, count = f"user_{number % 3}", number % 4
            told = an_entry(number, text, user_id=user, recall_count=count, stability=6e5)
            kept.commit(Changes(AGENT, added=(told,), episodic=(number,) if number % 3 == 0 else ()))
    count = examples(30, 6)
    moments = [str((number + 0.5) / count) for number in range(count)]
    command = [sys.executable, "-m", "tests.agent.nights", str(folder), *moments]
    root = Path(__file__).parents[2]
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    *hashes, killed = ended.stdout.split()
    assert (len(hashes), len(set(hashes))) == (count + 2, 1)
    assert int(killed) >= count * 2 // 3
