"""What is asked before an answer, and what comes to mind: nothing private, nothing twice, nothing by luck."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.agent import memory_question
from noodlings.agent.agent import Agent
from noodlings.agent.archive import PAGE, SOON, AgentArchive
from noodlings.agent.close_reading import (
    CLAUSE_WORDS,
    LONGEST_READ,
    MOST_READ,
    PHRASES,
    _answering_words,
    _likelier,
)
from noodlings.agent.memory_question import question, subject
from noodlings.agent.recollection import (
    FAR,
    FLOOR,
    MOST,
    _with_answers,
    linked,
    recollections,
    talk_budget,
)
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import ContextSettings, Settings
from noodlings.embed.queue import EmbeddingQueue
from noodlings.ports import Answer
from noodlings.recall.search import Hit
from noodlings.reflection.relations import TALK_SECONDS
from noodlings.store.memory import MemoryStore
from noodlings.text import forget_texts
from noodlings.values.memory import EntryVector, Link, LinkType, MemoryEntry, Recalled, Why
from noodlings.values.percept import Kind, Percept
from noodlings.values.trace import RecalledTrace, Trace
from tests.agent.archives import filled
from tests.agent.embedders import Flaky, Larger, Still, Time
from tests.fakes import HashingEmbedder, make_persona
from tests.memory.entries import an_entry

NOW = 1_000_000.0
PHI = make_persona("Phi", aliases=("the kitten",))


def heard(text: str, **changes: object) -> Percept:
    return Percept("user_caity", text, NOW, **changes)  # type: ignore[arg-type]


def before(number: int, text: str, seconds: float = 10.0, **changes: object) -> MemoryEntry:
    return an_entry(number, user_text=text, timestamp=NOW - seconds, **changes)


# -- the question


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Phi, where is the spare key?", "where is the spare key?"),
        ("where is the spare key, Phi?", "where is the spare key"),
        ("the kitten, where is the spare key?", "where is the spare key?"),
        ("Philip has the spare key", "Philip has the spare key"),
        ("what did I tell you about my dog and my cat?", "my dog and my cat?"),
        ("do you remember the storm of last winter?", "the storm of last winter?"),
        ("Do you know where we hid the map?", "where we hid the map?"),
        ("tell me about the old mill", "the old mill"),
    ],
)
def test_a_question_is_what_was_said_without_calling_and_asking(text: str, asked: str) -> None:
    assert question(heard(text), PHI, [], ["see something new"]) == asked


def test_where_nothing_is_left_the_words_of_asking_stay() -> None:
    assert subject("do you remember?") == "do you remember?"
    assert subject("tell me") == "tell me"


def test_what_says_little_is_filled_up_from_the_talk_and_then_from_what_is_wanted() -> None:
    talk = [before(1, "the mill burnt down"), before(2, "Phi, oh dear"), before(3, "it was the miller")]
    assert question(heard("who was it?"), PHI, talk, ["eat"]) == "oh dear it was the miller who was it?"
    assert question(heard("and then?"), PHI, talk[:1], ["eat"]) == "the mill burnt down and then?"
    assert question(heard("and then?"), PHI, [], ["find company", "eat"]) == "find company and then?"
    assert question(heard("and then?"), PHI, [], []) == "and then?"


def test_who_told_it_is_asked_of_what_was_talked_about() -> None:
    talk = [before(1, "is anybody getting married")]
    for text in ("says who?", "who told you that?", "how do you know?"):
        assert question(heard(text), PHI, talk, []).startswith("is anybody getting married")
    assert question(heard("who told you about Ada?"), PHI, talk, []) == "Ada?"


def test_only_the_talk_of_now_helps_out() -> None:
    old = before(1, "the mill burnt down", TALK_SECONDS + 1)
    later = before(2, "the mill burnt down", -1.0)
    left = before(3, "leaves for the mill", kind=Kind.LEAVE)
    assert question(heard("and then?"), PHI, [old, later, left], []) == "and then?"


@pytest.mark.parametrize("kind", [Kind.ARRIVE, Kind.LEAVE, Kind.THOUGHT])
def test_who_comes_and_goes_asks_nothing(kind: Kind) -> None:
    assert question(heard("arrives from the old mill", kind=kind), PHI, [], ["eat"]) == ""


# -- what comes to mind


def hit(entry_id: int, score: float = 0.5, **scores: float) -> Hit:
    return Hit(entry_id, score, (Why.SEMANTIC, Why.LEXICAL), {"meaning": 0.6, "words": 0.4} | scores)


def recalled(entries: list[MemoryEntry], text: str = "where is the key?", most: int = 2) -> list[int]:
    found = recollections(
        [hit(entry.id) for entry in entries],
        {entry.id: entry for entry in entries},
        (text, text),
        most,
        {},
    )
    return [one.entry.id for one in found]


def test_each_says_why_and_how_strongly() -> None:
    (found,) = recollections(
        [Hit(1, 0.5, (Why.LEXICAL, Why.SEMANTIC, Why.AFFECT), {"meaning": 0.3, "words": 0.4, "mood": 0.1})],
        {1: before(1, "the key is lost")},
        ("where is the key?", ""),
        2,
        {},
    )
    assert found.why == (Why.LEXICAL, Why.SEMANTIC)
    assert found.score == 0.5
    assert found.scores == {"lexical": 0.4, "semantic": 0.3}


def test_a_line_for_which_only_its_neighbours_speak_does_not_come() -> None:
    near = Hit(1, 0.5, (Why.NEXT_TO,), {"words": 0.0, "next_to": 0.3}, only_near=True)
    answer = Hit(2, 0.4, (Why.NEXT_TO,), {"words": 0.0, "next_to": 0.2})
    entries = {1: before(1, "mrrp."), 2: before(2, "Pugsley")}
    (found,) = recollections([near, answer], entries, ("my dog", "my dog"), 2, {})
    assert (found.entry.id, found.why, found.scores) == (2, (Why.NEXT_TO,), {"next_to": 0.2})


def test_only_so_many_come() -> None:
    entries = [before(number, f"the key {number}") for number in range(1, 6)]
    assert recalled(entries) == [1, 2]
    assert recalled(entries, most=4) == [1, 2, 3, 4]
    assert recalled(entries, most=0) == []


def test_the_same_words_come_once_and_those_just_said_not_at_all() -> None:
    entries = [before(1, "Where is the KEY?"), before(2, "the key"), before(3, "The key"), before(4, "a key")]
    assert recalled(entries, most=3) == [3, 4]


def test_what_only_asks_gives_way_to_what_may_answer() -> None:
    entries = [before(1, "do you have the key?"), before(2, "is there a key?"), before(3, "the key is here")]
    assert recalled(entries) == [3, 1]
    assert recalled(entries, "the key is lost") == [3, 1]


def test_what_asks_and_tells_does_not_give_way() -> None:
    entries = [
        before(1, "I found the key! Do you want it?"),
        before(2, "do you? is there a key?"),
        before(3, "a key"),
    ]
    assert recalled(entries, most=3) == [1, 3, 2]


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Do you remember? (((?!", True),
        ("who told you?! …", True),
        ("Who? Ann did. (", False),
        ("(", True),
        ("_", False),
    ],
)
def test_a_line_only_asks_if_each_sentence_with_words_does(text: str, asks: bool) -> None:
    assert memory_question.only_asks(text) is asks


def test_a_line_is_read_once_for_whether_it_only_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[str]()
    monkeypatch.setattr(memory_question, "_asks", lambda sentence: not read.append(sentence))
    forget_texts()
    for _ in range(2):
        assert memory_question.only_asks("Who is it?")
    assert read == ["Who is it?"]
    forget_texts()  # somebody had it forgotten
    assert memory_question.only_asks("Who is it?")
    assert len(read) == 2
    forget_texts()


def test_what_was_corrected_comes_after_its_correction() -> None:
    entries = {1: before(1, "the key is here"), 2: before(2, "a key"), 3: before(3, "no, the key is there")}
    found = recollections([hit(number) for number in entries], entries, ("where?", ""), 2, {1: 3})
    assert [one.entry.id for one in found] == [3, 1]


def test_what_was_said_again_and_again_stands_there_once_and_names_the_other_times() -> None:
    entries = {number: before(number, "the key is here") for number in (1, 2, 3)}
    (found,) = recollections([hit(2), hit(3), hit(1)], entries, ("where?", ""), 2, {})
    assert (found.entry.id, found.sources) == (3, (1, 2))
    other = entries | {4: before(4, "the key is here", user_id="user_ben")}
    both = recollections([hit(number) for number in other], other, ("where?", ""), 4, {})
    assert [one.entry.id for one in both] == [3, 4]


def test_what_was_woven_into_the_question_is_no_news() -> None:
    entries = [before(1, "the mill burnt down"), before(2, "the miller did it")]
    woven = ("who was it?", "the mill burnt down who was it?")
    found = recollections([hit(1), hit(2)], {entry.id: entry for entry in entries}, woven, 2, {})
    assert [one.entry.id for one in found] == [2]


def test_in_a_busy_room_what_is_far_below_the_best_that_tells_does_not_come() -> None:
    entries = {number: before(number, f"the key {number}") for number in range(1, 5)}
    entries[9] = before(9, "a key?")

    def busy(entry_id: int, score: float) -> Hit:
        return hit(entry_id, score, standing_out=0.5)

    hits = [busy(9, 0.9), busy(1, 0.5), busy(2, FAR * 0.5), busy(3, 0.2), busy(4, 0.1)]
    found = recollections(hits, entries, ("where?", ""), 8, {1: 4})
    assert [one.entry.id for one in found] == [4, 1, 2, 9]
    in_talk = [hit(1, 0.5), hit(3, 0.1)]
    assert len(recollections(in_talk, entries, ("where?", ""), 8, {})) == 2


def test_coming_and_going_does_not_come_to_mind() -> None:
    entries = [before(1, "arrives", kind=Kind.ARRIVE), before(2, "the key")]
    assert recalled(entries) == [2]


def test_what_was_forgotten_meanwhile_does_not_come() -> None:
    assert recollections([hit(1)], {}, ("where is the key?", ""), 2, {}) == []


@given(text=st.text(max_size=80), place=st.floats(0, 1, exclude_max=True))
def test_the_words_that_answer_are_words_of_the_line(text: str, place: float) -> None:
    at = int(place * len(text))
    answer = Answer(0.5, ((at, at + 1, 0.9), (0, 1, 0.1)) if text else ())
    words = _answering_words(text, answer).removeprefix("… ").removesuffix(" …").split()
    assert len(words) <= CLAUSE_WORDS
    assert " ".join(words) in " ".join(text.split())


@pytest.mark.parametrize(
    ("at", "told"),
    [
        ("Harwick", "they've taken her to St Jude's in Harwick."),
        ("fall", "my mum's had a fall,"),
        ("eleven", "… cat and the dog and eleven more who do not …"),
    ],
)
def test_the_clause_that_answers_is_told_or_the_words_around_the_answer(at: str, told: str) -> None:
    line = (
        "my mum's had a fall, they've taken her to St Jude's in Harwick. there was the cat and the dog and "
        "eleven more who do not come up often enough to be named"
    )
    assert (
        _answering_words(line, Answer(0.5, ((0, 2, 0.1), (line.index(at), line.index(at) + 3, 0.6)))) == told
    )


# -- in a living agent


@pytest.mark.slow
async def test_beside_what_answers_the_talk_of_now_is_no_memory(
    make: Callable[..., Agent], say: Callable[..., Percept]
) -> None:
    agent = make()
    told = await agent.perceive(say("the spare key is under the flowerpot"))
    await chatter(agent, say)
    asked = await agent.perceive(say("Phi, where is the spare key?"))
    assert recalled_in(asked, told.entry_id)
    assert all(found.why != ("recent",) for found in asked.recalled)
    for text in ("Phi, zyxwv and vwxyz?", "Phi, and the key?"):
        without = await agent.perceive(say(text))
        assert any(found.why == ("recent",) for found in without.recalled), text


@pytest.fixture
def make(make_agent: Callable[..., Agent], store: MemoryStore, embedding: Still) -> Callable[..., Agent]:
    """Phi with everything it ever perceived, and little of it in mind."""

    def made(**changes: object) -> Agent:
        record = store.load("phi")
        archive = AgentArchive("phi", store, embedding, dict, record.perceived if record else 0)
        return make_agent(windows=(6, 2), archive=archive, **changes)

    return made


@pytest.fixture
def say(clock: ManualClock) -> Callable[..., Percept]:
    def percept(text: str, user: str = "user_caity", **changes: object) -> Percept:
        clock.advance(40)
        return Percept(user, text, clock.now(), **({"addressed": True} | changes))  # type: ignore[arg-type]

    return percept


async def chatter(agent: Agent, say: Callable[..., Percept], many: int = 60) -> None:
    for number in range(many):
        line, before = f"My uncle Jo died in the fire in {1900 + number}", frozenset({"user_caity"})
        await agent.perceive(say(line, "user_bob", addressed=False, present=before))


async def long_ago(agent: Agent, say: Callable[..., Percept], line: str, embedding: Still) -> Trace:
    """A line is heard, then much else, and all of it is embedded."""
    told = await agent.perceive(say(line))
    await chatter(agent, say, 20)
    embedding.finish()
    return told


def recalled_in(trace: Trace, entry_id: int) -> RecalledTrace | None:
    return next((found for found in trace.recalled if found.entry_id == entry_id), None)


@pytest.mark.slow
async def test_what_was_said_long_ago_and_is_out_of_mind_is_answered_with(
    make: Callable[..., Agent], say: Callable[..., Percept]
) -> None:
    agent = make()
    told = await agent.perceive(say("the spare key is under the flowerpot"))
    await chatter(agent, say)
    assert agent.memory.find(told.entry_id) is None
    asked = await agent.perceive(say("Phi, where is the spare key?"))
    found = recalled_in(asked, told.entry_id)
    assert found is not None
    assert found.used
    assert found.why == ("lexical",)
    assert found.score >= FLOOR
    assert found.scores["lexical"] > 0.3
    assert "flowerpot" in (asked.response or "")


@pytest.mark.slow
async def test_a_restart_remembers_as_much(make: Callable[..., Agent], say: Callable[..., Percept]) -> None:
    agent = make()
    told = await agent.perceive(say("the spare key is under the flowerpot"))
    await chatter(agent, say)
    again = make()
    assert again.archive is not None
    assert not again.archive.loaded
    asked = await again.perceive(say("Phi, where is the spare key?"))
    assert recalled_in(asked, told.entry_id)
    assert "flowerpot" in (asked.response or "")


@pytest.mark.slow
async def test_a_question_that_goes_on_finds_in_mind_what_was_just_told(
    make: Callable[..., Agent], say: Callable[..., Percept], clock: ManualClock
) -> None:
    agent = make()
    told = await agent.perceive(say("the spare key is under the flowerpot"))
    await chatter(agent, say)
    asked = await agent.perceive(say("Phi, where is the spare key?"))
    assert recalled_in(asked, told.entry_id)
    agent = make()  # as after a restart
    for text in ("which colour", "and whose house"):
        found = recalled_in(await agent.perceive(say(text)), told.entry_id)
        assert found is not None, text
        assert "told" in found.why
    remark = await agent.perceive(say("the tea tastes nice"))
    assert recalled_in(remark, told.entry_id) is None
    clock.advance(TALK_SECONDS)
    assert recalled_in(await agent.perceive(say("which colour then")), told.entry_id) is None


@pytest.mark.slow
async def test_what_was_told_in_confidence_goes_on_with_nobody_else(
    make: Callable[..., Agent], say: Callable[..., Percept]
) -> None:
    agent = make()
    whisper = say("the spare key is under the flowerpot", kind=Kind.WHISPER)
    told = await agent.perceive(whisper)
    await chatter(agent, say)
    asked = await agent.perceive(say("Phi, where is the spare key?", kind=Kind.WHISPER))
    assert recalled_in(asked, told.entry_id)
    for changes in ({"user": "user_bob"}, {"present": frozenset({"user_caity", "user_bob"})}):
        assert recalled_in(await agent.perceive(say("which colour", **changes)), told.entry_id) is None


@pytest.mark.slow
async def test_meaning_brings_back_what_shares_no_word(
    make: Callable[..., Agent], say: Callable[..., Percept], embedding: Still
) -> None:
    agent = make(heard=embedding)
    told = await agent.perceive(say("boat"))
    await chatter(agent, say, 20)
    embedding.finish()
    vector = await embedding.vector("boat")

    async def question(text: str, *, by: str = "", patient: bool = False) -> object:
        return vector

    embedding.question = question  # type: ignore[method-assign, assignment]
    asked = await agent.perceive(say("Phi, what floats around here?"))
    found = recalled_in(asked, told.entry_id)
    assert found is not None
    assert found.why == ("semantic",)


@pytest.mark.slow
async def test_with_none_wanted_and_with_a_plain_list_nothing_comes_from_the_archive(
    make: Callable[..., Agent], make_agent: Callable[..., Agent], say: Callable[..., Percept]
) -> None:
    agent = make(context=ContextSettings(relevant=0))
    plain = make_agent("Plain", plain=True)
    for one in (agent, plain):
        told = await one.perceive(say("the spare key is under the flowerpot"))
        await chatter(one, say)
        asked = await one.perceive(say("where is the spare key?"))
        assert recalled_in(asked, told.entry_id) is None
    assert plain.archive is None
    assert agent.archive is not None


@pytest.mark.slow
async def test_as_many_may_be_wanted_as_the_settings_allow(
    make: Callable[..., Agent], say: Callable[..., Percept]
) -> None:
    agent = make(context=ContextSettings(relevant=1_000))
    told = await agent.perceive(say("the spare key is under the flowerpot"))
    await chatter(agent, say)
    assert recalled_in(await agent.perceive(say("where is the spare key?")), told.entry_id)


@pytest.mark.slow
async def test_a_secret_comes_to_mind_only_before_those_who_know_it(
    make: Callable[..., Agent], say: Callable[..., Percept]
) -> None:
    agent = make()
    told = await agent.perceive(
        say("the spare key is under the flowerpot", kind=Kind.WHISPER, audience=frozenset({"phi"}))
    )
    await chatter(agent, say)
    for user, present, may in (
        ("user_caity", {"user_caity"}, True),
        ("user_caity", {"user_caity", "user_bob"}, False),
        ("user_bob", {"user_bob"}, False),
        ("user_bob", set(), False),
    ):
        asked = await agent.perceive(say("Phi, where is the spare key?", user, present=frozenset(present)))
        assert bool(recalled_in(asked, told.entry_id)) is may


@pytest.mark.slow
async def test_what_was_forgotten_is_neither_recalled_nor_found(
    make: Callable[..., Agent], say: Callable[..., Percept], clock: ManualClock
) -> None:
    agent = make()
    told = await agent.perceive(say("the spare key is under the flowerpot"))
    await chatter(agent, say)
    await agent.perceive(say("Phi, where is the spare key?"))
    agent.forget([told.entry_id], "user_caity", clock.now())
    assert agent.archive is not None
    assert agent.archive.searcher.search("flowerpot") == []
    asked = await agent.perceive(say("Phi, where is the spare key?"))
    assert recalled_in(asked, told.entry_id) is None
    assert "flowerpot" not in (asked.response or "")


async def test_a_percept_is_kept_with_its_vector(
    make: Callable[..., Agent], say: Callable[..., Percept], embedding: Still, store: MemoryStore
) -> None:
    agent = make(heard=embedding)
    trace = await agent.perceive(say("the red boat"))
    kept = store.vectors("phi", embedding.model, 0, 99)[trace.entry_id]
    made = HashingEmbedder().embed(["the red boat"])[0]
    np.testing.assert_array_equal(kept.vector, EntryVector(1, "", made).vector)
    assert agent.archive is not None
    assert agent.archive.state().pending == 0


async def test_vectors_of_two_models_are_not_mixed(
    make: Callable[..., Agent], say: Callable[..., Percept], store: MemoryStore
) -> None:
    agent = make(heard=EmbeddingQueue(Larger()))
    await agent.perceive(say("the red boat"))
    assert store.vectors("phi", "larger", 0, 99) == {}
    assert agent.archive is not None
    assert agent.archive.state().pending == 1


async def test_an_endpoint_that_does_not_answer_is_named_in_the_trace(
    make_agent: Callable[..., Agent], say: Callable[..., Percept], store: MemoryStore, time: Time
) -> None:
    remote = EmbeddingQueue(Flaky(lambda texts: "it cannot be reached"), local=False, monotonic=time)
    agent = make_agent(archive=AgentArchive("phi", store, remote))
    await agent.perceive(say("the red boat"))
    async with asyncio.timeout(10):
        while not remote.failed:  # noqa: ASYNC110 -- a thread of its own asks it
            await asyncio.sleep(0)
    trace = await agent.perceive(say("Phi, where is the red boat?"))
    remote.close()
    assert trace.degraded == ("searched by words only: it cannot be reached",)
    assert trace.response


# -- the budget


@pytest.mark.parametrize("reminded", range(13))
def test_with_what_is_brought_back_there_are_twelve_things_at_most(reminded: int) -> None:
    sizes = ContextSettings()
    budget = talk_budget(sizes, reminded)
    others = budget.working + budget.episodic + budget.affect_similar
    assert others + reminded <= MOST
    assert others >= min(sizes.working + sizes.episodic + sizes.affect_similar, MOST - reminded) - 1


def test_settings_that_ask_for_more_get_more() -> None:
    sizes = ContextSettings(working=30)
    assert talk_budget(sizes, 0).working == 30
    assert talk_budget(sizes, 8).working == 35 - 8 - 2 - 1


# -- links made by hand


def test_links_by_hand_lead_on_both_ways_and_others_nowhere() -> None:
    links = [
        Link(1, 7, LinkType.BY_HAND, 0.5, NOW),
        Link(8, 2, LinkType.BY_HAND, 1.0, NOW),
        Link(1, 9, LinkType.RECALLED, 1.0, NOW),
    ]
    assert linked({1: 0.6, 2: 0.4}, links) == {8: 0.4, 7: 0.3}
    assert linked({}, links) == {}


@pytest.mark.slow
async def test_what_was_linked_by_hand_comes_along(
    make: Callable[..., Agent], say: Callable[..., Percept]
) -> None:
    agent = make()
    told = await agent.perceive(say("the spare key is under the flowerpot"))
    other = await agent.perceive(say("grandmother painted a heron"))
    secret = await agent.perceive(say("a heron stole it", user="user_bob", kind=Kind.WHISPER))
    agent.link(
        [
            Link(told.entry_id, other.entry_id, LinkType.BY_HAND, 0.9, NOW),
            Link(told.entry_id, secret.entry_id, LinkType.BY_HAND, 1.0, NOW),
        ]
    )
    await chatter(agent, say)
    asked = await agent.perceive(say("Phi, where is the spare key?"))
    found = recalled_in(asked, other.entry_id)
    assert found is not None
    assert found.why == ("linked",)
    assert recalled_in(asked, secret.entry_id) is None


async def test_what_is_not_loaded_yet_is_told_in_the_trace(
    make_agent: Callable[..., Agent], say: Callable[..., Percept], store: MemoryStore
) -> None:
    filled(store, PAGE + 1)
    archive = AgentArchive("phi", store, EmbeddingQueue(None), perceived=SOON + 1)
    archive.load_some()
    agent = make_agent(archive=archive)
    trace = await agent.perceive(say("Phi, what was line 7?"))
    assert trace.degraded == (f"searched {PAGE} memories only, as the rest were still loading",)
    assert 7 in [recalled.entry_id for recalled in trace.recalled]
    await archive.whole()
    assert (await agent.perceive(say("Phi, what was line 8?"))).degraded == ()


@pytest.mark.slow
async def test_of_a_long_line_the_phrase_is_told_that_means_what_was_asked(
    make: Callable[..., Agent], say: Callable[..., Percept], embedding: Still
) -> None:
    agent = make(heard=embedding)
    line = (
        "boat boat boat, and before I forget it the kettle is broken again. The bilge pump sticks when it is "
        "cold. My brother says he will paint the cabin green, as he says every year."
    )
    told = await long_ago(agent, say, line, embedding)
    meant, other = await embedding.vector(line), np.zeros(embedding.dimensions, np.float32)
    assert meant is not None

    async def question(text: str, *, by: str = "", patient: bool = False) -> object:
        return meant if "water" in text or "pump" in text else other

    embedding.question = question  # type: ignore[method-assign, assignment]
    embedding.local = True  # an endpoint would be asked for each phrase
    asked = await agent.perceive(say("Phi, what was it that keeps water away from us?"))
    assert recalled_in(asked, told.entry_id)
    assert "bilge pump" in (asked.response or "")
    assert "cabin" not in (asked.response or "")


@pytest.mark.slow
async def test_a_line_of_very_many_phrases_keeps_nobody_waiting(
    make: Callable[..., Agent], say: Callable[..., Percept], embedding: Still
) -> None:
    agent = make(heard=embedding)
    line = " ".join(f"pump {number} sticks." for number in range(200))
    told = await long_ago(agent, say, line, embedding)
    meant, asked_for = await embedding.vector(line), list[str]()

    async def question(text: str, *, by: str = "", patient: bool = False) -> object:
        asked_for.append(text)
        return meant

    embedding.question = question  # type: ignore[method-assign, assignment]
    embedding.local = True
    asked = await agent.perceive(say("Phi, what was it that keeps water away from us?"))
    assert recalled_in(asked, told.entry_id)
    assert 1 < sum("sticks." in text for text in asked_for) <= PHRASES


@pytest.mark.slow
async def test_very_long_lines_are_not_all_read_for_one_answer(
    make: Callable[..., Agent], say: Callable[..., Percept], embedding: Still
) -> None:
    agent = make(heard=embedding)
    for number in range(8):
        await long_ago(
            agent, say, f"boat {number} " + "and the pump of the boat sticks again " * 40, embedding
        )
    lengths: list[int] = []

    async def answers(
        said: tuple[str, str], lines: list[tuple[str, str]], asks: bool, by: str
    ) -> list[Answer]:
        lengths.extend(min(len(text), LONGEST_READ) for _, text in lines)
        return [Answer(0.5) for _ in lines]

    embedding.answers = answers  # type: ignore[method-assign, assignment]
    embedding.local = True
    await agent.perceive(say("Phi, does the pump of the boat stick?"))
    assert 0 < sum(lengths) <= MOST_READ


@pytest.mark.slow
async def test_what_comes_to_mind_is_read_beside_a_question_and_beside_a_remark(
    make: Callable[..., Agent], say: Callable[..., Percept], embedding: Still
) -> None:
    agent = make(heard=embedding)
    line = (
        "The kettle is broken again, and nobody here can mend it. My brother says he will paint the cabin of "
        "the boat green. The bilge pump sticks when it is cold."
    )
    told = await long_ago(agent, say, line, embedding)
    asked_of: list[tuple[str, bool]] = []

    async def answers(
        said: tuple[str, str], lines: list[tuple[str, str]], asks: bool, by: str
    ) -> list[Answer]:
        asked_of.append((said[1], asks))
        start = line.index("green")
        green = Answer(0.9, ((start, start + 5, 0.8),))
        return [green if text == line else Answer(0.1) for _, text in lines]

    embedding.answers = answers  # type: ignore[method-assign, assignment]
    embedding.local = True
    await agent.perceive(say("Phi, the kettle again, the boat, the pump!"))
    assert asked_of == [("Phi, the kettle again, the boat, the pump!", False)]
    asked = await agent.perceive(say("Phi, how will my brother paint the boat's cabin?"))
    assert asked_of[1:] == [("Phi, how will my brother paint the boat's cabin?", True)]
    found = recalled_in(asked, told.entry_id)
    assert found is not None
    assert found.scores["answer"] == 0.9
    assert "green" in (asked.response or "")
    assert "pump" not in (asked.response or "")


@pytest.mark.slow
@pytest.mark.parametrize(("likely", "secret"), [(0.9, False), (0.02, False), (0.9, True)])
async def test_a_line_that_is_no_nearer_than_others_comes_to_mind_if_it_is_read_to_answer(
    make: Callable[..., Agent], say: Callable[..., Percept], embedding: Still, likely: float, secret: bool
) -> None:
    agent = make(heard=embedding)
    line, read = "Mother broke an arm falling off a cart", list[str]()
    await agent.perceive(say("they bring in their harvest"))
    told = await agent.perceive(say(line, "user_bob", present=frozenset(() if secret else ("user_caity",))))
    await chatter(agent, say, 12)
    embedding.finish()

    async def answers(
        said: tuple[str, str], lines: list[tuple[str, str]], asks: bool, by: str
    ) -> list[Answer]:
        read.extend(text for _, text in lines)
        return [Answer(likely if text == line else 0.01) for _, text in lines]

    embedding.answers = answers  # type: ignore[method-assign, assignment]
    embedding.local = True
    asked = await agent.perceive(say("Phi, what of the harvest?"))
    assert (line in read) == (not secret)
    assert (recalled_in(asked, told.entry_id) is not None) == (likely > 0.03 and not secret)


@pytest.mark.parametrize(("secret", "known"), [(False, True), (True, False)])
async def test_what_was_told_a_moment_ago_is_read_though_nothing_finds_it(
    make: Callable[..., Agent], say: Callable[..., Percept], embedding: Still, secret: bool, known: bool
) -> None:
    agent = make(heard=embedding)
    line, read = "Ines had her baby, seven pounds two", list[str]()
    present = frozenset(() if secret else ("user_caity",))
    told = await agent.perceive(say(line, "user_bob", present=present))
    embedding.finish()

    async def answers(
        said: tuple[str, str], lines: list[tuple[str, str]], asks: bool, by: str
    ) -> list[Answer]:
        read.extend(text for _, text in lines)
        return [Answer(0.9, ((0, len(text), 0.9),)) for _, text in lines]

    embedding.answers = answers  # type: ignore[method-assign, assignment]
    embedding.local = True
    asked = await agent.perceive(say("Phi, why does Rook grin like that?"))
    assert (line in read) == known
    assert (recalled_in(asked, told.entry_id) is not None) == known
    assert ("seven pounds" in (asked.response or "")) == known


@pytest.mark.parametrize(
    ("other", "alone", "secret", "together"),
    [
        ("user_caity", 0.5, False, True),
        ("user_caity", 0.05, False, False),
        ("user_bob", 0.5, False, False),
        ("user_caity", 0.5, True, False),
    ],
)
async def test_a_line_that_goes_on_is_read_with_what_it_goes_on_with(
    make: Callable[..., Agent],
    say: Callable[..., Percept],
    embedding: Still,
    other: str,
    alone: float,
    secret: bool,
    together: bool,
) -> None:
    agent = make(heard=embedding)
    first, line = "My husband Arthur died in spring", "He was a piano tuner all his life"
    whispered = {"kind": Kind.WHISPER} if secret else {}
    await agent.perceive(say(first, other, **whispered))
    told = await agent.perceive(say(line, "user_caity"))
    await chatter(agent, say, 3)
    embedding.finish()
    read: list[str] = []

    async def answers(
        said: tuple[str, str], lines: list[tuple[str, str]], asks: bool, by: str
    ) -> list[Answer]:
        read.extend(text for _, text in lines)
        answering = {line: alone, f"{first} {line}": 0.95}
        found = [(text.find("a piano"), text) for _, text in lines]
        return [
            Answer(answering.get(text, 0.01), ((at, at + 13, 0.9),) if at >= 0 else ()) for at, text in found
        ]

    embedding.answers = answers  # type: ignore[method-assign, assignment]
    embedding.local = True
    others = frozenset({"user_bob"} if secret else ())
    asked = await agent.perceive(say("Phi, what did my Arthur do for a living?", present=others))
    found = recalled_in(asked, told.entry_id)
    assert (f"{first} {line}" in read) == (other == "user_caity" and not secret)
    assert ((found.scores["answer"] if found else 0.0) == 0.95) == together


@given(
    alone=st.floats(0, 1),
    likely=st.floats(0, 1),
    start=st.integers(1, 30),
    words=st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9), st.floats(0, 1)), max_size=6),
)
def test_words_that_answer_after_another_line_are_words_of_the_line(
    alone: float, likely: float, start: int, words: list[tuple[int, int, float]]
) -> None:
    together = Answer(likely, tuple((at, at + length, p) for at, length, p in words))
    by_itself = Answer(alone)
    found = _likelier(by_itself, together, start)
    assert found.likely >= alone
    assert all(first >= 0 for first, _, _ in found.words)
    best = max((p for _, _, p in together.words), default=0.0)
    if found is not by_itself and best > 0.0:
        assert max(p for _, _, p in found.words) == best


def read_as(number: int, likely: float) -> Recalled:
    return Recalled(an_entry(number), (Why.SEMANTIC,), 0.5, {Why.ANSWER: likely})


def test_in_a_full_room_one_of_what_answers_from_farther_off_takes_the_last_place() -> None:
    near = [read_as(number, 0.1) for number in range(8)]
    far = [read_as(10, 0.5), read_as(11, 0.9), read_as(12, 0.3)]
    assert _with_answers(near, far, {}, 8) == [far[1], *near[:7]]
    assert _with_answers(near[:6], far, {}, 8) == [far[1], far[0], *near[:6]]
    assert _with_answers(near, far[2:], {}, 8) == near
    assert _with_answers(near[:5], far, {}, 8) == [far[1], far[0], *near[:5], far[2]]
    assert _with_answers(near[:5], far[2:], {12: 99}, 8) == near[:5]


def test_what_is_less_likely_than_three_others_or_hardly_answers_does_not_come_from_farther_off() -> None:
    near = [read_as(number, 0.35) for number in range(3)]
    assert _with_answers(near, [read_as(10, 0.3)], {}, 8) == near
    assert _with_answers(near[:1], [read_as(10, 0.02)], {}, 8) == near[:1]


def test_what_was_corrected_does_not_come_without_its_correction() -> None:
    near = [read_as(number, 0.1) for number in range(8)]
    former, latter = read_as(10, 0.9), read_as(11, 0.1)
    assert _with_answers(near, [former, latter], {10: 11}, 8) == [latter, *near[:7]]


PLACES = (
    "pier bridge gate mill tower chapel quay inn forge barn well square harbour lane stable market bakery "
    "school cellar attic ferry dock garden orchard boat hut shed wall arch hall stair porch roof yard field"
)


@pytest.mark.slow
async def test_what_was_corrected_and_is_only_like_what_was_found_does_no_harm(clock: ManualClock) -> None:
    society = build(Settings(store={"path": "nowhere"}), clock=clock, store=MemoryStore())
    phi, everybody = society.find("phi"), frozenset({"user_caity", "user_bob", "user_eve"})

    async def hear(text: str, user: str = "user_caity", addressed: bool = False) -> Trace:
        clock.advance(60)
        heard = Percept(user, text, clock.now(), addressed=addressed, present=everybody)
        return await society.perceive("phi", heard)

    await hear("My cat Momo sleeps in the kitchen under the red lantern, the old red lantern.")
    for place in PLACES.split():
        await hear(f"The red lantern at the {place} was lit by somebody of the town watch.", "user_bob")
    corrected = await hear("My cat Momo sleeps in the kitchen.")
    assert phi.archive is not None
    await phi.archive.embedded(lambda count: None)
    entry = phi.entry(corrected.entry_id)
    assert entry is not None
    made = phi.correct(entry, "My cat Momo sleeps in the attic.")
    asked = await hear("What about the red lantern?", "user_eve", addressed=True)
    assert recalled_in(asked, made.id) is None
    assert "lantern" in (asked.response or "").casefold()
    society.close()


@pytest.mark.slow
async def test_what_happened_on_a_day_comes_to_mind_by_the_day_and_not_by_when_it_was_told(
    make: Callable[..., Agent], say: Callable[..., Percept], clock: ManualClock
) -> None:
    agent = make()
    clock.set(1_772_884_800.0)  # Saturday, 7 March 2026, 12:00
    of_friday = await agent.perceive(say("yesterday I buried my cat"))
    clock.set(1_772_971_200.0)
    of_saturday = await agent.perceive(say("yesterday I went sailing"))
    clock.set(1_773_057_600.0)
    await chatter(agent, say, 20)

    async def by_date(question: str) -> list[int]:
        trace = await agent.perceive(say(question))
        return [found.entry_id for found in trace.recalled if Why.DATE in found.why]

    assert await by_date("Phi, what happened on Saturday?") == [of_saturday.entry_id]
    assert await by_date("Phi, what happened on Friday?") == [of_friday.entry_id]
    assert await by_date("Phi, on Saturday we go away") == []
