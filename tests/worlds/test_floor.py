"""One decision for the room: who was meant answers, and nobody else; a question has one answer."""

import asyncio
import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.agent.decision import MAX_DEPTH, decide
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.errors import StoreError
from noodlings.host.visit import rooms_of
from noodlings.store.memory import MemoryStore
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.floor import Decision
from noodlings.values.percept import Percept
from noodlings.worlds.beings import Being, RoomLine
from noodlings.worlds.floor import TALK, RoomFloor, take_turns, to_everybody, wants_answer
from noodlings.worlds.minds import CAPACITY, Minds
from tests.fakes import make_persona

pytestmark = pytest.mark.slow

NAMES = ("Ada", "Bo", "Cyd", "Dee", "Eli")
PERSONAS = {name.lower(): make_persona(name, home="workshop") for name in NAMES}
BEINGS = {agent_id: Being(agent_id, persona.name, persona) for agent_id, persona in PERSONAS.items()}
IDS = {agent_id: persona.name for agent_id, persona in PERSONAS.items()}
NOW = 1_000_000.0

moments = st.none() | st.floats(NOW - 3 * TALK, NOW + 10.0)
bids = st.builds(
    Decision,
    speak=st.booleans(),
    reason=st.just("by itself"),
    eagerness=st.floats(0.0, 2.0),
    last_spoke=moments,
    lot=st.floats(0.0, 1.0),
)
rooms = st.dictionaries(st.sampled_from(list(IDS)), bids, min_size=1)


def speakers(decisions):
    return {who for who, decision in decisions.items() if decision.speak}


# -- the rule


@given(rooms)
def test_of_those_who_would_speak_one_does(room):
    decided = take_turns(room, IDS, NOW, asked=False)
    willing = speakers(room)
    assert decided.keys() == room.keys()
    assert speakers(decided) <= willing
    assert len(speakers(decided)) == min(len(willing), 1)
    for who in willing - speakers(decided):
        [first] = speakers(decided)
        assert decided[who].reason.startswith(f"left it to {IDS[first]}")


@given(rooms)
def test_a_question_is_answered_by_exactly_one_and_by_one_who_would_speak(room):
    decided = take_turns(room, IDS, NOW, asked=True)
    [first] = speakers(decided)
    assert first in (speakers(room) or room)


@given(rooms, st.randoms(use_true_random=False), st.booleans())
def test_the_order_of_the_bids_does_not_matter(room, chance, asked):
    shuffled = list(room.items())
    chance.shuffle(shuffled)
    assert take_turns(dict(shuffled), IDS, NOW, asked) == take_turns(room, IDS, NOW, asked)


@given(rooms, st.sets(st.sampled_from(list(IDS)), min_size=1), st.booleans())
def test_whoever_may_not_answer_is_not_made_to(room, barred, asked):
    room |= {who: Decision(False, "its own") for who in barred}
    decided = take_turns(room, IDS, NOW, asked)
    assert not speakers(decided) & barred
    assert len(speakers(decided)) <= 1


def bid(eagerness, last_spoke=None, lot=0.5, speak=True):
    return Decision(speak, "by itself", eagerness, last_spoke, lot)


@pytest.mark.parametrize(
    ("room", "first", "why"),
    [
        ({"ada": bid(0.3), "bo": bid(0.8)}, "bo", "left it to Bo (who had more to say)"),
        ({"ada": bid(0.30, NOW - 900), "bo": bid(0.33, NOW - 800)}, "ada", "left it to Ada this time"),
        ({"ada": bid(0.3, lot=0.2), "bo": bid(0.3, lot=0.1)}, "bo", "left it to Bo this time"),
        ({"ada": bid(1.3, NOW - 60), "bo": bid(0.2)}, "bo", "left it to Bo (having spoken last)"),
        ({"ada": bid(1.3, NOW - TALK), "bo": bid(0.2)}, "ada", "left it to Ada (who had more to say)"),
    ],
)
def test_who_has_most_to_say_speaks_and_who_spoke_last_stands_back(room, first, why):
    decided = take_turns(room, IDS, NOW, asked=False)
    assert speakers(decided) == {first}
    assert [decision.reason for decision in decided.values() if not decision.speak] == [why]


def test_where_nobody_would_the_nearest_to_it_answers_a_question_and_the_others_keep_their_reason():
    room = {"ada": bid(0.1, speak=False), "bo": bid(0.4, speak=False)}
    decided = take_turns(room, IDS, NOW, asked=True)
    assert decided == room | {"bo": Decision(True, "nobody else would answer")}
    assert take_turns(room, IDS, NOW, asked=False) == room


# -- the floor


@given(
    st.sets(st.sampled_from(list(IDS)), min_size=1),
    st.booleans(),
    st.lists(st.tuples(st.floats(0.0, 1.0), moments, st.integers()), min_size=5, max_size=5),
    st.permutations(list(IDS)),
)
async def test_exactly_those_who_are_named_answer_whatever_the_others_would_do(named, asked, lives, order):
    floor = RoomFloor(IDS, NOW, asked, "caity", [BEINGS[who] for who in sorted(named)])
    for who in order:
        surprise, last_spoke, seed = lives[order.index(who)]
        percept = Percept("user_caity", "…", NOW, addressed=who in named, floor=floor)
        chance = random.Random(seed)
        own = decide(percept, PERSONAS[who], NEUTRAL, surprise, last_spoke, chance)
        floor.bid(who, own)
    decisions = {who: await floor.decision(who) for who in order}
    assert speakers(decisions) == named
    names = " and ".join(IDS[who] for who in sorted(named))
    assert {decisions[who].reason for who in IDS.keys() - named} <= {f"it was said to {names}"}


async def test_whoever_was_asked_waits_for_nobody():
    floor = RoomFloor(IDS, NOW, to=[BEINGS["ada"]])
    floor.bid("ada", Decision(True, "addressed"))
    assert (await floor.decision("ada")).speak


async def test_a_hearer_that_drops_out_or_is_gone_is_not_waited_for_and_one_that_bids_late_is_silent():
    gone = {"cyd"}
    floor = RoomFloor(IDS, NOW, asked=True, here=lambda who: who not in gone)
    waiting = asyncio.create_task(floor.decision("ada"))
    for who, eagerness in (("ada", 0.2), ("bo", 0.1), ("cyd", 1.9)):
        floor.bid(who, bid(eagerness))
    floor.drop("dee")
    await asyncio.sleep(0)
    assert not waiting.done()
    floor.drop("eli")
    floor.bid("eli", bid(1.5))
    assert (await waiting).speak
    decisions = {who: await floor.decision(who) for who in ("bo", "cyd", "eli")}
    assert not speakers(decisions)
    assert decisions["eli"].reason == "the others went ahead"


async def test_a_mind_that_fails_is_cancelled_or_cannot_take_a_line_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("noodlings.worlds.minds.CAPACITY", 2)

    async def perceive(agent_id, percept):
        if percept.text == "bad":
            raise StoreError("the disk is full")
        await asyncio.Event().wait()

    minds, floors = Minds(perceive, lambda *turn: None), []
    for text in ("bad", "never begun", "too much"):
        floors.append(RoomFloor({"ada": "Ada", "bo": "Bo"}, NOW))
        floors[-1].bid("bo", bid(0.1))
        assert minds.hand("ada", Percept("user_caity", text, NOW, floor=floors[-1])) is (text != "too much")
    assert (await asyncio.wait_for(floors[2].decision("bo"), 30)).speak
    assert (await asyncio.wait_for(floors[0].decision("bo"), 30)).speak
    await minds.close()
    assert (await asyncio.wait_for(floors[1].decision("bo"), 30)).speak


async def test_a_mind_that_hangs_holds_nobody_up_for_long(monkeypatch):
    monkeypatch.setattr("noodlings.worlds.floor.PATIENCE", 0.0)
    floor = RoomFloor(IDS, NOW)
    floor.bid("ada", bid(0.1))
    assert (await asyncio.wait_for(floor.decision("ada"), 30)).speak


# -- whom words are for


@pytest.mark.parametrize(
    "text",
    ["Hello everybody", "hi all!", "good evening, folks", "Everyone, listen", "look, everybody",
     "Does anyone know where the key is?", "Is anybody here?", "which of you has the map", "thank you all"],
)  # fmt: skip
def test_words_to_everybody(text):
    assert to_everybody(text)
    assert wants_answer(text)


@pytest.mark.parametrize(
    "text",
    ["all is well", "everybody hates me", "Did you tell anyone?", "I told everyone", "my friends came"],
)
def test_words_about_everybody_are_not_for_everybody(text):
    assert not to_everybody(text)


@pytest.mark.parametrize("text", ["and you?", "what is this place", "hello", "Good morning!", "hi there"])
def test_words_that_want_an_answer(text):
    assert wants_answer(text)
    assert not to_everybody(text)


@pytest.mark.parametrize(
    "text", ["I like it here", "oh", "what a day", "…", "?!"[1:], "\u0130" * 4000, "all " * 999]
)
def test_words_that_want_none(text):
    assert not wants_answer(text)


# -- in the world, with agents of which only the voice is offline


class Room:
    """Five characters and two players in one room; each line is said a little after the one before."""

    def __init__(self, tmp_path, names=NAMES, seed=0):
        (tmp_path / "recipes").mkdir(parents=True, exist_ok=True)
        for name in names:
            recipe = f"id: {name.lower()}\nname: {name}\nspecies: noodling\nhome: workshop\n"
            (tmp_path / "recipes" / f"{name.lower()}.yaml").write_text(recipe)
        settings = Settings(store={"path": str(tmp_path)}, embedding={"model": "none"}, world={"seed": seed})
        self.clock, self.store = ManualClock(NOW), MemoryStore()
        self.society = build(settings, clock=self.clock, store=self.store)
        self.lines: list[RoomLine] = []
        self.traces = []
        self.society.watch(lambda event: self.traces.append(event.trace) if event.step == "turn" else None)
        self.world = rooms_of(self.society)
        for being, _ in [*self.world.who()]:
            if being.name not in names:
                self.world.rest(being.id)
        self.world.enter("user_caity", "caity", self.lines.append)
        self.world.enter("user_bob", "bob", lambda line: None)

    async def after(self, act, *words, who="user_caity", seconds=30.0):
        """Who answered an act, in order, after some seconds; not who answered the answers."""
        await self.world.settle()
        self.clock.advance(seconds)
        self.traces.clear()
        act(who, *words)
        await self.world.settle()
        of = [self.society.agents[trace.agent_id].entry(trace.entry_id).user_id for trace in self.traces]
        self.heard = {}
        for trace, user_id in zip(self.traces, of, strict=True):
            if user_id == who:  # the first of each: an answer by name may lead to more between the two
                self.heard.setdefault(trace.agent_id, trace)
        return [agent_id for agent_id, trace in self.heard.items() if trace.response]

    async def say(self, text, **more):
        return await self.after(self.world.say, text, **more)

    def why(self, agent_id):
        """The reason that is kept of its decision on the latest act."""
        [kept] = self.store.traces(agent_id, 1, before=self.heard[agent_id].entry_id + 1)
        return kept.decision

    async def close(self):
        await self.world.settle()
        await self.world.close()
        self.society.close()


@pytest.fixture
async def room(tmp_path, monkeypatch):
    monkeypatch.setattr("noodlings.worlds.floor.PATIENCE", 1e6)  # nothing here is decided by the hour
    room = Room(tmp_path)
    yield room
    await room.close()


OPEN = ("Hello everybody!", "Does anyone know a song?", "What is this place?", "Is it far to the sea?")


async def test_five_who_hear_one_line_give_one_answer_however_often(room):
    answered = [await room.say(text, seconds=2 * TALK) for text in OPEN * 5]
    assert {len(who) for who in answered} == {1}
    assert len({who for [who] in answered}) > 2


async def test_what_asks_nothing_is_answered_by_one_at_most(room):
    answered = [await room.say(f"I saw {number} geese", seconds=2 * TALK) for number in range(30)]
    assert {len(who) for who in answered} == {0, 1}
    reasons = {room.heard[who].decision.partition(" (")[0] for who in room.heard}
    assert reasons <= {"felt like it", "kept silent"} | {
        f"left it to {name}{why}" for name in NAMES for why in (" (who had more to say)", " this time")
    }


async def test_and_you_is_for_whoever_one_just_talked_with(room):
    assert await room.say("Bo, how are you?") == ["bo"]
    assert room.why("ada") == "it was said to Bo"
    assert await room.say("And you?") == ["bo"]
    assert room.why("bo") == "in talk with caity"
    assert room.why("ada") == "caity is in talk with Bo"
    assert await room.say("I like it here.", seconds=TALK - 1) == ["bo"]
    await room.say("Cyd, and you?")
    assert await room.say("I see.") == ["cyd"]
    assert [entry.parts.addressed for entry in room.society.agents["cyd"].memory.retrieve_working()[-2:]] == [
        1,
        1,
    ]
    assert len(await room.say("Does anybody know the way?")) == 1
    assert room.why("ada") not in ("caity is in talk with Cyd", "it was said to Cyd")


def _time_passes(room):
    room.clock.advance(TALK)


def _he_goes(room):
    room.world.rest("bo")


def _they_go_elsewhere(room):
    for who in ("user_caity", "bo", "cyd"):
        room.world.go(who, "east")


@pytest.mark.parametrize("end", [_time_passes, _he_goes, _they_go_elsewhere])
async def test_a_talk_ends(room, end):
    assert await room.say("Bo, how are you?") == ["bo"]
    end(room)
    await room.say("I like it here.", seconds=1.0)
    assert len(room.heard) > 1
    assert all("in talk" not in room.why(who) for who in room.heard)


async def test_what_is_said_to_a_player_no_character_answers(room):
    for text in ("bob, how are you?", "How are you, Bob?", "hello bob"):
        assert await room.say(text) == []
        assert room.why("ada") == "it was said to bob"
    assert await room.say("fine, and you?", who="user_bob") == []
    assert room.why("ada") == "bob is in talk with caity"
    assert await room.say("Fine. Ada, do you know bob?") == ["ada"]
    assert await room.after(room.world.emote, "waves at bob") == []


async def test_those_who_are_named_answer_and_nobody_else(room):
    assert sorted(await room.say("Ada and Dee, do you hear me?")) == ["ada", "dee"]
    assert room.why("eli") == "it was said to Ada and Dee"


async def test_a_whisper_is_the_business_of_two(room):
    assert await room.after(room.world.whisper, "Bo", "I stole the crown") == ["bo"]
    assert room.heard.keys() == {"bo"}
    assert room.why("bo") == "addressed"


async def test_one_at_most_greets_whoever_comes(room):
    greeted = []
    for number in range(40):
        act = lambda who: room.world.enter(who, who[5:], lambda line: None)  # noqa: E731
        greeted.append(len(await room.after(act, who=f"user_guest{number}", seconds=TALK)))
    assert set(greeted) == {0, 1}


async def test_no_musing_is_answered_by_more_than_one(room):
    for act in (room.world.say, room.world.emote):
        assert await room.after(act, "a fine day", 1, who="ada") == []
        assert room.why("bo") == "not its talk"
    assert await room.after(room.world.say, "Bo, look", 1, who="ada") == ["bo"]


async def test_answers_do_not_go_round_in_the_room(room):
    traces = room.traces
    await room.say("What is this place?")
    assert len([trace for trace in traces if trace.response]) <= MAX_DEPTH + 1


async def test_the_same_script_gives_the_same_session(tmp_path):
    sessions = []
    for name in ("one", "two"):
        room = Room(tmp_path / name)
        for text in (*OPEN, "And you?", "I saw a goose", "bob, look", "Eli?"):
            await room.say(text)
        sessions.append([(line.name, line.text, line.kind) for line in room.lines])
        await room.close()
    assert sessions[0] == sessions[1]


async def test_a_silent_listener_costs_one_commit(room, monkeypatch):
    await room.say("Bo, how are you?")
    commits, commit = Counter(), room.store.commit

    def counted(changes):
        commits[changes.agent_id] += 1
        return commit(changes)

    monkeypatch.setattr(room.store, "commit", counted)
    for text, seconds in (("And you?", 1.0), ("What is this place?", 2 * TALK), ("I saw a goose", 2 * TALK)):
        commits.clear()
        await room.say(text, seconds=seconds)
        turns = Counter(trace.agent_id for trace in room.traces)
        silent = {who for who in IDS if not room.heard[who].response and not room.why(who).startswith("left")}
        assert len(silent) > 1
        assert all(commits[who] == turns[who] for who in silent)


@pytest.mark.slow
async def test_one_that_fails_or_cannot_keep_up_is_not_waited_for(room, monkeypatch):
    commit = room.store.commit

    def failing(changes):
        if changes.agent_id == "ada":
            raise StoreError("the disk is full")
        return commit(changes)

    monkeypatch.setattr(room.store, "commit", failing)
    for text in OPEN:
        assert len(await room.say(text, seconds=2 * TALK)) == 1
        assert "ada" not in room.heard
    monkeypatch.setattr(room.store, "commit", commit)
    room.clock.advance(2 * TALK)
    for number in range(CAPACITY + 5):
        room.world.say("user_caity", f"What is {number}?")
    room.world.rest("bo")
    await asyncio.wait_for(room.world.settle(), 50)


async def test_a_percept_is_kept_though_the_world_ends_before_it_is_decided(room):
    await room.world.settle()
    room.world.say("user_caity", "Does anyone know a song?")
    await asyncio.sleep(0)
    await room.world.close()
    for who in IDS:
        entries = room.society.agents[who].memory.retrieve_working()
        assert entries[-1].user_text == "Does anyone know a song?"


async def test_an_agent_decides_by_itself_without_a_floor(room):
    await room.world.settle()
    heard = Percept("user_caity", "Does anyone know a song?", room.clock.now() + 500.0)
    traces = [await room.society.perceive(who, replace(heard)) for who in IDS]
    assert {trace.decision.partition(" (")[0] for trace in traces} <= {"felt like it", "kept silent"}


STIRRING = {"affect": Affect(-0.9, 0.9, 0.9), "surprise": 1.0}
"""What almost everybody would say something to."""


async def test_what_came_first_is_answered_first_though_it_is_decided_later(room):
    await room.world.settle()
    now, answered = room.clock.now() + 500.0, []
    open_floor = RoomFloor({"ada": "Ada", "bo": "Bo"}, now, asked=True)

    async def hear(text, **more):
        await room.society.perceive("ada", Percept("user_caity", text, now, **more), answered.append)

    first = asyncio.create_task(hear("What is this place?", floor=open_floor))
    floor = RoomFloor({"ada": "Ada"}, now, to=[BEINGS["ada"]])
    second = asyncio.create_task(hear("Ada?", floor=floor, addressed=True))
    for _ in range(20):
        await asyncio.sleep(0)
    assert (first.done(), second.done(), answered) == (False, False, [])
    open_floor.drop("bo")
    await asyncio.gather(first, second)
    heard = room.society.agents["ada"].memory.retrieve_working()
    assert [entry.response for entry in heard[-2:]] == answered
    assert len(set(answered)) == 2


async def test_what_is_forgotten_while_others_bid_leaves_no_trace(room):
    await room.world.settle()
    now, ada = room.clock.now() + 500.0, room.society.agents["ada"]
    floor = RoomFloor({"ada": "Ada", "bo": "Bo"}, now)
    heard = Percept("user_caity", "The mill is on fire!", now, floor=floor, **STIRRING)
    turn = asyncio.create_task(room.society.perceive("ada", heard))
    await asyncio.sleep(0)
    entry = ada.memory.retrieve_working()[-1]
    assert entry.user_text == "The mill is on fire!"
    ada.forget([entry.id], "user_caity", now)
    floor.bid("bo", bid(9.0))
    assert (await turn).decision == "left it to Bo (who had more to say)"
    assert all(trace.entry_id != entry.id for trace in room.store.traces("ada", 100))


async def test_who_was_asked_itself_answers_however_late_it_bids() -> None:
    floor = RoomFloor({"ada": "Ada", "bo": "Bo"}, NOW)
    floor.bid("ada", bid(0.5))
    floor.decide()
    floor.bid("bo", Decision(True, "addressed"))
    assert (await floor.decision("bo")).speak
