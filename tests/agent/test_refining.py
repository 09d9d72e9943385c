"""A model may refine what was felt before a reply: later than what is kept, and never more than one push."""

import asyncio
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from noodlings.affect.mood import HALF_LIFE_SECONDS, PUSH
from noodlings.app import build
from noodlings.config import Settings
from noodlings.errors import LLMError
from noodlings.ports import Speech
from noodlings.store.memory import MemoryStore
from noodlings.values.affect import Affect
from noodlings.values.percept import Kind, Percept
from tests.llm.server import Answer, chat, serving

IRONY = "Oh wonderful, another brilliant day."
HURT = Affect(-0.8, 0.6, 0.1, 0.7, 0.0)


@pytest.fixture(autouse=True, scope="module")
def _loaded():
    """Loading the library takes as long as the machine is busy; these deadlines are about the model."""
    import_module("openai")


class Feels:
    """A model that feels one thing about everything, when `gate` lets it, or fails."""

    def __init__(self, affect=HURT, error=None):
        self.affect, self.error = affect, error
        self.judged = []
        self.gate, self.asked = asyncio.Event(), asyncio.Event()
        self.gate.set()

    async def appraise(self, text, addressed, allowance):
        self.judged.append((text, addressed))
        self.asked.set()
        await self.gate.wait()
        if self.error:
            raise self.error
        return self.affect


class Listens:
    """A voice that notes what it was handed."""

    name = "llm"

    def __init__(self):
        self.heard = []

    async def speak(self, utterance, allowance):
        self.heard.append(utterance)
        return Speech("I hear you.")


@pytest.fixture
def percept(clock):
    def make(text=IRONY, **changes):
        clock.advance(60)
        return Percept("user_caity", text, clock.now(), **({"addressed": True} | changes))

    return make


async def test_the_rest_of_the_turn_feels_what_the_model_said_and_the_entry_what_was_encoded(
    make_agent, store, percept
):
    voice, model = Listens(), Feels()
    heard = percept()
    plain = make_agent("Twin")
    own = await plain.perceive(heard)
    agent = make_agent(feeling_model=model, voice=voice)
    start = agent._core.feelings.mood
    trace = await agent.perceive(heard)
    assert model.judged == [(IRONY, True)]
    assert (trace.appraised_by, trace.affect, trace.degraded) == ("llm", HURT, ())
    assert trace.milliseconds["refine"] >= 0
    assert own.affect.valence > 0 > trace.affect.valence
    assert agent.affect == HURT
    entry = store.entries("phi", [trace.entry_id])[trace.entry_id]
    assert entry.affect == own.affect
    assert trace.importance == own.importance
    np.testing.assert_allclose(
        trace.mood.array(), start.pushed(HURT, heard.timestamp).current.array(), atol=1e-12
    )
    np.testing.assert_allclose(agent.mood.array(), trace.mood.array(), atol=1e-12)
    assert voice.heard[0].mood == trace.mood
    assert store.traces("phi") == [trace]


async def test_memories_that_felt_like_what_the_model_said_come_to_mind(make_agent, percept):
    agent = make_agent(feeling_model=Feels())
    cues = []
    context = agent.memory.context

    def listening(user_id, affect, *args, **more):
        cues.append(affect)
        return context(user_id, affect, *args, **more)

    agent.memory.context = listening
    await agent.perceive(percept())
    assert cues == [HURT]


async def test_the_percept_is_committed_before_the_model_is_asked(make_agent, store, percept):
    model = Feels()
    model.gate.clear()
    agent = make_agent(feeling_model=model)
    turn = asyncio.create_task(agent.perceive(percept()))
    await model.asked.wait()
    (kept,) = store.load("phi").working
    assert (kept.user_text, kept.response) == (IRONY, None)
    assert kept.affect == agent.affect != HURT
    assert store.traces("phi") == []
    model.gate.set()
    assert (await turn).appraised_by == "llm"


async def test_a_failing_model_leaves_our_own_appraisal_and_the_trace_says_so(make_agent, percept):
    heard = percept()
    own_agent = make_agent()
    own = await own_agent.perceive(heard)
    agent = make_agent(
        "Twin", feeling_model=Feels(error=LLMError("the model at x: its appraisal is not JSON"))
    )
    trace = await agent.perceive(heard)
    assert trace.degraded == ("own appraisal: the model at x: its appraisal is not JSON",)
    assert trace.response
    assert (trace.affect, trace.appraised_by, trace.mood) == (own.affect, own.appraised_by, own.mood)
    assert agent.mood == own_agent.mood


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": Kind.THOUGHT},
        {"affect": Affect(0.2, 0.5)},
        {"text": ""},
        {"text": "", "kind": Kind.EVENT, "data": {"event": "under_attack"}},
        {"text": "", "kind": Kind.EVENT, "data": {"event": "no_such_event"}},
    ],
    ids=["silent", "given", "empty", "by rule", "unknown event"],
)
async def test_a_model_is_not_asked_where_it_has_nothing_to_judge(make_agent, percept, changes):
    model = Feels()
    trace = await make_agent(feeling_model=model).perceive(percept(**changes))
    assert model.judged == []
    assert trace.appraised_by != "llm"


async def test_what_happens_meanwhile_is_felt_too_and_stays(make_agent, percept, clock):
    """The correction comes late: what else pushed the mood counts, and what wore off has worn off."""
    first = percept("I won the race!")
    second = percept("they all laughed", addressed=False, affect=Affect(-0.4, 0.6))
    ready = make_agent("Twin")._core.feelings.mood
    model = Feels(affect=Affect(0.9, 0.9))
    model.gate.clear()
    agent = make_agent(feeling_model=model)
    turn = asyncio.create_task(agent.perceive(first))
    await model.asked.wait()
    own = agent.affect
    silent = await agent.perceive(replace(second, kind=Kind.THOUGHT, user_id="phi"))
    between = agent.mood
    model.gate.set()
    trace = await turn
    assert agent.affect == silent.affect
    worn = 0.5 ** (60 / HALF_LIFE_SECONDS)
    push = (
        ready.pushed(model.affect, first.timestamp).current.array()
        - ready.pushed(own, first.timestamp).current.array()
    )
    expected = Affect.of(between.array() + worn * push)  # no axis leaves its range
    np.testing.assert_allclose(agent.mood.array(), expected.array(), atol=1e-12)
    assert trace.mood == ready.pushed(model.affect, first.timestamp).current


async def test_one_event_never_moves_the_mood_more_than_one_push(make_agent, percept):
    for refined in (HURT, Affect(1.0, 1.0), Affect(-1.0, 1.0, 1.0, 1.0, 1.0), Affect()):
        agent = make_agent(feeling_model=Feels(affect=refined))
        heard = percept("I hate you!")
        before = agent._core.feelings.mood.at_time(heard.timestamp).array()
        trace = await agent.perceive(heard)
        assert np.abs(trace.mood.array() - before).max() <= 2 * PUSH


async def test_words_that_were_forgotten_are_not_sent(make_agent, percept, clock):
    model = Feels()
    model.gate.clear()
    agent = make_agent(feeling_model=model)
    first = asyncio.create_task(agent.perceive(percept("first")))
    second = asyncio.create_task(agent.perceive(percept("a secret")))
    await model.asked.wait()
    secret = next(entry for entry in agent.memory.retrieve_working() if entry.user_text == "a secret")
    agent.forget([secret.id], "user_caity", clock.now())
    model.gate.set()
    await asyncio.gather(first, second)
    assert model.judged == [("first", True)]


async def test_whoever_always_shouts_is_not_heard_shouting(make_agent, percept):
    model = Feels()
    await make_agent(feeling_model=model, loud={"user_caity"}).perceive(percept("HELLO THERE"))
    assert model.judged == [("hello there", True)]


@pytest.mark.parametrize("appraise", [True, False])
async def test_the_setting_decides_and_garbage_falls_back(tmp_path, clock, appraise):
    def answer(asked):
        return chat("nothing of the kind") if "response_format" in asked else chat("Hello yourself.")

    async with serving(answer) as server:
        llm = server.settings(appraise=appraise)
        settings = Settings(llm=llm, store={"path": str(tmp_path)}, embedding={"model": "none"})
        society = build(settings, clock=clock, store=MemoryStore())
        trace = await society.perceive("phi", Percept("user_caity", IRONY, clock.now(), addressed=True))
        society.close()
    address = f"the model at http://127.0.0.1:{server.port}/v1"
    own = f"own appraisal: {address}: its appraisal is not a JSON object"
    assert trace.degraded == ((own,) if appraise else ())
    assert trace.appraised_by in ("words", "words+vector")
    assert (trace.response, trace.voice) == ("Hello yourself.", "llm")
    assert len(server.asked) == 1 + appraise


@pytest.mark.slow
async def test_a_slow_appraisal_does_not_take_the_reply_with_it(tmp_path, clock):
    def answer(asked):
        return Answer(hold=True) if "response_format" in asked else chat("Hello yourself.")

    async with serving(answer) as server:
        llm = server.settings(appraise=True, timeout_seconds=4.0)
        settings = Settings(llm=llm, store={"path": str(tmp_path)}, embedding={"model": "none"})
        society = build(settings, clock=clock, store=MemoryStore())
        trace = await society.perceive("phi", Percept("user_caity", IRONY, clock.now(), addressed=True))
        society.close()
    assert len(trace.degraded) == 1
    assert "did not answer within 2 s" in trace.degraded[0]
    assert (trace.response, trace.voice) == ("Hello yourself.", "llm")
