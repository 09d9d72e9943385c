"""What each of the five reads, when it has nothing to add, and that no secret gets into a lens."""

from dataclasses import replace

import pytest

from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.mind.appetites import Goal
from noodlings.transistors.base import FAINT
from noodlings.transistors.builtin import (
    AffectTransistor,
    EgoTransistor,
    GoalTransistor,
    MemoryTransistor,
    SubconsciousTransistor,
)
from noodlings.transistors.chain import _THE_FIVE
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.audience import confined_to
from noodlings.values.memory import Recalled, Why
from noodlings.values.percept import Kind
from tests.fakes import make_persona
from tests.transistors.states import (
    AFRAID,
    BOB,
    BORED,
    CAITY,
    CURIOUS,
    GLAD,
    NOW,
    SAD,
    make_state,
    remembered,
    symbol,
)

five = pytest.mark.parametrize("transistor", _THE_FIVE.values(), ids=list(_THE_FIVE))


@pytest.fixture
def memory() -> HierarchicalMemory:
    """Everything in it is episodic."""
    return HierarchicalMemory(surprise_threshold=0.0)


# -- affect


@pytest.mark.parametrize(
    ("affect", "cue"), [(SAD, "sorrow"), (AFRAID, "fear"), (GLAD, "joy"), (BORED, "boredom")]
)
def test_a_feeling_gives_the_cue_and_is_never_to_be_named(affect: Affect, cue: str) -> None:
    lens = AffectTransistor().lens(make_state(affect=affect))
    assert lens is not None
    assert lens.cue == cue
    assert "Never name" in lens.direction


def test_the_stronger_of_affect_and_mood_colours() -> None:
    lens = AffectTransistor().lens(make_state(affect=Affect(0.4, 0.5), mood=SAD))
    assert lens is not None
    assert (lens.cue, lens.strength) == ("sorrow", SAD.intensity)


def test_the_usual_self_is_no_colour() -> None:
    cheerful = make_persona("Phi", baseline=Affect(0.35, 0.6))
    assert AffectTransistor().lens(make_state(persona=cheerful, mood=cheerful.baseline)) is None
    assert AffectTransistor().lens(make_state(persona=cheerful, mood=SAD)) is not None


@pytest.mark.parametrize("affect", [NEUTRAL, Affect(0.2, 0.5), Affect(0.35, 0.1)])
def test_what_is_hardly_felt_shows_in_nothing(affect: Affect) -> None:
    assert AffectTransistor().lens(make_state(affect=affect)) is None


# -- goal


def test_a_want_needs_a_history_and_brings_it(memory: HierarchicalMemory) -> None:
    assert GoalTransistor().lens(make_state(memory=memory, goals=(CURIOUS,))) is None
    number = remembered(memory, "there is a box", NEUTRAL, surprise=0.9)
    lens = GoalTransistor().lens(make_state(memory=memory, goals=(CURIOUS,)))
    assert lens is not None
    assert (lens.cue, lens.strength) == ("curiosity", pytest.approx(0.7 * FAINT))
    assert lens.notes == ("find out what is behind this", "so far nothing came of it")
    assert [entry.id for entry in lens.entries] == [number]


def test_a_want_that_is_at_stake_now_goes_first_and_is_strong(memory: HierarchicalMemory) -> None:
    remembered(memory, "there is a box", AFRAID, surprise=0.9)
    goals = (replace(CURIOUS, level=0.9), Goal("safety", 0.7, "make sure that all is well"))
    quiet = GoalTransistor().lens(make_state(memory=memory, goals=goals))
    scared = GoalTransistor().lens(make_state(affect=AFRAID, memory=memory, goals=goals))
    assert quiet is not None
    assert scared is not None
    assert (quiet.cue, scared.cue, scared.strength) == ("curiosity", "safety", 0.7)


def test_a_goal_that_somebody_set_brings_its_own_words(memory: HierarchicalMemory) -> None:
    own = Goal("mastery", 0.9, "master debugging")
    lens = GoalTransistor().lens(make_state(memory=memory, goals=(own,)))
    assert lens is not None
    assert lens.notes[0] == "master debugging"
    assert all("{want}" in phrase for phrase in lens.phrases)
    common = GoalTransistor().lens(make_state(memory=memory, goals=(replace(CURIOUS, level=0.95),)))
    assert common is not None
    assert common.phrases == ()


def test_words_tell_of_a_want_too(memory: HierarchicalMemory) -> None:
    number = remembered(memory, "I want to learn to master this lock", None, surprise=0.2)
    lens = GoalTransistor().lens(make_state(memory=memory, goals=(Goal("mastery", 0.7, "get better"),)))
    assert lens is not None
    assert [entry.id for entry in lens.entries] == [number]


def test_what_came_of_it_is_told(memory: HierarchicalMemory) -> None:
    remembered(memory, "you were wonderful", GLAD, addressed=True)
    remembered(memory, "you are no use", Affect(-0.8, 0.7), addressed=True)
    lens = GoalTransistor().lens(make_state(memory=memory, goals=(Goal("status", 0.7, "be seen"),)))
    assert lens is not None
    assert lens.notes[1].startswith("it came to something at times")


def test_a_pressing_want_needs_no_history_and_a_sated_one_is_none(memory: HierarchicalMemory) -> None:
    pressing = replace(CURIOUS, level=0.95)
    assert GoalTransistor().lens(make_state(memory=memory, goals=(pressing,))) is not None
    assert GoalTransistor().lens(make_state(memory=memory)) is None


# -- memory


def test_moments_alike_in_feeling_come_along(memory: HierarchicalMemory) -> None:
    dog = remembered(memory, "my dog died", SAD)
    remembered(memory, "I won", GLAD)
    lens = MemoryTransistor().lens(make_state(affect=SAD, memory=memory))
    assert lens is not None
    assert [entry.id for entry in lens.entries] == [dog]
    assert lens.strength == pytest.approx(1.0)
    assert MemoryTransistor().lens(make_state(affect=NEUTRAL, memory=memory)) is None


def test_what_is_the_answer_already_does_not_come_again(memory: HierarchicalMemory) -> None:
    dog = remembered(memory, "my dog died", SAD)
    entry = memory.find(dog)
    assert entry is not None
    answer = (Recalled(entry, (Why.LEXICAL,), 0.9),)
    in_mind = (Recalled(entry, (Why.AFFECT, Why.LEXICAL), 0.9),)
    assert MemoryTransistor().lens(make_state(affect=SAD, memory=memory, recalled=answer)) is None
    assert MemoryTransistor().lens(make_state(affect=SAD, memory=memory, recalled=in_mind)) is not None


def test_what_is_answered_and_what_it_said_itself_is_no_memory(memory: HierarchicalMemory) -> None:
    remembered(memory, "it rained", SAD, timestamp=NOW)
    remembered(memory, "I mourn", SAD, user="agent_phi")
    remembered(memory, "dark thoughts", SAD, user="phi", kind=Kind.THOUGHT)
    assert MemoryTransistor().lens(make_state("it rained", SAD, memory=memory)) is None


# -- subconscious


def test_symbols_come_by_feeling() -> None:
    lens = SubconsciousTransistor().lens(make_state(affect=SAD, symbols=[symbol(), symbol(2, affect=GLAD)]))
    assert lens is not None
    assert [found.id for found in lens.symbols] == [1]
    assert "boat" not in lens.direction
    assert SubconsciousTransistor().lens(make_state(affect=NEUTRAL, symbols=[symbol()])) is None
    assert SubconsciousTransistor().lens(make_state(affect=SAD, subconscious=None)) is None


# -- ego


def test_defining_moments_and_words_keep_it_itself(memory: HierarchicalMemory) -> None:
    remembered(memory, "a kitten needs whiskers", NEUTRAL, identity_salience=0.8)
    remembered(memory, "it is late", NEUTRAL, identity_salience=0.1)
    lens = EgoTransistor().lens(make_state(memory=memory))
    assert lens is not None
    assert lens.notes == ("kitten", "whiskers")
    assert [entry.user_text for entry in lens.entries] == ["a kitten needs whiskers"]
    assert lens.strength == pytest.approx(0.8 * FAINT)
    now = EgoTransistor().lens(make_state("you are no kitten at all, your whiskers are wool", memory=memory))
    assert now is not None
    assert now.strength == 0.8


def test_a_word_of_its_own_touches_it_and_its_name_does_not() -> None:
    touched = EgoTransistor().lens(make_state("what fine whiskers"))
    assert touched is not None
    assert touched.cue == "whiskers"
    assert EgoTransistor().lens(make_state("hello phi")) is None


# -- all of them


@five
def test_an_empty_mind_adds_nothing(transistor) -> None:
    assert transistor().lens(make_state()) is None


@five
def test_nothing_private_that_a_listener_lacks_gets_into_a_lens(
    transistor, memory: HierarchicalMemory
) -> None:
    secret = "a kitten with whiskers wants to learn why I am lonely"
    remembered(memory, secret, SAD, user=BOB, kind=Kind.WHISPER, surprise=1.0, identity_salience=1.0)
    hidden = symbol(audience=confined_to({BOB}))
    alone = make_state(affect=SAD, memory=memory, symbols=[hidden], goals=(CURIOUS,))
    lens = transistor().lens(alone)
    assert lens is None or not (lens.entries or lens.symbols)
    # Bob is there, but Caity listens too.
    both = make_state(affect=SAD, memory=memory, symbols=[hidden], goals=(CURIOUS,), present=frozenset({BOB}))
    lens = transistor().lens(both)
    assert lens is None or not (lens.entries or lens.symbols)


def test_a_secret_may_colour_what_its_teller_hears(memory: HierarchicalMemory) -> None:
    remembered(memory, "I am lonely", SAD, kind=Kind.WHISPER)
    own = symbol(audience=confined_to({CAITY}))
    state = make_state(affect=SAD, memory=memory, symbols=[own])
    assert MemoryTransistor().lens(state) is not None
    assert SubconsciousTransistor().lens(state) is not None


@five
async def test_at_gain_0_nothing_is_read_and_the_thought_stays(
    transistor, memory: HierarchicalMemory
) -> None:
    remembered(memory, "a kitten needs whiskers", SAD, identity_salience=0.8, surprise=0.9)
    state = make_state(affect=SAD, memory=memory, symbols=[symbol()], goals=(CURIOUS,))
    assert transistor(1.0).lens(state) is not None
    assert await transistor(0.0).modulate("a thought.", state) == "a thought."
    assert await transistor(1.0).modulate("a thought.", state) != "a thought."
