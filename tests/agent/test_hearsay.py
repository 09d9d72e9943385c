"""Whoever hears something told by somebody who was told it can say from whom that one had it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from html import escape
from unicodedata import normalize

import pytest

from noodlings.agent.hearsay import (
    LONGEST_CHAIN,
    MOST_MARKED,
    MOST_SOURCES,
    hands_on,
    sources,
    with_sources,
)
from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.host.visit import rooms_of
from noodlings.ports import Changes
from noodlings.store.memory import MemoryStore
from noodlings.values.affect import NEUTRAL
from noodlings.values.audience import Audience, Tier
from noodlings.values.memory import ImportanceParts, MemoryEntry, hearsay, hearsay_of, tags_of
from noodlings.values.percept import Kind, Percept
from noodlings.values.trace import Modulation, RecalledTrace, Trace
from noodlings.worlds.rooms import World
from tests.memory.entries import an_entry

ANN, BOB = "user_ann", "user_bob"
MILL = "the old mill burnt down"


@pytest.fixture
async def village() -> AsyncIterator[tuple[Society, World]]:
    settings = Settings(embedding={"model": "none"}, thought={"ruminate": False})
    society = build(settings, clock=ManualClock(1_700_000_000.0), store=MemoryStore())
    world = rooms_of(society)
    for user_id, name in ((ANN, "Ann"), (BOB, "Bob")):
        world.enter(user_id, name, lambda line: None)
        society.introduce(user_id, name)
        bring(world, user_id, "maren")
    for agent_id in ("phi", "servnak"):
        while world.room_of(agent_id).name == world.room_of("maren").name:
            world.go(agent_id, next(iter(world.scene(agent_id).exits)))
    await world.settle()
    yield society, world
    await world.settle()
    await world.close()
    society.close()


def latest(society: Society, agent_id: str, user_id: str) -> MemoryEntry:
    """What an agent heard somebody say last."""
    ids = society.store.told_by(agent_id, user_id)
    said = [entry for entry in society.store.entries(agent_id, ids).values() if entry.kind is Kind.SAY]
    return max(said, key=lambda entry: entry.id)


async def say(village: tuple[Society, World], user_id: str, text: str) -> None:
    society, world = village
    assert isinstance(society.clock, ManualClock)
    society.clock.advance(400.0)
    world.say(user_id, text)
    await world.settle()


def bring(world: World, agent_id: str, to: str) -> None:
    while world.room_of(agent_id).name != world.room_of(to).name:
        ways = world.scene(agent_id).exits
        wanted = [way for way, name in ways.items() if name == world.room_of(to).name]
        world.go(agent_id, (wanted or list(ways))[0])


@pytest.mark.slow
async def test_who_told_you_is_answered_with_who_told_whoever_told_it(village: tuple[Society, World]) -> None:
    society, world = village
    await say(village, BOB, f"Maren, {MILL} last night")
    bring(world, "phi", "maren")
    await say(village, ANN, "Maren, what do you know about the mill?")
    heard = latest(society, "phi", "maren")
    assert "mill" in heard.user_text
    assert hearsay(heard) == ((BOB,),)
    assert tags_of(heard) == {f"from:{BOB}"}
    world.rest("maren")
    await say(village, ANN, "Phi, what do you know about the mill?")
    told = society.store.traces("phi", 1)[0].response or ""
    assert "mill" in told.casefold()
    await say(village, ANN, "Phi, who told you that?")
    answer = (society.store.traces("phi", 1)[0].response or "").casefold()
    assert "maren told me" in answer
    assert "had it from bob" in answer
    await say(village, ANN, "Phi, who told you about the mill?")
    assert "had it from bob" in (society.store.traces("phi", 1)[0].response or "").casefold()


async def test_of_what_was_told_in_confidence_nothing_is_told_on(village: tuple[Society, World]) -> None:
    society, world = village
    world.whisper(BOB, "maren", f"{MILL}, I did it")
    await world.settle()
    bring(world, "phi", "maren")
    await say(village, ANN, "Maren, what do you know about the mill?")
    heard = latest(society, "phi", "maren")
    assert "burnt" not in heard.user_text
    assert hearsay(heard) == ()


def a_turn(*recalled: RecalledTrace, voice: str = "offline", response: str = MILL) -> Trace:
    return Trace(
        "maren", 9, 0.0, NEUTRAL, "words", NEUTRAL, 0.0, 0.0, ImportanceParts(),
        recalled=recalled, voice=voice, response=response,
    )  # fmt: skip


def recalled(entry_id: int, used: bool = True, why: str = "semantic") -> RecalledTrace:
    return RecalledTrace(entry_id, (why,), 1.0, used=used)


@pytest.mark.parametrize(
    ("told", "answer", "of"),
    [
        (MILL, "So the old mill burnt down.", ((BOB,),)),
        (MILL, "How sad.", ()),
        ("Hello Maren!", "Hello!", ()),
        ("我的狗昨天死了", "你的狗昨天死了。", ((BOB,),)),
        ("我的狗昨天死了", "今天天气很好。", ()),
        (f"Is it true that {MILL}?", "The old mill burnt down.", ((BOB,),)),
    ],
)
@pytest.mark.parametrize("voice", ["offline", "llm"])
def test_what_an_answer_repeats_of_what_it_answers_is_told_on(
    told: str, answer: str, of: tuple[tuple[str, ...], ...], voice: str
) -> None:
    store = MemoryStore()
    entry = an_entry(9, user_id=BOB, user_text=told)
    store.commit(Changes("maren", added=(entry,), trace=a_turn(voice=voice, response=answer)))
    heard = with_sources(store, Percept("maren", answer, 1.0, present=frozenset({ANN})), "phi")
    assert tuple(map(tuple, heard.data.get("hearsay", ()))) == of
    confided = replace(entry, audience=Audience(frozenset({BOB}), True))
    store.commit(Changes("maren", updated=(confided,)))
    assert "hearsay" not in with_sources(store, replace(heard, data={}), "phi").data


def test_a_chain_goes_from_the_first_to_the_last_and_is_no_longer_than_it_may_be() -> None:
    entry = an_entry(1, user_id="phi", user_text=MILL, extra={"data": {"hearsay": [[BOB, "servnak"]]}})
    assert sources(a_turn(recalled(1)), {1: entry}, {ANN}) == ((BOB, "servnak", "phi"),)
    long = replace(entry, extra={"hearsay": [[f"a{n}" for n in range(20)]] * 1})
    (chain,) = sources(a_turn(recalled(1)), {1: long}, {ANN})
    assert len(chain) == LONGEST_CHAIN
    assert chain[-1] == "phi"
    many = {n: an_entry(n, user_id=f"user_{n}", user_text=MILL) for n in range(1, 9)}
    assert len(sources(a_turn(*map(recalled, many)), many, {ANN})) == MOST_SOURCES


def test_what_is_its_own_or_not_for_those_who_hear_it_has_no_source() -> None:
    secret = an_entry(1, user_id=BOB, user_text=MILL, audience={BOB, "maren"}, kind=Kind.WHISPER)
    own, event = an_entry(2, user_id="maren", user_text=MILL), an_entry(3, user_id=BOB, kind=Kind.EVENT)
    entries = {1: secret, 2: own, 3: event}
    assert sources(a_turn(*map(recalled, entries)), entries, {ANN, BOB}) == ()
    assert sources(a_turn(recalled(1)), entries, {BOB}) == ((BOB,),)


def test_a_model_told_what_it_repeats() -> None:
    entries = {
        1: an_entry(1, user_id=BOB, user_text=MILL),
        2: an_entry(2, user_id=ANN, user_text="I sell red apples"),
    }
    turn = a_turn(*(recalled(n, used=False) for n in entries), voice="llm", response="That mill? Burnt down.")
    assert sources(turn, entries, {ANN}) == ((BOB,),)


@pytest.mark.parametrize(
    ("told", "answer"),
    [
        ("The treasure lies in the mill.", "In the mill."),
        ("The code of the vault is 4455.", "4455."),
        ("My sister was born in Zanzibar.", "In Zanzibar, I think."),
        ("The treasure lies in the mill.", "I see."),
    ],
)
def test_one_word_of_what_was_told_is_enough_for_a_short_answer(told: str, answer: str) -> None:
    entries = {1: an_entry(1, user_id=BOB, user_text=told), 2: an_entry(2, user_id=ANN, user_text="Where?")}
    turn = a_turn(recalled(1, used=False), voice="llm", response=answer)
    assert sources(turn, entries, {ANN}) == (() if answer == "I see." else ((BOB,),))


@pytest.mark.parametrize("voice", ["llm", "offline"])
@pytest.mark.parametrize(
    ("asked", "answer", "found"),
    [
        ("I gave the miller a blue parrot", "A blue parrot? How kind.", ((ANN,),)),
        ("I gave the miller a blue parrot", "How kind of you.", ()),
        ("what do you know of the old mill that burnt?", f"Bob told me {MILL}.", ((BOB,),)),
        ("is it true that the mill and the blue parrot burnt?", f"A blue parrot? {MILL}.", ((BOB,), (ANN,))),
        (MILL, f"Alas, {MILL}.", ((BOB,), (ANN,))),
    ],
)
def test_what_is_said_again_of_what_it_answers_is_told_by_who_said_it(
    voice: str, asked: str, answer: str, found: tuple[tuple[str, ...], ...]
) -> None:
    told = an_entry(1, user_id=BOB, user_text=MILL)
    entries = {9: an_entry(9, user_id=ANN, user_text=asked)} | ({1: told} if (BOB,) in found else {})
    turn = a_turn(recalled(1), voice=voice, response=answer)
    assert sources(turn, entries, {"servnak"}) == found


def handed_on(store: MemoryStore, turn: Trace, *earlier: Trace) -> list[list[str]]:
    """The sources of the answer of a turn for who hears it told."""
    for trace in (*earlier, turn):
        store.commit(Changes("maren", trace=trace))
    said = Percept("maren", turn.response or "", 1.0, present=frozenset({ANN}))
    found: list[list[str]] = with_sources(store, said, "phi").data.get("hearsay", [])
    return found


def marked(store: MemoryStore, turn: Trace) -> list[str]:
    """The mark of the answer of a turn for who hears it told."""
    store.commit(Changes("maren", trace=turn))
    heard = with_sources(store, Percept("maren", turn.response or "", 1.0, present=frozenset({ANN})), "phi")
    assert {tag.removeprefix("from:") for tag in tags_of(an_entry(1, extra={"data": heard.data}))} == {
        one for chain in heard.data.get("hearsay", ()) for one in chain
    }
    people: list[str] = heard.data["hearsay_of"]
    return people


def test_what_is_handed_on_is_marked_with_whom_it_answers_and_whose_words_it_may_hold() -> None:
    store, secret = MemoryStore(), Audience(frozenset({BOB, "maren"}), True)
    data = {"data": {"hearsay_of": ["user_eve"]}}
    retold = an_entry(2, user_id="phi", user_text="a burnt mill", extra=data)
    told = an_entry(1, user_id=BOB, user_text="my mill", audience=secret)
    other = an_entry(3, user_id="user_zed", user_text="I bake bread")
    store.commit(Changes("maren", added=(told, retold, other, an_entry(9, user_id=ANN, user_text="hello"))))
    assert marked(store, a_turn(voice="llm")) == [ANN, "phi", "user_eve", BOB]
    assert marked(store, a_turn(voice="llm", response="A mill.")) == [ANN, "phi", BOB]
    assert marked(store, a_turn(voice="llm", response="How sad.")) == [ANN]
    assert marked(store, a_turn()) == [ANN]
    assert marked(store, a_turn(recalled(2), response="How sad.")) == [ANN, "phi", "user_eve"]
    many = [an_entry(20, user_text=MILL, extra={"hearsay_of": [f"user_{number}" for number in range(99)]})]
    store.commit(Changes("maren", added=(*many, an_entry(21, user_id=ANN, user_text="hello"))))
    people = marked(store, replace(a_turn(voice="llm"), entry_id=21))
    assert (people[0], len(people)) == (ANN, MOST_MARKED)


@pytest.mark.parametrize("bad", ["x", [1], [[1]], {"a": "b"}, 7, None])
def test_what_a_host_gives_instead_of_a_mark_is_none(bad: object) -> None:
    assert hearsay_of(an_entry(1, extra={"hearsay_of": bad})) == frozenset()


def test_what_a_transistor_adds_to_an_answer_has_its_source() -> None:
    store = MemoryStore()
    told, other = an_entry(1, user_id=BOB, user_text=MILL), an_entry(2, user_id="user_eve")
    store.commit(Changes("maren", added=(told, other, an_entry(9, user_id=ANN, user_text="I lost my house"))))
    answer = f"How sad. It was like this when Bob told me {MILL}."
    read = Modulation("memory", 0.5, "How sad.", answer, "offline", entries=(1, 2))
    turn = replace(a_turn(response=answer), modulations=(read,))
    assert handed_on(store, turn) == [[BOB]]
    passed = replace(read, after="How sad.", how="passed")
    assert handed_on(store, replace(turn, modulations=(passed,))) == []


@pytest.mark.slow
async def test_who_told_you_names_who_told_what_a_transistor_added(village: tuple[Society, World]) -> None:
    society, world = village
    await say(village, BOB, f"Maren, {MILL} last night")
    bring(world, "phi", "maren")
    await say(village, ANN, "Maren, my brother is ill")
    asked = latest(society, "maren", ANN)
    answer = f"How sad. It was like this when Bob told me {MILL}."
    read = Modulation(
        "memory", 0.5, "How sad.", answer, "offline", entries=(latest(society, "maren", BOB).id,)
    )
    (trace,) = society.store.traces("maren", 1)
    turn = replace(trace, entry_id=asked.id, recalled=(), response=answer, modulations=(read,))
    society.store.commit(Changes("maren", trace=turn))
    world.say("maren", answer, depth=1)
    await world.settle()
    assert hearsay(latest(society, "phi", "maren")) == ((BOB,),)
    world.rest("maren")
    await say(village, ANN, "Phi, who told you about the mill?")
    assert "had it from bob" in (society.store.traces("phi", 1)[0].response or "").casefold()


@pytest.mark.parametrize(("voice", "found"), [("llm", [[BOB]]), ("offline", [])])
def test_what_a_model_was_shown_beside_what_was_recalled_is_a_source(
    voice: str, found: list[list[str]]
) -> None:
    told = an_entry(1, user_id=BOB, user_text=MILL)
    others = [an_entry(number, user_id=ANN, user_text="a mill") for number in range(2, 41)]
    store = MemoryStore()
    store.commit(Changes("maren", added=(told, *others)))
    read = Modulation("ego", 0.5, "", "", entries=(1,))
    assert handed_on(store, replace(a_turn(voice=voice), entry_id=9)) == found  # of the talk before
    assert handed_on(store, replace(a_turn(voice=voice), entry_id=40, modulations=(read,))) == found
    assert handed_on(store, replace(a_turn(voice=voice), entry_id=40)) == []


def test_an_answer_that_repeats_an_earlier_one_has_its_sources() -> None:
    again = f"As I said, {MILL}."
    asked = {number: an_entry(number, user_id=ANN, user_text="hello") for number in range(2, 61)}
    asked |= {number: replace(asked[number], response=again) for number in (12, 25, 35, 45)}
    asked[44] = replace(asked[44], response="I saw the old mill.")  # less alike
    store = MemoryStore()
    store.commit(Changes("maren", added=(an_entry(1, user_id=BOB, user_text=MILL), *asked.values())))
    turns = [replace(a_turn(voice="llm", response=again), entry_id=number) for number in (12, 25, 35, 45, 60)]
    assert handed_on(store, turns[-1], *turns[:-1]) == [[BOB]]
    secret = Audience(frozenset({BOB, "maren"}), True)
    store.commit(Changes("maren", updated=(replace(asked[25], audience=secret),)))
    assert handed_on(store, turns[-1]) == []


def test_of_many_sources_those_of_which_most_was_told_come_first() -> None:
    many = {
        number: an_entry(number, user_id=f"user_{number}", user_text="an old mill") for number in range(1, 9)
    }
    many[8] = replace(many[8], user_id=BOB, user_text=MILL)
    found = sources(a_turn(*map(recalled, many), voice="llm"), many, {ANN})
    assert (found[0], len(found)) == ((BOB,), MOST_SOURCES)


def test_what_only_two_may_know_has_no_source_for_others_and_hides_none() -> None:
    secret = an_entry(1, user_id=BOB, user_text=MILL, audience={BOB, "maren"}, kind=Kind.WHISPER)
    asked = an_entry(9, user_id=ANN, user_text=f"is it so that {MILL}?")
    turn = a_turn(recalled(1), voice="llm", response=MILL)
    assert sources(turn, {1: secret, 9: asked}, {"servnak"}) == ((ANN,),)
    whispered = replace(secret, id=9, user_id=ANN)
    assert sources(turn, {9: whispered}, {"servnak", ANN}) == ()
    assert sources(turn, {9: whispered}, {BOB}) == ((ANN,),)


@pytest.mark.parametrize("bad", ["x", [1], [[1]], [[]], [["a", 2]], {"a": "b"}, None])
def test_what_a_host_gives_instead_of_chains_is_no_hearsay(bad: object) -> None:
    assert hearsay(an_entry(1, extra={"hearsay": bad})) == ()


@pytest.mark.slow
async def test_a_short_word_of_its_own_is_no_answer_told_on(village: tuple[Society, World]) -> None:
    society, world = village
    await say(village, BOB, f"Maren, {MILL} last night")
    bring(world, "phi", "maren")
    await say(village, ANN, "Maren, what do you know about the mill?")
    world.say("maren", "Bob said", depth=1)
    await world.settle()
    assert hearsay(latest(society, "phi", "maren")) == ()


async def test_an_answer_is_known_without_its_gestures(
    village: tuple[Society, World],
) -> None:
    society, _ = village
    await say(village, BOB, f"Maren, {MILL} last night")
    entry = latest(society, "maren", BOB)
    gesture = "*sorts the nets by colour, then by mood, then as the wind has it, and finds one too many*"
    answer = f"{gesture} {MILL}."
    turn = replace(a_turn(recalled(entry.id), response=answer), entry_id=entry.id)
    society.store.commit(Changes("maren", trace=turn))
    heard = Percept("maren", f"{MILL}.", 1_700_000_500.0, present=frozenset({ANN}))
    assert with_sources(society.store, heard, "phi").data == {"hearsay": [[BOB]], "hearsay_of": [BOB]}


PARTED = f"Bob says {MILL}. *nods slowly* The miller ran off at dawn."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "known", "sourced"),
    [
        (PARTED, True, True),
        (PARTED.replace("*", "").upper(), True, True),
        (f"Bob says {MILL}.", True, True),
        ("nods slowly", True, False),
        ("The miller ran off at dawn.", True, False),
        ("The miller sleeps.", False, False),
        ("…", False, False),
    ],
)
@pytest.mark.parametrize("answers_since", [0, 20])
async def test_an_answer_is_known_with_gestures_and_in_parts_and_later(
    village: tuple[Society, World], line: str, known: bool, sourced: bool, answers_since: int
) -> None:
    society, _ = village
    for _ in range(answers_since + 1):
        await say(village, BOB, f"Maren, {MILL} last night")
    entries = society.store.told_by("maren", BOB)
    first = next(one for one in entries if society.store.entries("maren", [one])[one].kind is Kind.SAY)
    secret = Audience(frozenset({ANN, BOB, "maren", "phi"}), confined=True)
    turn = replace(a_turn(recalled(first), response=PARTED), entry_id=first, audience=secret)
    society.store.commit(Changes("maren", trace=turn))
    heard = Percept("maren", line, 1_700_000_500.0, present=frozenset({ANN}))
    told = with_sources(society.store, heard, "phi")
    assert told.tier is (Tier.CONFINED if known else Tier.OPEN)
    marked = {"hearsay_of": [BOB]} if known else {}
    assert told.data == ({"hearsay": [[BOB]]} if sourced else {}) | marked


@pytest.mark.parametrize(
    ("line", "answer", "known"),
    [
        ("mill", MILL, False),
        ("4455", "The code is 4455.", False),
        ("4455.", "The code? 4455. Keep it.", True),
        ("4455.", "4455.", True),
        ("old mill", MILL, True),
    ],
)
def test_a_single_word_is_handed_on_if_it_is_all_of_a_sentence(line: str, answer: str, known: bool) -> None:
    store, secret = MemoryStore(), Audience(frozenset({ANN, "maren", "phi"}), confined=True)
    asked = an_entry(9, user_id=ANN, user_text="well?", audience=secret)
    store.commit(Changes("maren", added=(asked,), trace=replace(a_turn(response=answer), audience=secret)))
    heard = with_sources(store, Percept("maren", line, 1.0, present=frozenset({ANN})), "phi")
    assert heard.tier is (Tier.CONFINED if known else Tier.OPEN)


FOUND = "Zoé's gold & the café's map lie under the grey stone behind the old mill"
FOUND_BY = "我姐姐偷了市长的金项链还把它卖给了河边的铁匠"


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (FOUND[:40], FOUND),
        (FOUND[16:43], FOUND),
        (normalize("NFD", FOUND), FOUND),
        (FOUND.replace("é", "e"), FOUND),
        (escape(FOUND), FOUND),
        (FOUND.replace("gold", "_gold_"), FOUND),
        (f'Maren says, "{FOUND}"', FOUND),
        ('Maren says, "4455."', "4455."),
        (escape('Maren says, "In the mill."'), "In the mill."),
        ("“Leeds”, says Maren.", "Leeds!"),
        ("<Maren> In the mill.", "In the mill."),
        ("Maren says, 'I don’t, in Leeds.'", "I don’t, in Leeds."),
        ("马伦说：「市长来了」", "市长来了"),
        ("[The Quay] Maren: in the mill", "*nods* In the mill."),
        ("[Maren] 4455.", "4455."),
        ("(Maren) In the mill.", "In the mill."),
        ("**Maren** In the mill.", "In the mill."),
        ("_Maren_ In the mill.", "In the mill."),
        ("Maren - In the mill.", "In the mill."),
        ("Maren | In the mill.", "In the mill."),
        ("Maren (nods) In the mill.", "In the mill."),
        ("Maren nods. In the mill.", "In the mill."),
        ("@Ann In the mill.", "In the mill."),
        ("[12:30] [Maren of the Quay] 市长来了", "市长来了"),
        (FOUND.replace("stone", "<b>stone</b>"), FOUND),
        (FOUND_BY[:12], FOUND_BY),
        (FOUND_BY[12:], FOUND_BY),
        (f"{escape(FOUND)} &#{'9' * 5_000};", FOUND),
    ],
)
def test_an_answer_is_known_in_whatever_shape_a_world_hands_it_on(line: str, answer: str) -> None:
    assert hands_on(line, answer)


@pytest.mark.parametrize(
    "line",
    ["old", "old mi", 'Maren says, "no"', "I say: old", "I saw gold and a map near the old mill", "市长来了"],
)
def test_what_only_has_some_of_its_words_is_no_answer_handed_on(line: str) -> None:
    assert hands_on(line, FOUND) is (line == "old")
    assert not hands_on(line, FOUND_BY)


@pytest.mark.parametrize(
    "line", ["Well, I saw the mill", "No - no mill - I say", "(nods) Near the mill", "I think, mill"]
)
def test_what_follows_a_mark_and_only_has_a_word_of_it_is_no_answer_handed_on(line: str) -> None:
    assert not hands_on(line, "In the mill.")


@pytest.mark.slow
async def test_what_is_said_around_a_secret_answer_makes_it_no_less_secret(
    village: tuple[Society, World],
) -> None:
    society, _ = village
    await say(village, BOB, f"Maren, {MILL} last night")
    (asked, *_) = society.store.told_by("maren", BOB)
    secret = Audience(frozenset({ANN, BOB, "maren", "phi"}), confined=True)
    turn = replace(a_turn(recalled(asked), response=PARTED), entry_id=asked, audience=secret)
    society.store.commit(Changes("maren", trace=turn))
    for line in (f'Maren says, "{PARTED}"', PARTED[:-9]):
        heard = Percept("maren", line, 1_700_000_500.0, present=frozenset({ANN}))
        assert with_sources(society.store, heard, "phi").tier is Tier.CONFINED
