"""Looking on: in order, within rights, without waiting, and nothing of what was forgotten meanwhile."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.inspect.feed import Feed, FeedReader
from noodlings.store.memory import MemoryStore
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import Kind, Percept

ADMIN = Caller("owner", "owner", Role.ADMIN)
CAITY = Caller("user_caity", "caity")
TOAD = Caller("user_toad", "toad")


@pytest.fixture
def society(tmp_path: Path) -> Society:
    settings = Settings(store={"path": str(tmp_path)}, embedding={"model": "none"})  # type: ignore[arg-type]
    return build(settings, clock=ManualClock(1_000.0), store=MemoryStore())


async def say(society: Society, text: str, user: str = "user_caity", agent: str = "phi", *beside: str) -> int:
    society.clock.advance(60.0)  # type: ignore[attr-defined]
    percept = Percept(user, text, society.clock.now(), addressed=True, present=frozenset({user, *beside}))
    return (await society.perceive(agent, percept)).entry_id


async def drained(reader: FeedReader) -> list[tuple[str, int, str]]:
    """Everything that waits: agent, entry, step."""
    found = []
    while len(reader):
        _, view = await asyncio.wait_for(reader.next(), 30.0)
        assert json.loads(json.dumps(view.as_dict(), allow_nan=False)) == view.as_dict()
        assert (view.turn is not None) == (view.step == "turn")
        found.append((view.agent, view.entry, view.step))
    return found


async def test_a_turn_is_seen_from_beginning_to_end(society: Society):
    feed = Feed(society, 100)
    with feed.reading(ADMIN) as reader:
        await say(society, "hello")
        seen = await drained(reader)
    steps = [step for _, _, step in seen]
    assert steps[0] == "perceived"
    assert steps[-1] == "turn"
    assert {(agent, entry) for agent, entry, _ in seen} == {("phi", 1)}


async def test_a_finished_turn_is_what_why_tells(society: Society):
    from noodlings.inspect.inspector import Inspector

    feed = Feed(society, 100)
    with feed.reading(CAITY, "phi") as reader:
        entry = await say(society, "my dog died")
        turns = []
        while len(reader):
            _, view = await reader.next()
            turns += [view.turn] if view.turn else []
    assert turns == [Inspector(society).turn(CAITY, "phi", entry)]


@pytest.mark.parametrize("first", [ADMIN, CAITY])
async def test_a_turn_is_seen_by_each_as_they_may_whoever_saw_it_first(society: Society, first: Caller):
    from noodlings.inspect.inspector import Inspector

    await say(society, "the zebrafinch nests in the old mill", "user_toad", "phi", "user_caity")
    feed, inspector = Feed(society, 100), Inspector(society)
    with feed.reading(ADMIN) as theirs, feed.reading(CAITY) as mine:
        entry = await say(society, "where does the zebrafinch nest?", "user_caity", "phi", "user_toad")
        seen = {}
        for reader in (theirs, mine) if first is ADMIN else (mine, theirs):
            while len(reader):
                _, view = await asyncio.wait_for(reader.next(), 30.0)
                seen[reader.caller] = view.turn
    assert seen == {caller: inspector.turn(caller, "phi", entry) for caller in (ADMIN, CAITY)}
    words = {caller: json.dumps(turn.as_dict()["recalled"]) for caller, turn in seen.items()}
    assert "old mill" in words[ADMIN]
    assert "old mill" not in words[CAITY]


async def test_one_sees_what_one_may_read(society: Society):
    feed = Feed(society, 100)
    with feed.reading(CAITY) as mine, feed.reading(TOAD) as theirs, feed.reading(ADMIN, "servnak") as other:
        await say(society, "hello")
        await say(society, "a secret", "user_toad")
        assert {entry for _, entry, _ in await drained(mine)} == {1}
        assert {entry for _, entry, _ in await drained(theirs)} == {2}
        assert not len(other)
    assert feed.readers == 0


async def test_thoughts_are_an_agents_own(society: Society):
    feed = Feed(society, 100)
    with feed.reading(Caller("phi", "Phi")) as reader:
        await society.perceive("phi", Percept("phi", "hm", society.clock.now(), kind=Kind.THOUGHT))
        assert not len(reader)


async def test_who_is_too_slow_loses_the_oldest_and_is_told(society: Society):
    feed = Feed(society, 3)
    with feed.reading(ADMIN) as reader:
        for number in range(4):
            await say(society, f"line {number}")
        assert len(reader) == feed.waiting == 3
        lost, view = await reader.next()
        assert lost == feed.lost > 0
        assert view.entry == 4
        assert (await reader.next())[0] == 0


async def test_what_was_forgotten_meanwhile_is_not_told(society: Society):
    feed = Feed(society, 100)
    with feed.reading(ADMIN) as reader:
        first = await say(society, "the zebrafinch is grey")
        second = await say(society, "tell me about the zebrafinch")
        society.corrections.forget(ADMIN, "phi", [first])
        told = []
        while len(reader):
            _, view = await asyncio.wait_for(reader.next(), 30.0)
            told.append(view)
        assert {view.entry for view in told} == {second}
        assert "grey" not in json.dumps([view.as_dict() for view in told])


async def test_what_another_process_forgot_meanwhile_is_not_told(society: Society):
    feed = Feed(society, 100)
    with feed.reading(ADMIN) as reader:
        first = await say(society, "the zebrafinch is grey")
        second = await say(society, "tell me about the zebrafinch")
        society.store.forget("phi", [first], by_user="admin", timestamp=1.0)
        society.agents["phi"].forgot_elsewhere()
        told = [taken[1] for taken in (reader.take() for _ in range(len(reader))) if taken]
        assert {view.entry for view in told} == {second}
        assert "grey" not in json.dumps([view.as_dict() for view in told])


async def test_a_turn_is_seen_without_what_was_forgotten_since(society: Society):
    feed = Feed(society, 100)
    with feed.reading(ADMIN) as early, feed.reading(ADMIN) as late:
        first = await say(society, "the zebrafinch is grey")
        await say(society, "tell me about the zebrafinch")
        seen = [early.take() for _ in range(len(early))]
        assert "grey" in json.dumps([view.turn.as_dict() for _, view in seen if view.turn][-1])
        society.corrections.forget(ADMIN, "phi", [first])
        seen = [late.take() for _ in range(len(late))]
        assert "grey" not in json.dumps([taken[1].as_dict() for taken in seen if taken])


async def test_memories_of_one_number_are_each_its_agents_own(society: Society):
    feed = Feed(society, 100)
    with feed.reading(ADMIN) as reader:
        told = {agent: await say(society, f"a word for {agent}", agent=agent) for agent in ("phi", "servnak")}
        assert len(set(told.values())) == 1
        turns = [view.turn for _ in range(len(reader)) if (view := reader.take()[1]).turn]
    assert [(turn.agent, turn.turn.percept.text) for turn in turns] == [
        (agent, f"a word for {agent}") for agent in told
    ]


async def test_a_closed_feed_is_silent(society: Society):
    feed = Feed(society, 100)
    with feed.reading(ADMIN) as reader:
        feed.close()
        await say(society, "hello")
        assert not len(reader)
