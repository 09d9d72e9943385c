"""The way of one event: nothing waits for a model, nothing is lost, the trace tells what was done without."""

import asyncio
import json
from dataclasses import replace

import pytest

from noodlings.errors import LLMError, StoreError
from noodlings.ports import Changes, Speech
from noodlings.values.affect import Affect
from noodlings.values.audience import Audience
from noodlings.values.percept import Kind, Percept

STEPS = {"embed", "appraise", "mood", "predict", "remember"}
ANSWER_STEPS = STEPS | {"commit", "recall", "think", "modulate", "respond"}


class Says:
    """A model that says one thing, when `gate` lets it, or fails."""

    name = "llm"

    def __init__(self, text="A model speaks.", error=None):
        self.text, self.error = text, error
        self.gate = asyncio.Event()
        self.gate.set()
        self.heard = []
        self.asked = asyncio.Event()

    async def speak(self, utterance, allowance):
        self.heard.append(utterance)
        self.asked.set()
        await self.gate.wait()
        if self.error:
            raise self.error
        allowance.calls += 1
        allowance.tokens += 5
        return Speech(self.text)


@pytest.fixture
def percept(clock):
    def make(text="hello there", user="user_caity", **changes):
        clock.advance(60)
        fields = {"addressed": True} | changes
        return Percept(user, text, clock.now(), **fields)

    return make


async def test_a_percept_becomes_an_entry_a_response_and_a_stored_trace(make_agent, store, percept):
    agent = make_agent()
    trace = await agent.perceive(percept("My dog died yesterday"))
    assert trace.response
    assert trace.voice == "offline"
    assert set(trace.milliseconds) == ANSWER_STEPS
    assert store.traces("phi") == [trace]
    entry = store.entries("phi", [trace.entry_id])[trace.entry_id]
    assert (entry.user_text, entry.response) == ("My dog died yesterday", trace.response)
    assert entry.affect == trace.affect == agent.affect
    assert entry.phenomenal_state.shape == (40,)
    assert trace.importance == entry.encoded_importance > 0.5


async def test_silence_is_a_trace_too(make_agent, store, percept):
    agent = make_agent()
    trace = await agent.perceive(percept(kind=Kind.THOUGHT, user="phi"))
    assert trace.response is None
    assert trace.decision == "its own"
    assert set(trace.milliseconds) == STEPS
    assert store.traces("phi") == [trace]


async def test_what_is_perceived_is_kept_before_a_slow_model_is_asked(make_agent, store, percept):
    voice = Says()
    voice.gate.clear()
    agent = make_agent(voice=voice)
    slow = asyncio.create_task(agent.perceive(percept("first")))
    waiting = asyncio.create_task(agent.perceive(percept("second")))
    await voice.asked.wait()
    await asyncio.sleep(0)  # the second percept's turn, which does not wait for the first
    assert [entry.user_text for entry in store.load("phi").working] == ["first", "second"]
    voice.gate.set()
    traces = await asyncio.gather(slow, waiting)
    assert [trace.response for trace in traces] == ["A model speaks."] * 2
    assert [trace.voice for trace in traces] == ["llm", "llm"]


async def test_a_failing_model_degrades_one_step_and_the_trace_says_so(make_agent, store, percept):
    agent = make_agent(voice=Says(error=LLMError("nobody answers at http://localhost:1")))
    trace = await agent.perceive(percept())
    assert trace.response
    assert trace.voice == "offline"
    assert trace.degraded == ("offline voice: nobody answers at http://localhost:1",)
    plain = make_agent("Twin")
    assert (await plain.perceive(percept())).degraded == ()


@pytest.mark.slow
async def test_recalled_memories_never_include_the_percept_itself_or_doubles(make_agent, percept):
    agent = make_agent()
    for number in range(30):
        trace = await agent.perceive(percept(f"I am terribly sad about thing {number}"))
        ids = [found.entry_id for found in trace.recalled]
        assert trace.entry_id not in ids
        assert len(ids) == len(set(ids))
        assert ids == sorted(ids)


async def test_only_what_was_truly_used_is_reinforced(make_agent, percept):
    agent = make_agent()
    first = await agent.perceive(percept("My dog died yesterday"))
    for number in range(25):
        await agent.perceive(percept(f"nice weather {number}", addressed=False))
    trace = await agent.perceive(percept("Do you remember my dog?"))
    used = [found.entry_id for found in trace.recalled if found.used]
    assert used == [first.entry_id]
    assert agent.memory.find(first.entry_id).recall_count == 1
    assert all(
        agent.memory.find(found.entry_id).recall_count == 0 for found in trace.recalled if not found.used
    )


async def test_a_whisper_is_not_in_mind_before_somebody_who_lacks_it(make_agent, percept):
    voice = Says()
    agent = make_agent(voice=voice)
    audience = frozenset({"user_caity", "phi"})
    await agent.perceive(percept("I am terrified, I stole the crown", kind=Kind.WHISPER, audience=audience))
    await agent.perceive(
        percept("what is new?", user="user_bob", present=frozenset({"user_bob", "user_caity"}))
    )
    await agent.perceive(percept("what is new?", present=frozenset({"user_caity", "user_bob"})))
    assert all(not found.entry.private for heard in voice.heard for found in heard.recalled)
    await agent.perceive(percept("what is new?", present=frozenset({"user_caity"})))
    assert any("crown" in found.entry.user_text for found in voice.heard[-1].recalled)


async def test_an_answer_made_of_a_secret_is_one_itself(make_agent, percept):
    voice = Says("The crown lies in the mill.")
    agent = make_agent(voice=voice)
    both, all_three = frozenset({"user_caity", "user_bob"}), frozenset({"user_caity", "user_bob", "user_eve"})
    await agent.perceive(percept("I stole the crown", kind=Kind.WHISPER, present=both))
    told = await agent.perceive(percept("where is it?", user="user_bob", present=both))
    assert told.audience == Audience(both | {"phi"}, confined=True)
    assert agent.entry(told.entry_id).private
    await agent.perceive(percept("what is new?", user="user_eve", present=all_three))
    assert (voice.heard[-1].recalled, voice.heard[-1].said) == ((), ())
    again = make_agent(voice=voice)  # a restart
    await again.perceive(percept("what is new?", user="user_eve", present=all_three))
    assert (voice.heard[-1].said) == (voice.text,)  # what she heard herself
    await again.perceive(percept("and now?", present=frozenset({"user_caity"})))
    assert len(voice.heard[-1].said) == 4


async def test_own_lines_of_which_nobody_knows_who_heard_them_are_told_nobody(make_agent, percept, store):
    voice = Says()
    await make_agent(voice=voice).perceive(percept("hello"))
    state = store.load("phi").state
    before = replace(state, data=state.data | {"said": ["The crown lies in the mill."]})
    store.commit(Changes("phi", state=before))
    await make_agent(voice=voice).perceive(percept("hello"))
    assert voice.heard[-1].said == ()


async def test_a_restart_changes_nothing(make_agent, percept, clock):
    agent = make_agent()
    for text in ("I am so happy today!", "My dog died yesterday", "hello", "YOU IDIOT"):
        await agent.perceive(percept(text))
    again = make_agent()
    assert json.dumps(again.state().data) == json.dumps(agent.state().data)
    assert again.memory.stats() == agent.memory.stats()
    assert again.mood == agent.mood
    answer = await again.perceive(percept("do you remember my dog?"))
    assert "your dog died" in answer.response


async def test_a_store_that_fails_is_not_swallowed(make_agent, store, percept, monkeypatch):
    agent = make_agent()

    def broken(changes):
        raise StoreError("the disk is full")

    monkeypatch.setattr(store, "commit", broken)
    with pytest.raises(StoreError, match="disk is full"):
        await agent.perceive(percept())


async def test_given_affect_and_surprise_are_taken_as_given(make_agent, percept):
    felt = Affect(-0.4, 0.9, 0.7, 0.0, 0.0)
    trace = await make_agent().perceive(percept(affect=felt, surprise=0.9))
    assert (trace.affect, trace.appraised_by, trace.surprise) == (felt, "given", 0.9)


@pytest.mark.parametrize("text", ["", "   ", "\x1b[31m", "x" * 4_000, "[bold]", "🦆" * 500, "\x00"])
async def test_any_text_is_perceived(make_agent, percept, text):
    trace = await make_agent().perceive(percept(text))
    assert trace.response


async def test_idle_acts_do_not_repeat_until_they_are_used_up(make_agent, clock):
    agent = make_agent()
    assert await agent.idle(clock.now()) is None
