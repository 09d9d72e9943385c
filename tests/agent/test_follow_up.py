"""What follows a turn: images of intense moments, and thoughts that nobody else ever hears of."""

import asyncio

import pytest

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.errors import LLMError
from noodlings.ports import Speech
from noodlings.store.memory import MemoryStore
from noodlings.values.affect import Affect
from noodlings.values.audience import Audience, Tier
from noodlings.values.memory import LinkType
from noodlings.values.percept import Kind, Percept
from tests.fakes import ScriptedSymbolist

GRIEF = Affect(-0.8, 0.8, 0.3, 0.9, 0.0)
FLAT = Affect(0.1, 0.1, 0.0, 0.0, 0.1)


class Dreams(ScriptedSymbolist):
    """A symbolist that waits for `gate`, and then fails if it is told to."""

    def __init__(self, *images, error=None):
        super().__init__(*images)
        self.error = error
        self.gate, self.called = asyncio.Event(), asyncio.Event()

    async def imagine(self, event, affect, avoid, allowance):
        self.called.set()
        await self.gate.wait()
        if self.error:
            raise self.error
        return await super().imagine(event, affect, avoid, allowance)


class Muses:
    """A model that answers, and when it thinks by itself waits for `gate`."""

    name = "llm"

    def __init__(self, error=None):
        self.error = error
        self.gate, self.musing = asyncio.Event(), asyncio.Event()
        self.thought_for = []

    async def speak(self, utterance, allowance):
        allowance.calls += 1
        if utterance.percept.kind is not Kind.THOUGHT:
            return Speech("I hear you.")
        self.thought_for.append((allowance.user_id, utterance))
        self.musing.set()
        await self.gate.wait()
        if self.error:
            raise self.error
        return Speech("The dog again. It had one white ear.")

    async def modulate(self, thought, lens, utterance, allowance):
        return thought


@pytest.fixture
def percept(clock):
    def make(text="My dog died yesterday", **changes):
        clock.advance(60)
        return Percept("user_caity", text, clock.now(), **({"addressed": True, "affect": GRIEF} | changes))

    return make


def images(store):
    return [symbol.symbolic_encoding for symbol in store.load("phi").symbols]


def thoughts(store, agent_id="phi"):
    return [entry for entry in store.archive(agent_id) if entry.kind is Kind.THOUGHT]


# -- images


async def test_without_a_model_an_image_is_kept_when_the_turn_is(make_agent, store, percept):
    agent = make_agent()
    trace = await agent.perceive(percept())
    (symbol,) = store.load("phi").symbols
    assert (symbol.entry_id, symbol.affect, symbol.made_by) == (trace.entry_id, GRIEF, "images")
    assert agent.subconscious.symbols == (symbol,)


async def test_with_a_model_the_reply_does_not_wait_for_it(make_agent, store, percept):
    dreams = Dreams("a bell in a well")
    agent = make_agent(symbolist=dreams)
    trace = await agent.perceive(percept())
    assert trace.response
    assert images(store) == []
    dreams.gate.set()
    await agent.settle()
    assert images(store) == ["a bell in a well"]


async def test_who_is_parted_from_while_it_is_imagined_is_no_witness_of_it(make_agent, store, percept):
    dreams = Dreams("a bell in a well")
    agent = make_agent(symbolist=dreams)
    await agent.perceive(percept(present=frozenset({"user_caity", "user_bob"})))
    await dreams.called.wait()
    agent.part_from({"user_bob"})
    dreams.gate.set()
    await agent.settle()
    (symbol,) = store.load("phi").symbols
    assert "user_bob" not in symbol.audience.witnesses


async def test_a_calm_moment_leaves_none_and_asks_no_model(make_agent, store, percept):
    dreams = Dreams()
    agent = make_agent(symbolist=dreams)
    await agent.perceive(percept("nice weather", affect=FLAT))
    await agent.settle()
    assert not dreams.called.is_set()
    assert images(store) == []


async def test_a_plain_list_has_no_subconscious(make_agent, percept):
    agent = make_agent(plain=True)
    await agent.perceive(percept())
    assert len(agent.subconscious) == 0


async def test_what_a_model_cannot_imagine_is_imagined_without(make_agent, store, percept):
    dreams = Dreams(error=LLMError("it has no imagination"))
    dreams.gate.set()
    agent = make_agent(symbolist=dreams)
    await agent.perceive(percept())
    await agent.settle()
    (symbol,) = store.load("phi").symbols
    assert symbol.made_by == "images"


async def test_where_there_is_no_more_time_it_is_imagined_without(make_agent, store, percept):
    dreams = Dreams()
    agent = make_agent(symbolist=dreams)
    await agent.perceive(percept())
    await dreams.called.wait()
    await agent.hurry()
    (symbol,) = store.load("phi").symbols
    assert symbol.made_by == "images"


async def test_what_was_forgotten_while_a_model_dreamt_of_it_leaves_no_image(make_agent, store, percept):
    dreams = Dreams()
    agent = make_agent(symbolist=dreams)
    trace = await agent.perceive(percept())
    await dreams.called.wait()
    agent.forget([trace.entry_id], "user_caity", 0.0)
    dreams.gate.set()
    await agent.settle()
    assert images(store) == []
    assert agent.subconscious.symbols == ()


async def test_a_secret_leaves_an_image_for_those_who_know_it(make_agent, store, percept):
    agent = make_agent()
    await agent.perceive(percept(kind=Kind.WHISPER, audience=frozenset({"phi", "user_caity"})))
    (symbol,) = store.load("phi").symbols
    assert symbol.audience == Audience(frozenset({"phi", "user_caity"}), confined=True)


# -- thoughts of its own


async def stirred(agent, percept, **changes):
    """Something that gives to think, and is not answered, until a thought comes of it."""
    for number in range(40):
        await agent.perceive(percept(f"the dog of number {number} died", addressed=False, depth=3, **changes))


@pytest.mark.slow
async def test_a_thought_is_kept_as_one_and_nobody_hears_it(make_agent, store, percept):
    agent = make_agent(ruminate=True)
    await stirred(agent, percept)
    found = thoughts(store)
    assert found
    for entry in found:
        assert (entry.user_id, entry.response, entry.private) == ("phi", None, True)
        assert entry.audience == Audience(frozenset({"phi"}), confined=True)
        (trace,) = store.traces("phi", 1, entry.id + 1)
        assert (trace.entry_id, trace.response, trace.decision) == (entry.id, None, "its own")
        about = [link for link in store.links_of("phi", [entry.id]) if link.type is LinkType.REFLECTED]
        assert about
        assert all(link.source == entry.id > link.target for link in about)


@pytest.mark.slow
async def test_a_thought_leaves_what_is_felt_as_it_was(make_agent, percept):
    agent = make_agent(ruminate=True)
    await stirred(agent, percept)
    assert agent.affect == GRIEF


@pytest.mark.slow
async def test_nobodys_reply_is_made_of_a_thought(make_agent, store, percept):
    agent = make_agent(ruminate=True)
    await stirred(agent, percept, present=frozenset({"user_bob"}))
    own = {entry.id for entry in thoughts(store)}
    for present in (frozenset(), frozenset({"user_bob"})):
        trace = await agent.perceive(percept("what about the dog?", present=present))
        assert trace.recalled
        assert not own & {found.entry_id for found in trace.recalled}


async def test_who_is_told_not_to_has_no_thoughts(make_agent, store, percept):
    agent = make_agent(ruminate=False)
    await stirred(agent, percept)
    await agent.idle(percept().timestamp)
    assert thoughts(store) == []


@pytest.mark.slow
@pytest.mark.parametrize(("least", "tier"), [(Tier.OPEN, Tier.CONFINED), (Tier.SECRET, Tier.SECRET)])
async def test_a_thought_has_the_least_tier_of_its_kind(make_agent, percept, least, tier):
    store = MemoryStore()
    agent = make_agent(ruminate=True, store=store, tiers={Kind.THOUGHT: least})
    await stirred(agent, percept)
    assert {entry.tier for entry in thoughts(store)} == {tier}


@pytest.mark.slow
async def test_a_thought_that_may_not_go_to_a_model_is_worded_without_it(make_agent, percept):
    class Elsewhere:
        async def speak(self, utterance, spent):
            raise AssertionError("it was asked for a thought")

    store = MemoryStore()
    changes = {"tiers": {Kind.THOUGHT: 2}, "voice": Elsewhere(), "reach": Tier.CONFINED}
    agent = make_agent(ruminate=True, store=store, **changes)
    await stirred(agent, percept)
    await agent.settle()
    assert thoughts(store)


@pytest.mark.slow
async def test_what_could_not_be_kept_or_is_sealed_is_not_thought(make_agent, store, percept, monkeypatch):
    for least in (2, 3):
        agent = make_agent(ruminate=True, tiers={Kind.THOUGHT: least})
        with monkeypatch.context() as patch:
            patch.setattr(type(store), "keeps_secrets", False)
            await stirred(agent, percept)
            await agent.idle(percept().timestamp)
    assert thoughts(store) == []


@pytest.mark.slow
async def test_a_thought_is_forgotten_with_what_it_was_made_of(make_agent, store, percept):
    agent = make_agent(ruminate=True)
    await stirred(agent, percept)
    thought = thoughts(store)[0]
    about = [link.target for link in store.links_of("phi", [thought.id]) if link.source == thought.id]
    agent.forget(about, "user_caity", 0.0)
    assert thought.id not in {entry.id for entry in thoughts(store)}
    assert agent.entry(thought.id) is None
    assert store.traces("phi", 1, thought.id + 1)[0].entry_id != thought.id


@pytest.mark.slow
async def test_nothing_that_is_recalled_is_stored_again_as_if_it_were_new(make_agent, store, percept):
    agent = make_agent(ruminate=True)
    await stirred(agent, percept)
    heard = [entry.user_text for entry in store.archive("phi") if entry.kind is not Kind.THOUGHT]
    assert heard == [f"the dog of number {number} died" for number in range(40)]
    assert not {entry.user_text for entry in thoughts(store)} & set(heard)


@pytest.mark.slow
async def test_a_quiet_night_gives_nothing_new_to_think(make_agent, clock, store, percept):
    agent = make_agent(ruminate=True)
    for text in ("my dog died yesterday", "the mayor lied to us and I am furious"):
        await agent.perceive(percept(text, affect=None))
    for _ in range(1_000):
        clock.advance(45)
        await agent.idle(clock.now())
    night = thoughts(store)
    assert 1 <= len(night) <= 4
    assert "the mayor lied to us and I am furious" in [
        one.user_text for one in agent.memory.retrieve_working()
    ]
    told = {entry.id: entry for entry in store.archive("phi") if entry.kind is not Kind.THOUGHT}
    for thought in night:
        about = [link.target for link in store.links_of("phi", [thought.id]) if link.source == thought.id]
        assert set(about) <= told.keys()  # never of a thought
        assert thought.surprise == 0.0
    for _ in range(3_000):
        clock.advance(45)
        await agent.idle(clock.now())
    assert len(thoughts(store)) > len(night)  # another day it comes back


async def test_it_thinks_about_corrected_words_and_not_the_former(make_agent, clock, store, percept):
    agent = make_agent(ruminate=True)
    await agent.perceive(percept("My dog Judith died yesterday"))
    made = agent.correct(store.archive("phi")[0], "My dog Ruth died yesterday")
    clock.advance(3_600)
    await agent.idle(clock.now())
    (thought,) = thoughts(store)
    assert [link.target for link in store.links_of("phi", [thought.id])] == [made.id]
    assert "Judith" not in thought.user_text


async def test_with_nothing_in_mind_there_is_nothing_to_think(make_agent, store):
    agent = make_agent(ruminate=True)
    for second in range(30):
        await agent.idle(float(second))
    assert thoughts(store) == []


@pytest.mark.slow
async def test_a_model_thinks_in_the_background_and_for_nobody(make_agent, store, percept):
    voice = Muses()
    agent = make_agent(ruminate=True, voice=voice)
    task = asyncio.create_task(stirred(agent, percept))
    await asyncio.wait_for(voice.musing.wait(), 30)
    await task
    assert thoughts(store) == []
    voice.gate.set()
    await agent.settle()
    assert {entry.user_text for entry in thoughts(store)} == {"The dog again. It had one white ear."}
    assert {user for user, _ in voice.thought_for} == {""}


@pytest.mark.slow
async def test_what_a_model_cannot_think_is_thought_without(make_agent, store, percept):
    voice = Muses(LLMError("it is tired"))
    voice.gate.set()
    agent = make_agent(ruminate=True, voice=voice)
    await stirred(agent, percept)
    await agent.settle()
    thought = thoughts(store)[0]
    (trace,) = store.traces("phi", 1, thought.id + 1)
    assert trace.degraded == ("offline voice: it is tired",)
    assert trace.calls == 1


async def test_a_thought_of_what_was_forgotten_meanwhile_is_not_kept(make_agent, store, percept):
    voice = Muses()
    agent = make_agent(ruminate=True, voice=voice)
    await stirred(agent, percept)
    await voice.musing.wait()
    agent.forget([entry.id for entry in store.archive("phi")], "user_caity", 0.0)
    voice.gate.set()
    await agent.settle()
    assert thoughts(store) == []


async def test_a_thought_is_dropped_where_there_is_no_more_time(make_agent, store, percept):
    agent = make_agent(ruminate=True, voice=(voice := Muses()))
    await stirred(agent, percept)
    await voice.musing.wait()
    await agent.hurry()
    assert thoughts(store) == []


# -- at rest


async def test_a_society_comes_to_rest_in_its_time():
    clock = ManualClock(1_000_000.0)
    society = build(Settings(embedding={"model": "none"}), clock=clock, store=MemoryStore())
    dreams = Dreams()
    phi = society.agents["phi"]
    object.__setattr__(phi._services, "symbolist", dreams)
    heard = Percept("user_caity", "My dog died", clock.now(), addressed=True, affect=GRIEF)
    assert (await phi.perceive(heard)).response
    await dreams.called.wait()
    await asyncio.wait_for(society.rest(0.01), 30.0)
    (symbol,) = society.store.load("phi").symbols
    assert symbol.made_by == "images"
    society.close()
