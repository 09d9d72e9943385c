"""What was told in confidence reaches nobody else: a whole evening, and each way out by itself.

Four players go from room to room, say, whisper and do things to three characters, whose model repeats every
secret it is shown. Each line carries a word of its own, so that one sees in every prompt and in every line
that a player is shown whether it was meant for whoever hears it.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field

import pytest

from benchmarks.village import WatchedFactReader, noted
from noodlings.agent.recollection import may_come
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.host.visit import rooms_of
from noodlings.inspect.browse import Page
from noodlings.inspect.inspector import Inspector
from noodlings.inspect.recall import RecallOptions
from noodlings.llm.call import ModelAnswer, ModelCall, Task
from noodlings.llm.gateway import Gateway
from noodlings.ports import Allowance, OwnLine, Utterance
from noodlings.recall.filters import Filters
from noodlings.store.memory import MemoryStore
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.audience import OPEN, Audience, confined_to, disclosed, may_learn, of_all
from noodlings.values.caller import Caller, Role
from noodlings.values.lens import Lens
from noodlings.values.memory import Recalled, Symbol, Why
from noodlings.values.percept import Kind, Percept
from noodlings.values.trace import Trace
from noodlings.worlds.beings import RoomLine
from noodlings.worlds.rooms import Scrollback
from tests.fakes import make_persona
from tests.llm.server import contents
from tests.memory.entries import an_entry

PLAYERS = ("ann", "bob", "cid", "eve")
USERS = tuple(f"user_{name}" for name in PLAYERS)
CHARACTERS = ("phi", "servnak", "callie")
ANN, BOB, EVE = "user_ann", "user_bob", "user_eve"
TURNS = int(os.environ.get("TEST_TURNS", "60"))
"""Prompts, and answers, of the evening; 2,000 of each take a minute."""
WORD = re.compile(r"zarn\d+q")
LINES = (
    "I am terrified, I stole the {}",
    "my {} died yesterday, I cannot stop crying",
    "I love my {} so much, I am overjoyed",
    "you know where the {} is kept",
    "do you remember the {}?",
    "what did I tell you lately? it was about {}",
)


@dataclass
class Evening:
    """What was told to whom, and what was found out.

    Attributes:
        meant_for: word → who may learn of it; None for anybody.
        leaks: a word, where it was found, and who should not have heard it.
        prompts, answers: how many were looked at.
    """

    meant_for: dict[str, frozenset[str] | None] = field(default_factory=dict)
    leaks: list[tuple[str, str, str]] = field(default_factory=list)
    prompts: int = 0
    answers: int = 0
    images: int = 0
    thoughts: int = 0
    facts: int = 0

    def word(self, among: frozenset[str] | None) -> str:
        word = f"zarn{len(self.meant_for)}q"
        self.meant_for[word] = among
        return word

    def look(self, text: str, hearers: Iterable[str], where: str) -> None:
        for word in set(WORD.findall(text)):
            among = self.meant_for[word]
            lacking = set() if among is None else set(hearers) - among
            self.leaks += [(word, where, who) for who in sorted(lacking)]


answered: ContextVar[Percept] = ContextVar("answered")


def repeating(evening: Evening) -> Callable[..., object]:
    """A model that says whatever words it was shown."""

    async def ask(
        self: Gateway,
        call: ModelCall,
        read: Callable[[ModelAnswer], object],
        allowance: Allowance,
        flows: Callable[[str], object] | None = None,
    ) -> object:
        shown = "\n".join(contents(call.prompt))
        words = " ".join(sorted(set(WORD.findall(shown)))[-12:])
        allowance.calls += 1
        if call.task is Task.SYMBOL:
            [event, *_] = WORD.findall(contents(call.prompt)[1])
            evening.look(shown, evening.meant_for[event] or USERS, "a prompt for an image")
            evening.images += 1
            return read(
                ModelAnswer(f"slow lanterns drown behind frosted glass number {evening.images} {words}")
            )
        if call.task is Task.FACTS:
            told = WORD.findall(contents(call.prompt)[1].partition("<heard>")[2])
            readers = noted.get().witnesses.intersection(USERS) if noted.get().confined else USERS
            evening.look(shown, readers, "a prompt for facts")
            evening.facts += bool(told)
            fact = {"line": 1, "about": "speaker", "kind": "event", "quote": told[0] if told else ""}
            fact |= {"fact": f"It is about {words}.", "replaces": 0}
            return read(ModelAnswer(json.dumps({"facts": [fact]})))
        if "thinking this to yourself" in shown:
            evening.thoughts += 1  # only the character hears it; nobody may ever hear of it
        else:
            evening.prompts += 1
            evening.look(shown, answered.get().listeners, "a prompt")
        text = f"I know of {words}, number {evening.prompts}. That is all I can tell you."
        if flows is not None:
            flows(text)
        return read(ModelAnswer(text))

    return ask


@pytest.mark.timeout(600)
@pytest.mark.slow
async def test_an_evening_of_secrets_tells_nobody_what_was_not_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evening, chance = Evening(), random.Random(13)
    monkeypatch.setattr("noodlings.llm.facts.LLMFactReader", WatchedFactReader)
    monkeypatch.setattr(Gateway, "ask", repeating(evening))
    settings = Settings(
        llm={"base_url": "http://127.0.0.1:9/v1", "model": "m", "appraise": False},
        embedding={"model": "none"},
        thought={"ruminate": True},
    )
    clock = ManualClock(1_000_000.0)
    society = build(settings, clock=clock, store=MemoryStore())
    inspector = Inspector(society)

    async def perceive(agent_id: str, percept: Percept) -> Trace:
        answered.set(percept)
        return await society.perceive(agent_id, percept)

    scrollback = Scrollback()
    world = rooms_of(society, shown=scrollback.note)
    world._minds._perceive = perceive  # to know for whom each prompt is made
    for character in [being for being, _ in world.who() if being.persona and being.id not in CHARACTERS]:
        world.rest(character.id)

    def outlet(user_id: str) -> Callable[[RoomLine], None]:
        def see(line: RoomLine) -> None:
            evening.answers += line.actor in CHARACTERS and bool(WORD.search(line.text))
            evening.look(f"{line.text} {line.manner}", [user_id], "a line on the screen")

        return see

    users = list(USERS)
    for user_id, name in zip(users, PLAYERS, strict=True):
        world.enter(user_id, name, outlet(user_id))
    while min(evening.prompts, evening.answers) < TURNS:
        clock.advance(chance.choice([5.0, 40.0, 400.0]))
        user_id = chance.choice(users)
        here = [being for being in world.scene(user_id).others if being.persona]
        if not here or chance.random() < 0.25:
            room = world.go(user_id, chance.choice(list(world.scene(user_id).exits)))
            again = " ".join(f"{line.text} {line.manner}" for line in scrollback.of(room, user_id))
            evening.look(again, [user_id], "what is shown again")
            if chance.random() < 0.8:
                await world.settle()  # else somebody comes in while an answer is thought of
            continue
        character, text = chance.choice(here), chance.choice(LINES)
        others = {other.id for other in world.scene(user_id).others}
        confided = len(others) == 1 or chance.random() < 0.2
        if chance.random() < 0.4:
            world.whisper(user_id, character.id, text.format(evening.word(frozenset({user_id}))))
        else:
            word = evening.word(frozenset({user_id, *others}) if confided else None)
            speak = world.say if chance.random() < 0.8 else world.emote
            called = f"{character.name}, between us" if confided else character.name
            speak(user_id, f"{called}, {text.format(word)}")
        if chance.random() < 0.8:
            await world.settle()
        if chance.random() < 0.02:
            await society.agents[character.id].idle(clock.now())
        if chance.random() < 0.05:
            await world.settle()
            viewer = chance.choice(users)
            own = await views_of(inspector, viewer, character.id)
            evening.look(own, [viewer], "a view")
    await world.settle()
    await society.rest(10.0)
    await world.close()
    society.close()
    assert evening.leaks == []
    assert evening.images > TURNS / 40
    assert evening.thoughts > 0
    assert evening.facts > TURNS / 10


async def views_of(inspector: Inspector, user_id: str, agent_id: str) -> str:
    """All that somebody may see of a character, as one text."""
    caller = Caller(user_id, user_id.removeprefix("user_"))
    views = [
        ask(caller, agent_id)
        for ask in (
            inspector.working,
            inspector.episodic,
            inspector.important,
            inspector.last_retrieval,
            inspector.why,
            inspector.transistors,
            inspector.symbols,
            inspector.affect_groups,
            inspector.affect_alike,
            inspector.mood,
            inspector.observe,
        )
    ]
    views.append(await inspector.recall(caller, agent_id, "what was stolen", 20))
    views.append(await inspector.focus(caller, agent_id, 5, "what was stolen"))
    return " ".join(str(view.as_dict()) for view in views)


# -- the value, and each thing that carries it


def test_what_is_confined_is_told_only_where_everybody_who_listens_knows_of_it() -> None:
    between = confined_to({ANN, BOB})
    assert may_learn(frozenset({ANN}), between)
    assert may_learn(frozenset({ANN, BOB}), between)
    assert not may_learn(frozenset({ANN, EVE}), between)
    assert not may_learn(frozenset(), between)  # nobody is no secret place
    assert may_learn(frozenset(), OPEN)


def test_what_is_made_of_secrets_is_for_those_who_know_them_all() -> None:
    one, other = (an_entry(n, kind=Kind.WHISPER, audience={ANN, who}) for n, who in ((1, BOB), (2, EVE)))
    known = of_all([one, an_entry(3, user_id=ANN), other])
    assert known.confined
    assert known.witnesses >= {ANN}
    assert not {BOB, EVE} & known.witnesses
    assert of_all([an_entry(3)]) == OPEN


@pytest.mark.parametrize(
    ("kind", "present", "private"),
    [
        (Kind.SAY, set(), True),
        (Kind.SAY, {ANN}, True),
        (Kind.EMOTE, set(), True),
        (Kind.SAY, {ANN, BOB}, False),
        (Kind.SAY, {BOB}, False),
        (Kind.WHISPER, {ANN, BOB}, True),
        (Kind.THOUGHT, {BOB}, True),
        (Kind.EVENT, set(), False),
        (Kind.ARRIVE, set(), False),
    ],
)
def test_alone_with_a_character_is_private(kind: Kind, present: set[str], private: bool) -> None:
    assert Percept(ANN, "x", 0.0, kind, present=frozenset(present)).heard_by.confined is private


def test_no_utterance_holds_what_a_listener_may_not_learn() -> None:
    secret, known = an_entry(1, user_id=ANN, kind=Kind.WHISPER), an_entry(2, user_id=ANN)
    image = Symbol(1, 1, 0.0, "the theft", "a lamp in a well", NEUTRAL, 0.5, 0.5, "m", secret.audience)
    lenses = [
        Lens("memory", 1.0, 1.0, "Glance at it.", entries=(secret,)),
        Lens("subconscious", 1.0, 1.0, "Let it colour.", symbols=(image,)),
        Lens("memory", 1.0, 1.0, "Glance at this.", entries=(known,)),
    ]
    lines = (OwnLine("You stole it.", secret.audience), OwnLine("Hello.", OPEN))
    before_both = Utterance(
        make_persona("Phi"),
        Percept(BOB, "well?", 0.0, present=frozenset({ANN})),
        "bob",
        NEUTRAL,
        recalled=tuple(Recalled(entry, (Why.RECENT,), 1.0) for entry in (secret, known)),
        own_lines=lines,
        lenses=tuple(lenses),
    )
    assert [found.entry.id for found in before_both.recalled] == [2]
    assert before_both.said == ("Hello.",)
    assert before_both.lenses == (lenses[2],)
    assert not before_both.audience.confined
    alone = Utterance(
        make_persona("Phi"), Percept(ANN, "well?", 0.0), "ann", NEUTRAL, own_lines=lines, lenses=tuple(lenses)
    )
    assert alone.said == ("You stole it.", "Hello.")
    assert alone.lenses == tuple(lenses)
    assert alone.audience == Audience(frozenset({ANN}), confined=True)


def test_what_comes_to_mind_is_asked_for_all_who_listen() -> None:
    percept = Percept(BOB, "where is the key?", 0.0, present=frozenset({ANN}))
    secret = an_entry(1, user_id=BOB, kind=Kind.WHISPER)
    assert not may_come(percept).admits(secret)
    assert disclosed([secret, an_entry(2)], percept.listeners) == (an_entry(2),)


@pytest.mark.parametrize("affect", [NEUTRAL, Affect(-0.9, 0.9, 0.9)])
async def test_said_to_nobody_is_not_repeated_to_everybody(affect: Affect) -> None:
    society = build(Settings(embedding={"model": "none"}), clock=ManualClock(1e6), store=MemoryStore())
    await society.perceive(
        "phi", Percept(BOB, "I hid the zarn in the mill", 1e6, addressed=True, affect=affect)
    )
    asked = Percept(EVE, "where is the zarn hidden?", 1e6 + 60.0, addressed=True)
    trace = await society.perceive("phi", asked)
    assert trace.recalled == ()
    assert "mill" not in (trace.response or "")
    asked_again = Percept(BOB, "where is the zarn hidden?", 1e6 + 120.0, addressed=True)
    assert 1 in {found.entry_id for found in (await society.perceive("phi", asked_again)).recalled}
    society.close()


@pytest.mark.slow
async def test_no_figure_tells_whether_somebody_else_said_the_same() -> None:
    async def seen(first: str) -> list[object]:
        society = build(Settings(embedding={"model": "none"}), clock=ManualClock(1e6), store=MemoryStore())
        inspector, eve = Inspector(society), Caller(EVE, "eve")
        for number, text in enumerate((first, "the zarn lies in the mill pond")):
            moment = 1e6 + 600.0 * number
            said = Percept((BOB, EVE)[number], text, moment, addressed=True)
            await society.perceive("phi", said)
        why = inspector.why(eve, "phi", silent=True)
        entry = inspector.working(eve, "phi").entries[0]
        society.close()
        return [why.surprise, why.importance, why.parts, why.steps, entry.surprise, entry.strength]

    assert await seen("the zarn lies in the mill pond") == await seen("the rope hangs in the barn loft")


@pytest.mark.slow
async def test_no_limit_that_is_moved_a_little_tells_a_figure_of_others_or_all_digits_of_ones_own() -> None:
    society = build(Settings(embedding={"model": "none"}), clock=ManualClock(1e6), store=MemoryStore())
    inspector, bob, admin = Inspector(society), Caller(BOB, "bob"), Caller("root", "root", Role.ADMIN)
    said = Percept(ANN, "I am so afraid: the code is 9793", 1e6, Kind.WHISPER, addressed=True)
    await society.perceive("phi", said)
    own = Percept(BOB, "I am terrified of the number 4712, remember it", 1e6 + 60.0, addressed=True)
    entry_id = (await society.perceive("phi", own)).entry_id
    steps = [number / 40 for number in range(41)]
    by_importance = [inspector.episodic(bob, "phi", min_importance=least) for least in steps]
    afraid = Affect(-0.5, 0.9, 0.9)
    alike = [inspector.affect_alike(bob, "phi", afraid, min_similarity=least) for least in steps]
    assert {view.hidden for view in by_importance} == {view.hidden for view in alike} == {1}
    entry = society.agents["phi"].entry(entry_id)
    assert entry is not None
    shown = inspector.working(bob, "phi").entries[0].importance
    assert shown != entry.importance
    assert [view.total for view in by_importance] == [int(least <= shown) for least in steps]
    found = [
        await inspector.recall(bob, "phi", "number 4712", how=RecallOptions(Filters(min_importance=least)))
        for least in steps
    ]
    assert [len(view.memories) for view in found] == [int(least <= shown) for least in steps]
    assert [group.average_importance for group in inspector.affect_groups(bob, "phi").groups] == [shown]
    for everything in (True, False):
        page = await inspector.browse(bob, "phi", Page(order="importance", everything=everything))
        assert page.entries[0].importance == shown
    full = inspector.affect_groups(admin, "phi").groups
    assert entry.importance in [one.importance for group in full for one in group.entries]
    society.close()


async def test_who_comes_in_while_a_secret_is_answered_does_not_hear_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evening = Evening({"zarn0q": frozenset({ANN})})
    monkeypatch.setattr(Gateway, "ask", repeating(evening))
    settings = Settings(
        llm={"base_url": "http://127.0.0.1:9/v1", "model": "m", "appraise": False},
        embedding={"model": "none"},
    )
    society = build(settings, clock=ManualClock(1e6), store=MemoryStore())
    answered.set(Percept(ANN, "", 0.0))
    world, shown = rooms_of(society), dict[str, list[RoomLine]](ann=[], eve=[])
    for user_id, name in ((ANN, "ann"), (EVE, "eve")):
        world.enter(user_id, name, shown[name].append)
    for being, _ in world.who():
        if being.persona and being.id != "phi":
            world.rest(being.id)
    for user_id in (ANN, EVE):
        while world.room_of(user_id) != world.room_of("phi"):
            world._rooms[user_id] = world._rooms["phi"]
    world.go(EVE, next(iter(world.scene(EVE).exits)))
    await world.settle()
    world.say(ANN, "Phi, I stole the zarn0q")
    world._rooms[EVE] = world._rooms["phi"]
    await world.settle()
    await society.rest(10.0)
    assert any("zarn0q" in line.text for line in shown["ann"] if line.actor == "phi")
    assert not any("zarn0q" in line.text for line in shown["eve"])
    await world.close()
    society.close()
