"""How an agent comes to its words: lenses in one call or in several, without a model, late, or overtaken."""

import asyncio
import re
from dataclasses import replace

import pytest

from noodlings.agent.archive import AgentArchive
from noodlings.embed.queue import EmbeddingQueue
from noodlings.errors import LLMError
from noodlings.ports import Speech
from noodlings.values.affect import Affect
from noodlings.values.percept import Kind, Percept
from noodlings.values.persona import TRANSISTORS

AFRAID = Affect(-0.8, 0.9, 0.9, 0.2, 0.0)
LOUD = dict.fromkeys(TRANSISTORS, 1.0)
HEARD = "My boss screams at me"


class Voice:
    """A model that notes what it is asked; each word of it may wait, be late, or fail."""

    name = "llm"

    def __init__(self, error=None, unseeing=None, late=False):
        self.error, self.unseeing, self.late = error, unseeing, late
        self.asked, self.lenses = [], []
        self.gate, self.called = asyncio.Event(), asyncio.Event()
        self.gate.set()

    async def speak(self, utterance, allowance):
        self.asked.append(utterance)
        allowance.calls += 1
        if self.late:
            allowance.late()
            allowance.late()
        self.called.set()
        await self.gate.wait()
        if self.error:
            raise self.error
        return Speech("I hear you.")

    async def modulate(self, thought, lens, utterance, allowance):
        allowance.calls += 1
        self.lenses.append(lens.transistor)
        if lens.transistor == self.unseeing:
            raise LLMError("it cannot see")
        return f"{thought} <{lens.transistor}>"


@pytest.fixture
def percept(clock):
    def make(text=HEARD, user="user_caity", **changes):
        clock.advance(60)
        return Percept(user, text, clock.now(), **({"addressed": True, "affect": AFRAID} | changes))

    return make


@pytest.fixture
def watched(make_agent):
    """An agent with everything turned up, and the steps that it was seen to take."""

    def make(**changes):
        seen = []
        agent = make_agent(gains=LOUD, watchers=[seen.append], **changes)
        return agent, seen

    return make


def how(trace):
    return {made.transistor: made.how for made in trace.modulations}


async def test_fused_a_model_is_handed_all_lenses_in_one_call(make_agent, percept):
    voice = Voice()
    agent = make_agent(gains=LOUD, voice=voice)
    trace = await agent.perceive(percept())
    (asked,) = voice.asked
    assert asked.lenses[0].transistor == "affect"
    fused = {name for name, done in how(trace).items() if done == "fused"}
    assert fused == {lens.transistor for lens in asked.lenses}
    assert set(how(trace)) == set(TRANSISTORS)
    assert all((made.before, made.after) == ("", "") for made in trace.modulations)
    assert all(made.lens for made in trace.modulations if made.how == "fused")
    assert (trace.response, trace.voice, trace.calls, voice.lenses) == ("I hear you.", "llm", 1, [])


async def test_serial_it_is_asked_for_each_and_each_takes_up_where_the_last_left_off(make_agent, percept):
    voice = Voice()
    agent = make_agent(gains=LOUD, voice=voice, fused=False)
    trace = await agent.perceive(percept())
    assert voice.asked[0].lenses == ()
    assert voice.lenses == [name for name, done in how(trace).items() if done == "serial"] != []
    assert trace.thought == trace.modulations[0].before == "I hear you."
    for one, following in zip(trace.modulations, trace.modulations[1:], strict=False):
        assert one.after == following.before
    assert trace.response == trace.modulations[-1].after
    assert trace.calls == 1 + len(voice.lenses)


async def test_serial_a_lens_that_fails_leaves_the_thought_and_is_told(make_agent, percept):
    agent = make_agent(gains=LOUD, voice=Voice(unseeing="affect"), fused=False)
    trace = await agent.perceive(percept())
    assert how(trace)["affect"] == "failed"
    assert trace.voice == "llm"
    assert trace.degraded == ("transistor affect: it cannot see",)
    assert "<affect>" not in trace.response


@pytest.mark.parametrize("fused", [True, False])
async def test_where_the_model_fails_the_offline_voice_speaks_through_the_same_transistors(
    make_agent, percept, fused
):
    agent = make_agent(gains=LOUD, voice=Voice(LLMError("it broke off")), fused=fused)
    trace = await agent.perceive(percept())
    assert (trace.voice, trace.calls) == ("offline", 1)
    assert trace.degraded == ("offline voice: it broke off",)
    assert how(trace)["affect"] == "offline"
    assert trace.response == trace.modulations[-1].after != trace.thought


async def test_gain_0_switches_a_transistor_off(make_agent, percept):
    voice = Voice()
    agent = make_agent(voice=voice)
    trace = await agent.perceive(percept())
    assert set(how(trace).values()) == {"off"}
    assert voice.asked[0].lenses == ()
    offline = await make_agent("Twin").perceive(percept())
    assert offline.response == offline.thought


# -- whoever looks on


async def test_the_steps_of_a_turn_are_told_in_order(watched, store, percept):
    agent, seen = watched()
    trace = await agent.perceive(percept())
    assert [turn_event.step for turn_event in seen] == ["perceived", "recall", "speech", "turn"]
    assert {(turn_event.agent_id, turn_event.entry_id) for turn_event in seen} == {("phi", trace.entry_id)}
    assert seen[-1].trace == trace
    assert seen[0].trace.response is None


async def test_what_is_told_as_perceived_is_kept_by_then(make_agent, store, percept):
    kept = []
    agent = make_agent(
        watchers=[lambda seen: kept.append(seen.entry_id in store.entries("phi", [seen.entry_id]))]
    )
    await agent.perceive(percept())
    await agent.perceive(percept(addressed=False, depth=3))
    assert kept == [True] * len(kept) != []


async def test_silence_is_told_too(watched, percept):
    agent, seen = watched()
    await agent.perceive(percept(addressed=False, depth=3))
    assert [turn_event.step for turn_event in seen] == ["perceived", "turn"]


async def test_a_watcher_that_fails_breaks_nothing(make_agent, store, percept, caplog):
    seen = []

    def failing(turn_event):
        raise RuntimeError("no eyes")

    agent = make_agent(watchers=[failing, seen.append])
    trace = await agent.perceive(percept())
    assert trace.response
    assert store.traces("phi") == [trace]
    assert [turn_event.step for turn_event in seen] == ["perceived", "recall", "speech", "turn"]
    assert caplog.text.count("a watcher of phi failed") == 4


async def test_a_watcher_that_goes_in_the_midst_hears_no_more(make_agent, percept):
    seen, others, watchers = [], [], []

    def once(turn_event):
        seen.append(turn_event.step)
        watchers.remove(once)

    watchers += [once, others.append]
    agent = make_agent(watchers=watchers)
    await agent.perceive(percept())
    assert seen == ["perceived"]
    assert len(others) == 4


# -- late


async def test_a_late_reply_is_seen_to_be_thought_about_once(watched, percept):
    agent, seen = watched(voice=Voice(late=True))
    trace = await agent.perceive(percept())
    assert [turn_event.step for turn_event in seen] == ["perceived", "recall", "thinking", "speech", "turn"]
    assert trace.response == "I hear you."


async def late_then(agent, voice, percept, following):
    """A question whose answer is late, something else meanwhile, and the trace of the question."""
    voice.gate.clear()
    asked = asyncio.create_task(agent.perceive(percept("how was it?")))
    await voice.called.wait()
    after = asyncio.create_task(agent.perceive(following()))
    await asyncio.sleep(0)
    voice.gate.set()
    trace = await asked
    await after
    return trace


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"text": "never mind. what time is it?"}, "thought for so long that something else had been asked"),
        (
            {"text": "leaves", "kind": Kind.LEAVE, "addressed": False},
            "thought for so long that the other had gone",
        ),
    ],
)
async def test_a_late_reply_that_makes_no_sense_any_more_is_not_given(
    make_agent, store, percept, changes, why
):
    voice = Voice(late=True)
    agent = make_agent(gains=LOUD, voice=voice)
    trace = await late_then(agent, voice, percept, lambda: percept(**changes))
    assert (trace.response, trace.decision) == (None, why)
    assert (trace.thought, trace.modulations, trace.recalled) == ("", (), ())
    entry = store.entries("phi", [trace.entry_id])[trace.entry_id]
    assert (entry.user_text, entry.response) == ("how was it?", None)
    assert store.traces("phi", 1, trace.entry_id + 1) == [trace]


@pytest.mark.parametrize(
    "changes",
    [
        {"text": "hello, Phi", "user": "user_bob"},
        {"text": "nods", "kind": Kind.EMOTE, "addressed": False},
        {"text": "and in the garden?", "place": "garden"},
    ],
)
async def test_a_late_reply_that_still_makes_sense_is_given(make_agent, percept, changes):
    voice = Voice(late=True)
    agent = make_agent(voice=voice)
    assert (await late_then(agent, voice, percept, lambda: percept(**changes))).response == "I hear you."


async def test_a_reply_in_time_is_given_whatever_came_meanwhile(make_agent, percept):
    voice = Voice()
    agent = make_agent(voice=voice)
    trace = await late_then(agent, voice, percept, lambda: percept("never mind. what time is it?"))
    assert trace.response == "I hear you."


# -- sentence by sentence


class Speaking(Voice):
    """A model that says two sentences, or only the first; before the second one things may happen."""

    def __init__(self, between=lambda: None, cut="", late=False):
        super().__init__(late=late)
        self.between, self.cut = between, cut

    async def speak(self, utterance, allowance):
        speech = await super().speak(utterance, allowance)
        if allowance.said is not None:
            allowance.said("A boat lies there.")
        self.between()
        return replace(speech, text="A boat lies there." + " Nobody is in it." * (not self.cut), cut=self.cut)


def parts(seen):
    return [turn_event.said for turn_event in seen if turn_event.step == "speech"]


async def test_sentences_are_told_as_they_are_made_and_then_the_rest(watched, percept):
    agent, seen = watched(voice=Speaking())
    told = []
    trace = await agent.perceive(percept(), told.append)
    assert told == parts(seen) == ["A boat lies there.", "Nobody is in it."]
    assert trace.response == " ".join(told)
    first = next(turn_event for turn_event in seen if turn_event.step == "speech")
    assert (first.trace.response, first.trace.audience) == (None, trace.audience)


async def test_what_is_changed_after_the_model_is_told_as_a_whole(watched, percept):
    agent, seen = watched(voice=Speaking(), fused=False)
    trace = await agent.perceive(percept())
    assert parts(seen) == [trace.response]


async def test_an_answer_that_is_begun_is_ended_though_something_else_is_asked(watched, percept):
    agent, _ = watched(voice=(voice := Speaking(late=True)))
    others = []
    voice.between = lambda: others.append(asyncio.create_task(agent.perceive(percept("and there?"))))
    trace = await agent.perceive(percept("what lies there?"))
    await others[0]
    assert trace.response == "A boat lies there. Nobody is in it."


async def test_an_answer_that_is_overtaken_is_not_begun(watched, percept):
    agent, seen = watched(voice=(voice := Speaking(late=True)))
    voice.gate.clear()
    first = asyncio.create_task(agent.perceive(percept("what lies there?")))
    await voice.called.wait()
    second = asyncio.create_task(agent.perceive(percept("and there?")))
    await asyncio.sleep(0)  # it is taken in before it waits for anything
    assert [turn_event.step for turn_event in seen].count("perceived") == 2
    voice.gate.set()
    assert (await first).response is None
    assert (await second).response == " ".join(parts(seen))


async def test_what_is_forgotten_while_it_speaks_is_not_kept_as_said(watched, percept, clock, store):
    agent, seen = watched(voice=(voice := Speaking()))
    told = await agent.perceive(percept("my boat is called Rosalind"))
    voice.between = lambda: agent.forget([told.entry_id], "user_caity", clock.now())
    trace = await agent.perceive(percept("what lies there?"))
    assert (trace.response, trace.thought) == (None, "")
    assert trace.decision == "something it remembered was forgotten while it was speaking"
    assert store.entries("phi", [trace.entry_id])[trace.entry_id].response is None
    assert parts(seen)[2:] == ["A boat lies there."]


async def test_a_reply_that_is_cut_off_says_why(watched, percept):
    agent, seen = watched(voice=Speaking(cut="it stopped arriving"))
    trace = await agent.perceive(percept())
    assert (parts(seen), trace.response) == (["A boat lies there."], "A boat lies there.")
    assert trace.degraded == ("the rest of the reply is missing: it stopped arriving",)


class Repeating(Voice):
    """A model that repeats the made-up words of the earlier talk, when it is told of soup."""

    async def speak(self, utterance, allowance):
        talk = " ".join(f"{entry.user_text} {entry.response}" for entry in utterance.history)
        about = sorted(set(re.findall(r"zarn\w*", talk))) if "soup" in utterance.percept.text else ["Well"]
        return Speech(" ".join(about))


@pytest.mark.slow
async def test_what_is_repeated_of_the_earlier_talk_is_forgotten_with_it(make_agent, store, clock):
    agent, answers = make_agent(voice=Repeating()), {}
    both = frozenset({"user_caity", "user_toad"})
    sad = [f"My dog number {number} died, and I cried" for number in range(23)]
    for number, text in enumerate(
        ["the zarnok is by the mill", *sad[:12], "nice soup", *sad[12:], "soup!"], 1
    ):
        clock.advance(60)
        who = "user_caity" if number == 1 else "user_toad"
        said = Percept(who, text, clock.now(), addressed="soup" in text, present=both)
        trace = await agent.perceive(said)
        answers[number] = trace.response
        assert "soup" not in text or 1 not in {found.entry_id for found in trace.recalled}
    assert (answers[14], answers[26]) == ("zarnok", "zarnok")  # in the second, repeated from the first
    forgotten = agent.forget([1], "user_caity", clock.now())
    assert forgotten.redacted == (14, 26)
    kept = [store.load("phi"), *store.entries("phi", list(answers)).values(), *store.traces("phi", 99)]
    assert "zarnok" not in str(kept)


async def test_corrected_words_stand_in_the_talk_before(make_agent, store, clock):
    agent = make_agent(voice=Repeating())
    await agent.perceive(Percept("user_caity", "the boat is called zarnok", clock.now(), addressed=True))
    right = agent.correct(store.archive("phi")[0], "the boat is called zarnia")
    agent.correct(right, "the boat is called zarnak")
    trace = await agent.perceive(Percept("user_caity", "soup!", clock.now(), addressed=True))
    assert trace.response == "zarnak"


class Forgetting(Voice):
    """A model while whose answers something is forgotten."""

    def forget(self):
        pass

    async def speak(self, utterance, allowance):
        speech = await super().speak(utterance, allowance)
        self.forget()
        return speech


@pytest.mark.slow
@pytest.mark.parametrize(("shown", "judged"), [(True, False), (False, True), (False, False)])
async def test_an_answer_is_begun_anew_for_what_it_was_shown_and_not_for_ever(
    make_agent, percept, store, clock, shown, judged
):
    """What it makes of a person present is made of all their lines."""
    archive = AgentArchive("phi", store, EmbeddingQueue())
    agent = make_agent(voice=(voice := Forgetting()), archive=archive)
    both = frozenset({"user_caity", "user_toad"})
    for number in range(60):
        await agent.perceive(percept(f"boat {number}", "user_toad", present=both, depth=9))

    def forget():
        there, told = {entry.id for entry in store.archive("phi")}, voice.asked[-1].entry_ids
        agent.forget([min(there & told if shown else there - told)], "user_toad", clock.now())

    voice.forget = forget
    present = both if judged else frozenset({"user_caity"})
    trace = await agent.perceive(percept("how is the harbour?", present=present))
    anew = shown or judged
    assert len(voice.asked) == (3 if anew else 1)
    assert trace.voice == ("offline" if anew else "llm")
    assert trace.response


async def test_an_answer_is_made_of_corrections_and_of_what_moved_the_agent(make_agent, percept):
    agent = make_agent(voice=(voice := Forgetting()))
    made_of = set()

    def note():
        turn, utterance = agent._unit_of_work.under_way[0], voice.asked[0]
        first, *others = utterance.recalled
        corrected = replace(first, supersedes=(97,), superseded_by=98)
        turn.regard = replace(turn.regard, evidence=(99,))
        made_of.update(agent._responder._made_of(turn, replace(utterance, recalled=(corrected, *others))))

    await agent.perceive(percept("the boat is by the mill"))
    voice.asked.clear()
    voice.forget = note
    await agent.perceive(percept("where is the boat?"))
    assert made_of >= {97, 98, 99}
