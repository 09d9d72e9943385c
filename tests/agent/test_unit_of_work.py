"""What each commit of a turn holds, and what an agent is after a kill between two of them."""

from __future__ import annotations

import asyncio

import pytest

from noodlings.embed.queue import EmbeddingQueue
from noodlings.errors import StoreError
from noodlings.store.sql import SqlStore
from noodlings.values.percept import Percept
from tests.fakes import HashingEmbedder, SlowVoice


class Listening(HashingEmbedder):
    """Notes every text that it is handed."""

    def __init__(self):
        self.heard = []

    def embed(self, texts):
        self.heard += texts
        return super().embed(texts)


@pytest.fixture
def commits(store, monkeypatch):
    """What was committed, in order; after as many commits as are let through, the disk is gone."""
    seen, commit = [], store.commit

    def recording(changes):
        if len(seen) == recording.let_through:
            raise StoreError("killed")
        seen.append(changes)
        commit(changes)

    recording.let_through = 1_000
    recording.seen = seen
    monkeypatch.setattr(store, "commit", recording)
    return recording


@pytest.fixture
def percept(clock):
    def make(text="hello there", **changes):
        clock.advance(60)
        return Percept("user_caity", text, clock.now(), **({"addressed": True} | changes))

    return make


async def test_the_state_is_kept_once_a_turn(make_agent, percept, commits):
    agent = make_agent()
    await agent.perceive(percept("My dog died yesterday, and I am terrified"))
    entry, turn, symbol = commits.seen
    assert entry.added
    assert entry.state is None
    assert turn.state == agent.state()
    assert turn.trace is not None
    assert symbol.symbols
    assert symbol.state is None


async def test_what_is_not_answered_is_kept_whole_at_once(make_agent, percept, commits):
    agent = make_agent()
    trace = await agent.perceive(percept("the pond froze over", addressed=False, depth=9))
    (only,) = commits.seen
    assert only.added
    assert (only.state, only.trace) == (agent.state(), trace)


async def test_the_state_does_not_wait_for_a_model(make_agent, percept, commits):
    voice = SlowVoice()
    agent = make_agent(voice=voice)
    turn = asyncio.create_task(agent.perceive(percept("My dog died yesterday")))
    await voice.asked.wait()
    again = make_agent()
    assert again.state() == agent.state()
    assert again.mood == agent.mood
    voice.gate.set()
    await turn


async def test_no_vector_of_what_was_forgotten_is_had_from_before(make_agent, percept):
    embedder = Listening()
    agent = make_agent(heard=EmbeddingQueue(embedder))
    told, *_ = [await agent.perceive(percept("the key is under the mat")) for _ in range(2)]
    assert embedder.heard.count("the key is under the mat") == 1
    agent.forget([told.entry_id], "user_caity", 0.0)
    await agent.perceive(percept("the key is under the mat"))
    assert embedder.heard.count("the key is under the mat") == 2


@pytest.mark.parametrize("before", [[], ["hello"]], ids=["newborn", "known"])
async def test_a_kill_before_the_answer_leaves_the_percept_and_steps_stay_apart(
    make_agent, store, percept, commits, before
):
    agent = make_agent()
    for text in before:
        await agent.perceive(percept(text))
    commits.let_through = len(commits.seen) + 1
    with pytest.raises(StoreError, match="killed"):
        await agent.perceive(percept("My dog died yesterday"))
    commits.let_through = 1_000
    again = make_agent()
    await again.perceive(percept("hello again"))
    entries = store.archive("phi")
    assert [entry.user_text for entry in entries] == [*before, "My dog died yesterday", "hello again"]
    assert entries[-2].response is None
    assert [entry.step for entry in entries] == [*range(1, len(before) + 3)]


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{}, {"addressed": False, "depth": 9}], ids=["answered", "not answered"])
@pytest.mark.parametrize("newborn", [True, False])
async def test_what_a_full_disk_refused_does_not_come_back_by_itself(
    make_agent, percept, tmp_path, changes, newborn
):
    store = SqlStore(tmp_path)
    run = store._database._driver.execute
    agent = make_agent(store=store, voice=None)
    lines = [] if newborn else ["My dog died yesterday"]
    for text in lines:
        await agent.perceive(percept(text))
    before = agent.state()
    (pages,) = run("PRAGMA page_count").fetchone()
    run(f"PRAGMA max_page_count = {pages}")
    long = "You are a worthless idiot. " * 1_000
    for _ in range(2):
        with pytest.raises(StoreError, match="the disk is full"):
            await agent.perceive(percept(long, **changes))
        assert agent.state() == before
        assert [entry.user_text for entry in agent.memory.retrieve_working()] == lines
    run("PRAGMA max_page_count = 1000000")
    await agent.perceive(percept("good morning"))
    await agent.perceive(percept(long, **changes))
    kept = [entry.user_text for entry in store.archive(agent.id)]
    assert kept == [entry.user_text for entry in agent.memory.retrieve_working()]
    assert kept == [*lines, "good morning", long.strip()]
    store.close()


async def test_an_answer_that_could_not_be_kept_was_never_given(make_agent, store, percept, commits):
    agent = make_agent()
    await agent.perceive(percept("hello"))
    commits.let_through = len(commits.seen) + 1
    with pytest.raises(StoreError, match="killed"):
        await agent.perceive(percept("My dog died yesterday"))
    assert agent.state() == make_agent().state()
    commits.let_through = 1_000
    await agent.perceive(percept("good night"))
    assert [entry.response is None for entry in agent.memory.retrieve_working()] == [False, True, False]
    assert [entry.response is None for entry in store.load("phi").working] == [False, True, False]


async def test_an_agent_that_cannot_be_read_after_a_failure_goes_on_once_it_can(
    make_agent, store, percept, commits, monkeypatch
):
    agent = make_agent()
    await agent.perceive(percept("hello"))
    commits.let_through, load = len(commits.seen), store.load
    monkeypatch.setattr(store, "load", commits)  # which refuses as well
    with pytest.raises(StoreError):
        await agent.perceive(percept("My dog died yesterday"))
    commits.let_through = 1_000
    monkeypatch.setattr(store, "load", load)
    with pytest.raises(StoreError, match="try again"):
        await agent.perceive(percept("My dog died yesterday"))
    await agent.perceive(percept("My dog died yesterday"))
    assert [entry.user_text for entry in store.archive("phi")] == ["hello", "My dog died yesterday"]
