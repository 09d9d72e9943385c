"""Tiers on the way of a percept: who sets them, what they keep back, and what becomes of what is sealed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from time import process_time
from typing import Any

import pytest

from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.errors import UserError
from noodlings.host.visit import rooms_of
from noodlings.inspect.inspector import Inspector
from noodlings.logs import logging_to
from noodlings.ports import OwnLine, Utterance
from noodlings.store.cipher import UserKey
from noodlings.store.database import Database
from noodlings.store.memory import MemoryStore
from noodlings.store.transfer import snapshot
from noodlings.store.vault import Encryption
from noodlings.values.affect import NEUTRAL
from noodlings.values.audience import Audience, Tier
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import Kind, Percept, in_confidence
from noodlings.worlds.rooms import Scrollback
from tests.at_rest import found
from tests.fakes import make_persona

KEY = UserKey(bytes(32))
BEGAN = 1.7e9
ADMIN = Caller("user_root", "root", Role.ADMIN)
Make = Callable[..., Society]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes societies with sections of settings, over the same folder; with a key unless told otherwise."""
    made: list[Society] = []

    def one(key: str = KEY.text, **sections: Any) -> Society:
        store = {"path": str(tmp_path), "key": key}
        settings = Settings.model_validate({"store": store, "embedding": {"model": "none"}} | sections)
        made.append(build(settings, clock=ManualClock(BEGAN)))
        return made[-1]

    yield one
    for society in made:
        society.close()


def whispered(text: str, tier: int = 0, at: float = 0.0) -> Percept:
    return Percept("user_caity", text, BEGAN + at, Kind.WHISPER, True, tier=Tier(tier))


@pytest.mark.parametrize("tier", [-1, 4, 1.5, "2"])
def test_a_number_that_is_no_tier_is_refused(tier: Any) -> None:
    with pytest.raises(UserError, match="0 \\(open\\), 1, 2 or 3 \\(sealed\\)"):
        Percept("user_caity", "hello", 0.0, tier=tier)


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("audience", [None, ["user_bo"], Audience(frozenset({"user_bo"}))])
def test_a_tier_confines_whatever_it_is_to_those_who_witness_it(kind: Kind, audience: Any) -> None:
    percept = Percept("user_caity", "x", 0.0, kind, audience=audience, present=frozenset({"user_bo"}), tier=2)
    assert percept.heard_by == Audience(frozenset({"user_bo", "user_caity"}), True, Tier.SECRET)


async def test_without_a_key_a_secret_is_refused_before_anything_of_it_is_kept(make: Make) -> None:
    society = make(key="")
    phi = society.agents["phi"]
    for tier in (2, 3):
        with pytest.raises(UserError, match="noodlings key new FILE"):
            await society.perceive("phi", whispered("the spare key is under the pot", tier))
    assert phi.memory.stats().perceived == 0
    assert society.store.archive("phi") == []
    assert "spare" not in json.dumps(phi.state().data)


def test_a_kind_that_is_secret_by_the_settings_needs_a_key_at_once(make: Make) -> None:
    with pytest.raises(UserError, match="can only be kept encrypted"):
        make(key="", privacy={"tiers": {"whisper": 2}})


async def test_kinds_have_the_tier_of_the_settings_at_least(make: Make) -> None:
    society = make(privacy={"tiers": {"whisper": 2, "say": 1}})
    for percept in (whispered("psst"), Percept("user_caity", "hello", BEGAN, present=frozenset({"user_bo"}))):
        await society.perceive("phi", percept)
    assert [entry.tier for entry in society.store.archive("phi")] == [Tier.SECRET, Tier.CONFINED]


@pytest.mark.parametrize(
    ("text", "confided"),
    [
        ("Between us, I never liked the mayor.", True),
        ("phi, between you and me: he snores", True),
        ("this is just between us, but I am leaving", True),
        ("keep that between ourselves", True),
        ("he snores, between us.", True),
        ("servnak, between us, he snores", True),
        ("hey servnak: just between us", True),
        ('leans over: "between us, he snores"', True),
        ("so, this is between us", True),
        ("this stays between us: my cat is ill", True),
        ("my goat is ill, but that must stay between you and me", True),
        ("can this stay between us? my cow is ill", True),
        ("let this remain between us", True),
        ("it is between us", True),
        ("well, that should be just between us two", True),
        ("that’s between us", True),
        ("just between the two of us", True),
        ("between you and I, he snores", True),
        ("keep what I say between us", True),
        ("I'd like it kept strictly between ourselves", True),
        ("Servnak, don’t tell Mira that I broke the jar", True),
        ("keep it to yourself, but I am leaving", True),
        ("my cat is ill, but please don't tell anyone", True),
        ("Servnak don't tell Mira that I broke the jar", True),
        ("Servnak between us: my cat is ill", True),
        ("In confidence, my cousin is a thief", True),
        ("Off the record: he snores", True),
        ("This is a secret: he snores", True),
        ("it's our little secret, he snores", True),
        ("tell no one, but he snores", True),
        ("promise you won't tell: he snores", True),
        ("nobody must know that he snores", True),
        ("please keep this private: he snores", True),
        ("you can't tell a soul, he snores", True),
        ("I've never told anyone this: he snores", True),
        ("for your ears only: he snores", True),
        ("You must never repeat this, he snores", True),
        ("Servnak, do not repeat this: he snores", True),
        ("this must not leave this room, he snores", True),
        ("you didn't hear it from me, he snores", True),
        ("between you, me and the lamppost, he snores", True),
        ("have confidence, you can do it", False),
        ("she lives quite privately now", False),
        ("the king has a secret garden", False),
        ("you can't tell anyone apart in this fog", False),
        ("do not leave this room", False),
        ("nobody must eat that", False),
        ("I promise to tell you", False),
        ("I do not share that view of yours", False),
        ("I don't tell lies", False),
        ("stones do not speak", False),
        ("the river runs between us", False),
        ("there is a wall between us", False),
        ("there remains a wall between us", False),
        ("what is the difference between you and me", False),
        ("the difference between you and I is small", False),
        ("the distance between the two of us", False),
        ("don't tell me what to do", False),
        ("there is a secret door", False),
        ("the quiet between us, the hum", False),
        ("there was nothing between us", False),
        ("the table stands between us and the door", False),
        ("choose between us two", False),
    ],
)
@pytest.mark.parametrize("kind", [Kind.SAY, Kind.EMOTE, Kind.EVENT])
def test_between_us_is_in_confidence(text: str, confided: bool, kind: Kind) -> None:
    said = Percept("user_caity", text, BEGAN, kind, present=frozenset({"user_bo"}))
    assert said.heard_by.tier is (Tier.CONFINED if confided and kind is not Kind.EVENT else Tier.OPEN)


SECRETS = """
I'm telling you this in strict confidence, my brother forged the deed
speaking in confidence, I dislike the bishop
Bob, strictly off the record, I voted for the duke
all this is strictly confidential, the queen is ill
privately, I think the baker is a thief
swear to me that you will never tell, I am the heir
you mustn’t tell a soul, but I can read
let it be our secret, I fed the wolf
I've got a little secret and you must help me
it's a family secret, we are bankrupt
nobody else may ever hear of it, I broke the bell
no-one can know about this, I deserted
I haven't told anybody yet, I am leaving in spring
this is meant for your ears alone, the pass is unguarded
could you keep that quiet? I owe the baker
keep everything I said under wraps
phi, never repeat this: the mayor snores
please do not share that with the guards
don't mention this to my wife, I gamble
but tell no soul that I wept
maren, I'll tell you something nobody else knows: I was in prison once
"""
NO_SECRETS = """
the secret garden lies behind the mill
I have a secret passage to show you
my secret recipe is famous
who told no one?
he swore he would tell no one
she was secretly pleased
keep quiet, all of you
keep this door shut
you have grown in confidence since spring
the record is off by a mile
we met in private rooms
you can't tell left from right
won't you tell us a story?
don't mention it, you are welcome
do not repeat yourself
never share a boat with a fool
no one should go hungry
there is something nobody knows about the swamp
nobody may pass without a coin
I have never told a lie
it is not just between us, the whole town knows
"""


@pytest.mark.parametrize(
    ("text", "confided"),
    [(line, told is SECRETS) for told in (SECRETS, NO_SECRETS) for line in told.strip().splitlines()],
)
def test_ordinary_words_for_a_secret(text: str, confided: bool) -> None:
    assert in_confidence(Kind.SAY, text) is confided


@pytest.mark.parametrize(
    "beginnings",
    [
        "just, keep it, so ",
        "keep what ",
        "keep it a ",
        "it will be just ",
        ", ",
        " ",
        "s",
        ", don't ",
        "kept all ",
        "'",
        "'a",
        "a ",
        "my a",
        "swear a b c ",
        "in the full ",
        "nobody else must ever ",
    ],
)
def test_a_long_line_of_beginnings_takes_no_time(beginnings: str) -> None:
    began = process_time()
    assert not in_confidence(Kind.SAY, "between, " + beginnings * 6_000)
    assert process_time() - began < 0.5


@pytest.mark.parametrize("personal", ["raise", "mask"])
async def test_who_comes_in_is_shown_nothing_that_the_settings_keep(make: Make, personal: str) -> None:
    scrollback = Scrollback()
    society = make(privacy={"personal": personal, "tiers": {"emote": 1}})
    world = rooms_of(society, shown=scrollback.note)
    for name in ("ann", "bob"):
        world.enter(f"user_{name}", name, lambda line: None)
    world.emote("user_ann", "hides a key in the clock")
    for line in ("my number is 212-555-0142", "nice clocks", "between us, they are wrong"):
        world.say("user_ann", line)
    room = world.room_of("user_ann")
    assert [line.text for line in scrollback.of(room, "user_eve")] == ["nice clocks"]
    assert len(scrollback.of(room, "user_bob")) == 4
    await world.close()


async def test_an_answer_made_of_a_secret_is_one(make: Make) -> None:
    society = make()
    phi = society.agents["phi"]
    await society.perceive("phi", whispered("my sister is called Zuleika", 2))
    trace = await society.perceive("phi", whispered("what is my sister called?", at=60.0))
    assert "zuleika" in (trace.response or "").lower()
    assert trace.audience.tier is Tier.SECRET
    kept = society.store.entries("phi", [trace.entry_id])[trace.entry_id]
    assert kept.tier is Tier.SECRET
    assert phi.state().data["said"][-1]["tier"] == 2


def test_what_is_said_out_of_an_utterance_has_the_highest_tier_that_it_holds() -> None:
    both = Audience(frozenset({"user_caity", "phi"}), tier=Tier.SECRET)
    lines = (OwnLine("a", both), OwnLine("b", Audience(frozenset({"user_caity"}), confined=True)))
    percept = Percept("user_caity", "hello", 0.0, present=frozenset({"user_caity"}))
    utterance = Utterance(make_persona("Phi"), percept, "caity", NEUTRAL, own_lines=lines)
    assert utterance.audience.tier is Tier.SECRET
    told = Utterance(make_persona("Phi"), percept, "caity", NEUTRAL, own_lines=lines, reach=Tier.CONFINED)
    assert told.said == ("b",)
    assert told.audience.tier is Tier.CONFINED


async def test_a_thought_about_secrets_is_one(make: Make) -> None:
    society = make()
    phi = society.agents["phi"]
    await society.perceive("phi", whispered("remember that my dog is called Zuleika; it died!", 2))
    trace = await phi._follow_up.ruminate(BEGAN + 60.0)
    assert trace is not None
    assert society.store.entries("phi", [trace.entry_id])[trace.entry_id].tier is Tier.SECRET


SEALED = "My real name is Zuleika Quagga, and I am terrified!"


async def test_of_what_is_sealed_there_are_words_in_the_store_alone(make: Make, tmp_path: Path) -> None:
    society = make()
    phi = society.agents["phi"]
    heard: list[str] = []
    society.watch(lambda event: heard.append(repr(event)))
    trace = await society.perceive("phi", whispered(SEALED, 3))
    await society.perceive("phi", whispered("what is my real name?", at=60.0))
    await phi._follow_up.ruminate(BEGAN + 120.0)
    assert trace.response is None
    assert trace.decision == "it is sealed"
    assert trace.affect.intensity > 0.0
    inspector = Inspector(society)
    everywhere = [
        *heard,
        repr(phi.memory.retrieve_working()),
        repr(phi.memory.retrieve_episodic(limit=None)),
        repr(society.store.archive("phi")),
        repr(society.store.traces("phi", 9)),
        repr(society.store.load("phi")),
        json.dumps(phi.state().data),
        repr(await inspector.recall(ADMIN, "phi", "real name terrified")),
        repr(await inspector.browse(ADMIN, "phi")),
        repr(await inspector.people(ADMIN, "phi")),
        repr(await inspector.journal(ADMIN, "phi")),
        repr(inspector.why(ADMIN, "phi", back=2, silent=True)),
        repr(inspector.symbols(ADMIN, "phi")),
    ]
    assert not [text for text in everywhere if "zuleika" in text.lower() or "quagga" in text.lower()]
    assert phi.memory.stats().perceived >= 2
    assert await phi.answer_again(trace.entry_id) is None
    with snapshot(tmp_path, Encryption.of(society.settings.store), sealed_words=True) as kept:
        assert next(kept.entries("phi")).entry.user_text == SEALED
    with snapshot(tmp_path, Encryption.of(society.settings.store)) as kept:
        assert next(kept.entries("phi")).entry.user_text == ""


async def test_where_something_sealed_was_said_is_kept_with_its_words_alone(
    make: Make, tmp_path: Path
) -> None:
    society = make()
    sealed = replace(whispered(SEALED, 3), place="Room 4 of the quagga ward")
    trace = await society.perceive("phi", sealed)
    society.agents["phi"].remember_told(replace(sealed, timestamp=BEGAN + 1.0), "talk:log", NEUTRAL, None)
    society.agents["phi"].keep()
    entry = society.agents["phi"].entry(trace.entry_id)
    assert entry is not None
    assert entry.place == ""
    assert [kept.place for kept in society.store.archive("phi")] == ["", ""]
    assert list(society.store.columns("phi", "").places) == ["", ""]
    with snapshot(tmp_path, Encryption.of(society.settings.store), sealed_words=True) as kept:
        assert [one.entry.place for one in kept.entries("phi")] == [sealed.place] * 2
    assert found(tmp_path, ["quagga"]) == {}


@pytest.mark.parametrize("read", [False, True])
async def test_a_question_that_its_answer_makes_secret_is_plain_nowhere(
    make: Make, tmp_path: Path, read: bool
) -> None:
    society, copied = make(), tmp_path.with_suffix(".copy")
    with logging_to(tmp_path, "info"), closing(sqlite3.connect(tmp_path / "noodlings.db")) as reader:
        await society.perceive("phi", whispered("my sister Wilhelmina hid the Quagmiregem in the crypt", 2))
        if read:
            reader.execute("BEGIN").execute("SELECT count(*) FROM entries").fetchone()
        question = "Where did my quagga sister Wilhelmina hide it?"
        trace = await society.perceive("phi", whispered(question, at=60.0))
        await society.rest(5.0)
        assert trace.audience.tier is Tier.SECRET
        copytree(tmp_path, copied)  # as a kill leaves it
        reader.rollback()
        await society.perceive("phi", whispered("hello", at=120.0))
        assert found(tmp_path, ["quagga"]) == {}
    assert bool(found(copied, ["quagga"])) is read
    Database(copied, encryption=Encryption.of(society.settings.store)).close()
    assert found(copied, ["quagga"]) == {}


async def test_what_is_sealed_is_kept_through_changes_and_forgotten(make: Make, tmp_path: Path) -> None:
    society = make()
    phi = society.agents["phi"]
    trace = await society.perceive("phi", whispered(SEALED, 3))
    entry = phi.entry(trace.entry_id)
    assert entry is not None
    phi.memory.pin(entry)
    phi.keep()
    with snapshot(tmp_path, Encryption.of(society.settings.store), sealed_words=True) as kept:
        (one,) = kept.entries("phi")
    assert one.entry.user_text == SEALED
    assert one.entry.pinned
    assert phi.forget([trace.entry_id], "user_caity", BEGAN).count == 1
    with snapshot(tmp_path, Encryption.of(society.settings.store), sealed_words=True) as kept:
        assert list(kept.entries("phi")) == []


async def test_tiers_are_there_after_a_start(make: Make) -> None:
    society = make()
    await society.perceive("phi", whispered("my sister is called Zuleika", 2))
    said = society.agents["phi"].state().data["said"]
    society.close()
    again = make()
    assert again.agents["phi"].memory.retrieve_working()[0].tier is Tier.SECRET
    assert again.agents["phi"].state().data["said"] == said


async def test_a_store_in_memory_keeps_secrets_without_a_key() -> None:
    settings = Settings.model_validate({"embedding": {"model": "none"}})
    with closing(build(settings, clock=ManualClock(BEGAN), store=MemoryStore())) as society:
        await society.perceive("phi", whispered(SEALED, 3))
        (kept,) = society.store.archive("phi")
    assert kept.tier is Tier.SEALED
    assert kept.user_text == ""


def test_prompts_are_not_recorded_beside_what_is_encrypted(make: Make, tmp_path: Path) -> None:
    llm = {"base_url": "http://127.0.0.1:9/v1", "model": "m", "record": str(tmp_path / "calls.jsonl")}
    with pytest.raises(UserError, match=r"llm\.record"):
        make(llm=llm)


@pytest.mark.parametrize(("host", "asks"), [("127.0.0.1", True), ("127.0.0.2", False)])
def test_a_clients_own_task_goes_to_no_other_machine_where_speech_is_secret(
    make: Make, host: str, asks: bool
) -> None:
    llm = {"base_url": f"http://{host}:9/v1", "model": "m"}
    assert (make(llm=llm, privacy={"tiers": {"say": 2}}).ask is not None) is asks
