"""What was recalled is felt again, and decides the tone of a turn."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.agent.agent import Agent
from noodlings.agent.archive import AgentArchive
from noodlings.agent.tone import SORROW_LINES, felt_with, tone_of, touched
from noodlings.clock import ManualClock
from noodlings.store.memory import MemoryStore
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.memory import MemoryEntry, Recalled, Why
from noodlings.values.percept import Percept
from noodlings.values.reading import LineReading, LineTopics
from noodlings.values.tone import PLAIN, Tone, ToneName, ToneSource
from noodlings.values.topic import ToldTopic
from noodlings.values.trace import Trace
from tests.agent.embedders import Still
from tests.memory.entries import an_entry

SORROW = Affect(-0.8, 0.5, 0.1, 0.9)
JOY = Affect(0.8, 0.7)
REMARK = Percept("user_caity", "my dog would have loved this", 0.0)


def lived(number: int, affect: Affect | None = SORROW, importance: float = 0.8) -> MemoryEntry:
    return an_entry(number, user_text="My dog died yesterday", affect=affect, encoded_importance=importance)


def brought(entry: MemoryEntry, **scores: float) -> Recalled:
    return Recalled(entry, (Why.SEMANTIC,), 0.5, {Why(name).value: score for name, score in scores.items()})


# -- what is touched on


def felt_again(
    text: str, found: list[Recalled], worth: float | None = 0.2, later: float = 86_400.0, lines: int = 5
) -> MemoryEntry | None:
    last = found[-1].entry
    said = an_entry(last.id + lines, user_text=text, timestamp=last.timestamp + later, encoded_importance=0.4)
    return touched(text, said, found, None if worth is None else LineReading(0.0, worth))


def test_of_what_a_remark_touches_on_the_most_moving_is_felt_again() -> None:
    joy, grief = lived(1, JOY, 0.5), lived(2)
    both = [brought(joy, semantic=0.9), brought(grief, lexical=0.4)]
    assert felt_again(REMARK.text, both) == grief
    assert felt_again(REMARK.text, both[:1]) == joy


@pytest.mark.parametrize(
    ("topic", "felt"),
    [(ToldTopic.FOUND, False), (ToldTopic.MADE_UP, False), (ToldTopic.PET, True), (None, True)],
)
def test_what_has_come_right_is_no_grief_again(topic: ToldTopic | None, felt: bool) -> None:
    lost = lived(1)
    said = an_entry(6, user_text="the dog came back by itself", timestamp=lost.timestamp + 86_400.0)
    reading = LineReading(0.0, 0.2, topics=LineTopics(told=topic))
    assert (touched(said.user_text, said, [brought(lost, semantic=0.9)], reading) is lost) == felt
    joy = lived(1, JOY)
    assert touched(said.user_text, said, [brought(joy, semantic=0.9)], reading) is joy


@pytest.mark.parametrize(
    "found",
    [
        brought(lived(1), semantic=0.1),
        brought(lived(1), semantic=0.1, lexical=0.4),
        brought(an_entry(1, user_text="it rained", affect=SORROW, encoded_importance=0.8), lexical=0.4),
        brought(lived(1), semantic=0.9, touched=0.02),
        brought(lived(1), recent=1.0, important=0.8, affect=1.0),
        brought(lived(1, importance=0.2), semantic=0.9),
        brought(lived(1, affect=None), semantic=0.9),
        brought(lived(1, affect=NEUTRAL), semantic=0.9),
    ],
    ids=[
        "far",
        "of another matter",
        "no word in common",
        "a model tells that it is another matter",
        "there for other reasons",
        "a trifle",
        "nothing known",
        "nothing felt",
    ],
)
def test_nothing_else_is_felt_again(found: Recalled) -> None:
    assert felt_again(REMARK.text, [found]) is None


def test_a_model_tells_what_no_likeness_does() -> None:
    far = brought(lived(1), semantic=0.1, touched=0.4)
    assert felt_again("the lead still hangs by the door", [far]) == far.entry


def test_in_the_same_talk_a_remark_touches_only_on_what_it_shares_a_word_with() -> None:
    far, near = brought(lived(1), semantic=0.5, touched=0.9), brought(lived(2), semantic=0.5, lexical=0.4)
    assert felt_again("the lead still hangs by the door", [far], later=600.0) is None
    assert felt_again("the lead still hangs by the door", [far], later=3_600.0) == far.entry
    assert felt_again("the lead still hangs by the door", [far], later=600.0, lines=12) == far.entry
    assert felt_again(REMARK.text, [near], later=600.0) == near.entry


def test_news_is_felt_by_itself_and_a_question_with_what_answers_it() -> None:
    shared = brought(lived(1), semantic=0.9, lexical=0.4, touched=0.9)
    assert felt_again("my sister got a dog", [shared], 0.49) == shared.entry
    assert felt_again("my sister got a dog", [shared], 0.5) is None
    joy, grief = (
        brought(lived(1, JOY), semantic=0.9, answer=0.01),
        brought(lived(2), semantic=0.2, answer=0.3),
    )
    assert felt_again("what happened to my dog?", [joy, grief], 0.7) == grief.entry
    assert felt_again("where did my dog sleep?", [joy], 0.7) is None
    assert felt_again("where did my dog sleep?", [shared], 0.7) == shared.entry  # nobody read it


def test_a_word_in_common_counts_whatever_a_model_tells() -> None:
    shared = brought(lived(1), semantic=0.3, lexical=0.4, touched=0.02)
    assert felt_again(REMARK.text, [shared]) == shared.entry


def test_a_line_that_says_nothing_by_itself_touches_on_nothing() -> None:
    assert felt_again("ok", [brought(lived(1), semantic=0.9)]) is None


affects = st.builds(
    Affect, st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)
)


@given(affects, st.floats(0, 1), affects, st.floats(0.01, 1))
def test_what_is_felt_together_lies_between_both(
    now: Affect, importance: float, then: Affect, mattered: float
) -> None:
    felt = felt_with(now, importance, lived(1, then, mattered))
    for axis, one, other in zip(felt.as_list(), now.as_list(), then.as_list(), strict=True):
        assert min(one, other) - 1e-9 <= axis <= max(one, other) + 1e-9


# -- the tone


@pytest.mark.parametrize(
    ("affect", "importance", "tone"),
    [
        (SORROW, 0.7, Tone(ToneName.GRAVE)),
        (JOY, 0.7, Tone(ToneName.GLAD)),
        (NEUTRAL, 0.7, PLAIN),
        (SORROW, 0.1, PLAIN),
        (JOY, 0.1, PLAIN),
    ],
    ids=["grave", "glad", "plain", "a trifle complained of", "a trifle praised"],
)
def test_what_is_said_sets_the_tone_where_it_matters(affect: Affect, importance: float, tone: Tone) -> None:
    assert tone_of(affect, importance, None, []) == tone


def test_a_glad_remark_that_touches_a_grief_is_grave_and_great_news_are_not() -> None:
    grief = lived(7)
    assert tone_of(JOY, 0.2, grief, []) == Tone(ToneName.GRAVE, ToneSource.RECALLED, 7)
    assert tone_of(JOY, 0.6, grief, []) == Tone(ToneName.GLAD)


def test_a_sorrow_lies_on_what_is_said_after_it_until_something_better_is_told() -> None:
    grief, idle, joy = lived(1), lived(2, NEUTRAL, 0.1), lived(3, JOY)
    grave = Tone(ToneName.GRAVE, ToneSource.BEFORE, 1)
    assert tone_of(NEUTRAL, 0.1, None, [grief]) == grave
    assert tone_of(NEUTRAL, 0.1, None, [grief, idle]) == grave
    assert tone_of(NEUTRAL, 0.1, None, [grief, *[idle] * SORROW_LINES]) == PLAIN
    assert tone_of(NEUTRAL, 0.1, None, [grief, joy]) == PLAIN


# -- in a living agent


async def test_a_remark_is_felt_with_the_grief_that_it_touches_on(
    make_agent: Callable[..., Agent], clock: ManualClock, store: MemoryStore, embedding: Still
) -> None:
    agent = make_agent(archive=AgentArchive("phi", store, embedding))

    async def say(text: str) -> Trace:
        clock.advance(4_000)
        await agent.perceive(Percept("user_caity", text, clock.now(), addressed=True))
        return store.traces("phi")[0]

    told = await say("My dog died yesterday")
    assert told.tone == Tone(ToneName.GRAVE)
    for text in ("the bus is here", "where is the map?"):
        assert (await say(text)).tone == PLAIN
    mentioned = await say("my dog would have loved this garden")
    assert mentioned.tone == Tone(ToneName.GRAVE, ToneSource.RECALLED, told.entry_id)
    entry = agent.memory.find(mentioned.entry_id)
    assert entry is not None
    assert entry.affect is not None
    assert entry.affect.valence > 0.0 > mentioned.affect.valence  # what was encoded stays


async def test_news_is_felt_by_itself_whatever_it_touches_on(
    make_agent: Callable[..., Agent], clock: ManualClock, store: MemoryStore, embedding: Still
) -> None:
    agent = make_agent(archive=AgentArchive("phi", store, embedding))
    for text in ("My dog died yesterday", "My dog is alive! I am so happy, we found him, I love you all!"):
        clock.advance(4_000)
        await agent.perceive(Percept("user_caity", text, clock.now(), addressed=True))
    news = store.traces("phi")[0]
    entry = agent.memory.find(news.entry_id)
    assert news.tone == Tone(ToneName.GLAD)
    assert entry is not None
    assert entry.affect is not None
    assert entry.affect.valence == pytest.approx(news.affect.valence, abs=0.05)


async def test_what_was_said_before_lies_on_ok(
    make_agent: Callable[..., Agent], clock: ManualClock, store: MemoryStore
) -> None:
    agent = make_agent()
    for text in ("My dog died yesterday", "ok"):
        clock.advance(20)
        await agent.perceive(Percept("user_caity", text, clock.now(), addressed=True))
    after, told = store.traces("phi", 2)
    assert after.tone == Tone(ToneName.GRAVE, ToneSource.BEFORE, told.entry_id)
