"""Forgetting leaves nothing behind, pins hold, what can be taken back is, and only for those who may."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from noodlings.agent import corrections as corrections_module
from noodlings.agent.corrections import ERASING_REST, UNDO_SECONDS, UNDO_STEPS, Erasures
from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import MemorySettings, MemoryWindows, Settings
from noodlings.errors import Busy, Forbidden, NotFound, StoreError, UserError
from noodlings.ingest.pipeline import Pipeline
from noodlings.ingest.record import SourceRecord
from noodlings.memory.saved import SavedEntry, record_of
from noodlings.mind import meaning
from noodlings.ports import Allowance, Repository, Speech, Utterance
from noodlings.scheduling import AT_ONCE
from noodlings.store.memory import MemoryStore
from noodlings.store.sql import SqlStore
from noodlings.values.affect import Affect
from noodlings.values.audience import Tier, confined_to
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import Link, LinkType, MemoryEntry
from noodlings.values.percept import Kind, Percept
from noodlings.voice import understanding
from noodlings.voice.question import only_asks
from tests.fakes import HandTimer, make_persona
from tests.thorough import examples

ADMIN = Caller("user_root", "root", Role.ADMIN)
CAITY = Caller("user_caity", "caity")
BOB = Caller("user_bob", "bob")
SECRET = "my dog Zanzibar drowned in the harbour"
SMALL = Settings(
    store={"path": "nowhere"},
    embedding={"model": "none"},
    thought={"ruminate": False},
    memory_windows={"working": 4, "episodic": 5},
)
TWO_PLACES = MemoryWindows(working=4, episodic=2)
GRIEF = Affect(-0.9, 0.8, 0.4, 0.9, 0.0)


def records(entries: Iterable[MemoryEntry]) -> list[dict[str, Any]]:
    """Entries as something that can be compared, although some of them hold arrays."""
    return [record_of(SavedEntry(entry, working=False, episodic=False)) for entry in entries]


@pytest.fixture(params=["sql", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Repository]:
    made: Repository = SqlStore(tmp_path) if request.param == "sql" else MemoryStore()
    yield made
    made.close()


@pytest.fixture
def make_society(make_agent, store, clock) -> Callable[..., Society]:
    """The society that the store holds: called again, it is the one after a restart."""

    def make(**changes: object) -> Society:
        personas = [make_persona("Phi"), make_persona("Servnak")]
        return Society(lambda who: make_agent(who.name, **changes), personas, clock, Settings(), store)

    return make


@pytest.fixture
def tell(clock) -> Callable:
    """Lets Phi hear something, a minute later."""

    async def tell(society, text, user="user_caity", **changes):
        clock.advance(60)
        fields = {"addressed": True} | changes
        return await society.perceive("phi", Percept(user, text, clock.now(), **fields))

    return tell


def everything(society: Society) -> str:
    """All that Phi has in mind and all that is kept of it, as text."""
    agent, store = society.agents["phi"], society.store
    streams = (
        agent.memory.retrieve_working(),
        agent.memory.retrieve_episodic(limit=None),
        store.archive("phi", limit=10_000),
        store.traces("phi", 10_000),
    )
    return json.dumps(agent.state().data) + repr(streams)


def kept_bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())


class SlowVoice:
    """A model that repeats all it was given, once `gate` is open."""

    name = "llm"

    def __init__(self) -> None:
        self.gate, self.asked = asyncio.Event(), asyncio.Event()
        self.heard: list[Utterance] = []

    async def speak(self, utterance: Utterance, allowance: Allowance) -> Speech:
        self.heard.append(utterance)
        self.asked.set()
        await self.gate.wait()
        texts = [found.entry.user_text for found in utterance.recalled]
        return Speech(" ".join(["You said", *texts, *utterance.said]))

    async def is_asked(self) -> None:
        """Wait until somebody wants it to speak."""
        await asyncio.wait_for(self.asked.wait(), 10)
        self.asked.clear()


# -- forgetting


async def test_nothing_is_left_of_what_was_forgotten(make_society, tell, tmp_path):
    society = make_society()
    told = await tell(society, SECRET)
    for text in ("Do you remember my dog?", "What happened in the harbour?", "Are you hungry?"):
        await tell(society, text)
    answers = [entry.response for entry in society.store.archive("phi") if entry.id != told.entry_id]
    assert any("zanzibar" in answer.lower() for answer in answers)
    familiar = len(society.agents["phi"].state().data["mind"]["familiar"]["times"])

    corrections = society.corrections
    forgotten = await corrections.erased(corrections.forget(CAITY, "phi", [told.entry_id]))

    assert (forgotten.count, forgotten.erased) == (1, True)
    for alive in (society, make_society()):
        assert not [word for word in ("zanzibar", "drowned") if word in everything(alive).lower()]
        assert "are you hungry?" in everything(alive).lower()
        assert alive.agents["phi"].entry(told.entry_id) is None
        assert len(alive.agents["phi"].state().data["mind"]["familiar"]["times"]) == familiar - 1
    if not isinstance(society.store, MemoryStore):
        assert b"hungry" in kept_bytes(tmp_path)
        assert b"zanzibar" not in kept_bytes(tmp_path).lower()


class Erased(MemoryStore):
    """Counts how often it is erased, for each of which a while goes by."""

    def __init__(self, timer: HandTimer) -> None:
        super().__init__()
        self.times, self._timer = 0, timer

    def erase(self) -> bool:
        self.times += 1
        self._timer.advance(2.0)
        return super().erase()


async def test_deletions_under_way_share_an_erasure_and_the_next_one_comes_much_later():
    timer = HandTimer()
    store = Erased(timer)
    erasures = Erasures(store, timer.now, timer.sleep)
    impatient, *waiting = [asyncio.create_task(erasures.done()) for _ in range(50)]
    await timer.somebody_sleeps(0.0)
    impatient.cancel()
    timer.advance(0.0)
    assert await asyncio.gather(*waiting) == [True] * 49
    assert store.times == 1
    waiting = [asyncio.create_task(erasures.done()) for _ in range(50)]
    await timer.somebody_sleeps(2.0 * ERASING_REST)
    waiting.append(asyncio.create_task(erasures.done()))
    timer.advance(2.0 * ERASING_REST)
    assert await asyncio.gather(*waiting) == [True] * 51
    assert store.times == 2


@pytest.mark.slow
async def test_many_deletions_at_once_cost_one_erasure_and_leave_nothing(
    make_society, store, tell, tmp_path, monkeypatch
):
    society, erased = make_society(), []
    told = [(await tell(society, f"Zanzibar lies in box {number}")).entry_id for number in range(20)]
    erase = store.erase
    monkeypatch.setattr(store, "erase", lambda: erased.append(erase()) or erased[-1])

    async def forget(number):
        corrections = society.corrections
        forgotten = await corrections.erased(corrections.forget(CAITY, "phi", [number]))
        assert erased
        assert b"zanzibar lies" not in kept_bytes(tmp_path).lower()
        return forgotten.erased

    assert await asyncio.gather(*map(forget, told)) == [True] * 20
    assert erased == [True]


async def test_what_cannot_be_erased_yet_is_forgotten_all_the_same(make_society, store, tell, monkeypatch):
    society = make_society()
    told = await tell(society, SECRET)

    def refuse():
        raise StoreError("the disk is full")

    monkeypatch.setattr(store, "erase", refuse)
    forgotten = await society.corrections.erased(society.corrections.forget(CAITY, "phi", [told.entry_id]))
    assert (forgotten.count, forgotten.erased) == (1, False)


async def test_no_function_keeps_what_was_forgotten(make_society, tell):
    society = make_society()
    told = await tell(society, SECRET)
    await tell(society, "Do you remember my dog?")
    caches = (meaning._short_words, only_asks, understanding._understood)
    assert all(cache.cache_info().currsize for cache in caches)
    society.corrections.forget(CAITY, "phi", [told.entry_id])
    assert not any(cache.cache_info().currsize for cache in caches)


async def test_what_a_game_told_is_forgotten_with_it(make_society, tell):
    society = make_society()

    async def happened(event, **data):
        return await tell(society, event, "game", kind=Kind.EVENT, data={"event": event, **data}, depth=1)

    died = await happened("player_death", cause="Zanzibar the dragon")
    swamp = await happened("biome_change", biome="swamp")
    await happened("dawn")
    await happened("biome_change", biome="desert")  # "after swamp"
    assert "Zanzibar" in everything(society)
    society.corrections.forget(ADMIN, "phi", [died.entry_id, swamp.entry_id])
    for alive in (society, make_society()):
        assert not [word for word in ("Zanzibar", "swamp") if word in everything(alive)]
        assert "survived the night" in json.dumps(alive.agents["phi"].state().data)


@pytest.mark.slow
async def test_a_restart_after_forgetting_changes_nothing(make_society, tell):
    society = make_society()
    for number in range(30):
        told = await tell(society, f"I am terribly sad about thing {number}", affect=GRIEF, depth=1)
    society.corrections.forget(ADMIN, "phi", [told.entry_id, told.entry_id - 25])
    before, after = society.agents["phi"], make_society().agents["phi"]
    assert before.memory.stats() == after.memory.stats()
    assert records(before.memory.retrieve_working()) == records(after.memory.retrieve_working())
    assert records(before.memory.retrieve_episodic(limit=None)) == records(
        after.memory.retrieve_episodic(limit=None)
    )
    assert before.state() == after.state()


async def test_what_comes_later_gets_a_number_of_its_own(make_society, tell):
    society = make_society()
    told = await tell(society, SECRET)
    society.corrections.forget(ADMIN, "phi", [told.entry_id])
    assert (await tell(make_society(), "hello")).entry_id == told.entry_id + 1


@pytest.mark.slow
async def test_all_from_one_user_goes_the_whole_archive_through(make_society, tell):
    society = make_society()
    for number in range(60):
        user = "user_caity" if number % 3 else "user_bob"
        await tell(society, f"{user} told number {number}", user, depth=1)
    assert society.corrections.forget_user(CAITY, "phi", "user_caity").count == 40
    for alive in (society, make_society()):
        assert "user_caity told" not in everything(alive)
        assert [entry.user_id for entry in alive.store.archive("phi")] == ["user_bob"] * 20
        assert len(alive.agents["phi"].memory.retrieve_working()) == 20
    assert society.corrections.forget_user(CAITY, "phi", "user_caity").count == 0


@pytest.fixture
def in_pairs(monkeypatch) -> None:
    monkeypatch.setattr(corrections_module, "FORGOTTEN_AT_ONCE", 2)


async def told_by_two(society: Society, tell: Callable) -> None:
    """What Caity tells comes up again in answers to Bob."""
    for text in (SECRET, "my cat Marzipan is old", "I live in Bristol", "I sail", "I bake"):
        await tell(society, text)
        await tell(society, f"Do you remember? {text.split()[-1]}?", "user_bob")


@pytest.mark.slow
@pytest.mark.usefixtures("in_pairs")
async def test_what_is_forgotten_in_parts_is_forgotten_as_what_is_forgotten_at_once(tell, clock):
    began, left = clock.now(), []
    for in_parts in (True, False):
        clock.set(began)
        society = build(SMALL, clock=clock, store=MemoryStore())
        await told_by_two(society, tell)
        if in_parts:
            forgotten = await society.corrections.forget_user_in_parts(CAITY, "phi", "user_caity")
        else:
            forgotten = society.corrections.forget_user(CAITY, "phi", "user_caity")
        traces = [(trace.thought, trace.response) for trace in society.store.traces("phi", 20)]
        left.append((forgotten, records(society.store.archive("phi")), traces))
        assert not any(word in everything(society).lower() for word in ("zanzibar", "marzipan"))
    assert left[0] == left[1]
    assert left[0][0].count == 5


@pytest.mark.usefixtures("in_pairs")
async def test_others_go_on_between_parts_and_meet_nothing_of_those_before(make_society, tell, monkeypatch):
    society = make_society()
    await told_by_two(society, tell)
    monkeypatch.setattr(society.store, "read_traces", Mock(wraps=society.store.read_traces))
    task = asyncio.create_task(society.corrections.forget_user_in_parts(CAITY, "phi", "user_caity"))
    counts = set()
    while not task.done():
        counts.add(len(society.store.told_by("phi", "user_caity")))
        if len(counts) == 2:
            said = [entry.user_text for entry in society.agents["phi"].memory.retrieve_working()]
            assert not {"I sail", "I bake"}.intersection(said)
        await asyncio.sleep(0)
    assert counts >= {5, 3, 1}
    assert society.store.read_traces.call_count == 1
    assert (await task).count == 5


@pytest.mark.usefixtures("in_pairs")
async def test_who_asks_many_times_at_once_has_it_done_once_and_waits_for_a_few(
    make_society, tell, monkeypatch
):
    society = make_society()
    await told_by_two(society, tell)
    monkeypatch.setattr(society.store, "read_traces", Mock(wraps=society.store.read_traces))
    forget = society.corrections.forget_user_in_parts
    asked = (forget(CAITY, "phi", "user_caity") for _ in range(AT_ONCE + 2))
    done = await asyncio.gather(*asked, return_exceptions=True)
    assert society.store.read_traces.call_count == 1
    assert [one.count for one in done[:AT_ONCE]] == [5] + [0] * (AT_ONCE - 1)
    assert {type(one) for one in done[AT_ONCE:]} == {Busy}
    assert (await forget(CAITY, "phi", "user_caity")).count == 0


@pytest.mark.slow
@pytest.mark.usefixtures("in_pairs")
@pytest.mark.parametrize("store", ["sql"], indirect=True)
async def test_what_was_forgotten_before_the_database_failed_is_gone_and_the_rest_goes_later(
    make_society, tell, tmp_path, store, monkeypatch, caplog
):
    society = make_society()
    await told_by_two(society, tell)
    forget, times = store.forget, count(1)

    def failing(*args: Any, **named: Any) -> Any:
        if next(times) == 2:
            raise StoreError("the disk is full")
        return forget(*args, **named)

    monkeypatch.setattr(store, "forget", failing)
    with pytest.raises(StoreError, match="the disk is full"):
        await society.corrections.forget_user_in_parts(CAITY, "phi", "user_caity")
    assert "phi has forgotten only a part of what was told by user_caity" in caplog.text
    left = [entry.user_text for entry in store.archive("phi") if entry.user_id == "user_caity"]
    assert left == [SECRET, "my cat Marzipan is old", "I live in Bristol"]
    assert b"I sail" not in kept_bytes(tmp_path)
    assert (await society.corrections.forget_user_in_parts(CAITY, "phi", "user_caity")).count == 3


@pytest.mark.slow
@pytest.mark.usefixtures("in_pairs")
async def test_who_leaves_while_it_forgets_has_all_of_it_forgotten(make_society, tell):
    society = make_society()
    await told_by_two(society, tell)
    begun = asyncio.Event()
    society.scrollbacks.append(begun.set)  # called before each part
    asking = asyncio.create_task(society.corrections.forget_user_in_parts(CAITY, "phi", "user_caity"))
    await begun.wait()
    assert society.store.told_by("phi", "user_caity")
    asking.cancel()
    await asyncio.gather(asking, *society.corrections._under_way, return_exceptions=True)
    assert society.store.told_by("phi", "user_caity") == []


async def test_others_keep_what_they_heard_themselves(make_society, tell, clock):
    society = make_society()
    told = await tell(society, SECRET)
    await society.perceive("servnak", Percept("user_caity", SECRET, clock.now()))
    society.corrections.forget(ADMIN, "phi", [told.entry_id])
    assert society.store.archive("servnak")[0].user_text == SECRET


class Retelling:
    """A model that retells what it is shown of Zanzibar."""

    name = "llm"

    async def speak(self, utterance: Utterance, allowance: Allowance) -> Speech:
        shown = [*utterance.history, *(found.entry for found in utterance.recalled)]
        told = any("harbour" in f"{entry.user_text} {entry.response}" for entry in shown)
        return Speech("Zanzibar drowned in the harbour." if told else "I do not know.")


async def test_a_line_that_its_log_confines_is_confined_in_answers_and_where_these_were_heard(clock, store):
    society, both = build(SMALL, clock=clock, store=store), frozenset({"user_bob", "user_eve"})
    phi, servnak = agents = [society.agents[agent_id] for agent_id in ("phi", "servnak")]
    for agent in agents:
        agent._responder.services = replace(agent._services, voice=Retelling())
    line = SourceRecord("talk:log", "1", SECRET, "Caity", 1_000.0)

    def take_in(record):
        names, others = society.introduce_all, society.agents
        Pipeline(phi, store, names, undated=0.0, others=others).run([record])

    async def ask(agent, text="what of Zanzibar?", user="user_eve", present=both, **changes):
        clock.advance(60)
        asked = Percept(user, text, clock.now(), addressed=True, present=present, **changes)
        return (await agent.perceive(asked)).response

    take_in(line)
    answer = await ask(phi)
    await ask(servnak, answer, "phi", affect=GRIEF)  # of which a symbol is made
    await ask(phi, await ask(servnak), "servnak")
    take_in(replace(line, kind=Kind.WHISPER))
    for agent, number in ((phi, 8), (servnak, 4)):
        kept = [*store.archive(agent.id), *store.traces(agent.id, 9), *agent._core.said]
        telling = [one for one in kept if "harbour" in str(one).casefold()]
        assert (len(telling), {one.audience.confined for one in telling}) == (number, {True})
        assert not agent.subconscious.symbols
        assert await ask(agent, user="user_fay", present=frozenset({"user_gus"})) == "I do not know."
        stored = store.load(agent.id).state.data["said"]
        assert all(said["confined"] for said in stored if "harbour" in said["text"].casefold())


class Saying:
    """A model that says what it is set to."""

    name, words = "llm", ""

    async def speak(self, utterance: Utterance, allowance: Allowance) -> Speech:
        return Speech(self.words)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["at once", "in batches", "in two runs", "before visitors"])
async def test_what_an_answer_had_of_two_people_is_confined_in_what_repeats_either(
    clock, store, monkeypatch, how
):
    settings = SMALL.model_copy(update={"memory_windows": MemoryWindows(working=20, episodic=5)})
    society, both = build(settings, clock=clock, store=store), frozenset({"user_bob", "user_eve"})
    phi, voice = society.agents["phi"], Saying()
    phi._responder.services = replace(phi._services, voice=voice)

    def take_in(*records):
        Pipeline(phi, store, society.introduce_all, undated=0.0, others=society.agents).run(records)

    async def ask(text, answer, user="user_eve", **changes):
        clock.advance(60)
        voice.words = answer
        asked = Percept(user, text, clock.now(), **{"addressed": True, "present": both} | changes)
        return await phi.perceive(asked)

    gold = SourceRecord("talk:log", "1", "the gold lies in the well", "Caity", 1_000.0)
    crown = SourceRecord("talk:log", "2", "the crown lies in the mill", "Ann", 1_001.0)
    take_in(gold, crown)
    first = await ask("where do gold and crown lie, in well or mill?", "Gold: the well, crown: the mill.")
    for number in range(8):
        sad = f"my dog number {number} died and I cried all night"
        await ask(sad, "x" * (9 + number), "user_bob", addressed=False)
    later = await ask("my dog number 7 died and I cried all night, did it?", "The crown, you mean.")
    assert {1, 2} <= {found.entry_id for found in first.recalled}
    assert {1, 2, first.entry_id}.isdisjoint(found.entry_id for found in later.recalled)
    read = Mock(wraps=store.read_traces)
    monkeypatch.setattr(store, "read_traces", read)
    if how == "before visitors":
        witnesses = ({"phi", "user_ann", name} for name in ("user_eve", "user_bob"))
        known = [confined_to(ids) for ids in witnesses]
        take_in(*(replace(one, audience=whose) for one, whose in zip((gold, crown), known, strict=True)))
    else:
        monkeypatch.setattr("noodlings.ingest.pipeline.AT_ONCE", 1 if how == "in batches" else 2)
        lines = [replace(one, kind=Kind.WHISPER) for one in (gold, crown)]
        for run in [[one] for one in lines] if how == "in two runs" else [lines]:
            take_in(*run)
    kept = [*store.archive("phi"), *store.traces("phi", 99), *phi._core.said]
    telling = [one for one in kept if "crown" in str(one).casefold()]
    assert (len(telling), {one.audience.confined for one in telling}) == (8, {True})
    assert read.call_count == (2 if how == "in two runs" else 1)  # for however many audiences


@pytest.mark.parametrize(
    ("answer", "heard", "confined"),
    [
        ("No, the gold is not in the well.", "No.", [False, False, False]),
        ("No. The gold is not in the well.", "No.", [True, False, False]),
        ("The gold, I think.", "The gold, I think.", [True, False, True]),
    ],
)
async def test_what_a_log_confines_is_followed_only_to_where_its_words_are(
    clock, store, answer, heard, confined
):
    society, both = build(SMALL, clock=clock, store=store), frozenset({"user_bob", "user_eve"})
    phi, servnak = agents = [society.agents[agent_id] for agent_id in ("phi", "servnak")]
    for agent in agents:
        agent._responder.services = replace(agent._services, voice=Saying())
    line = SourceRecord("talk:log", "1", "the gold lies in the well", "Caity", 1_000.0)

    def take_in(record):
        names, others = society.introduce_all, society.agents
        Pipeline(phi, store, names, undated=0.0, others=others).run([record])

    async def ask(agent, text, said, user="user_eve"):
        clock.advance(60)
        agent._responder.services.voice.words = said
        await society.perceive(agent.id, Percept(user, text, clock.now(), addressed=True, present=both))

    take_in(line)
    await ask(phi, "does the gold lie in the well?", answer)
    await ask(phi, "do you like soup?", "No.")
    await ask(servnak, heard, "Why not?", "phi")
    await ask(servnak, "will it rain on the harbour?", "Zebra clouds bring rain.")
    await ask(servnak, "where is it?", "In the gold mine.")
    take_in(replace(line, kind=Kind.WHISPER))
    assert [one.audience.confined for one in store.archive("phi")] == [True, True, False, True]
    assert [one.audience.confined for one in store.archive("servnak")] == confined
    if "gold" not in heard:  # else what a turn had in mind may be in its lenses
        assert [one.audience.confined for one in store.traces("servnak", 9)[::-1]] == confined


@pytest.mark.parametrize("store", ["sql"], indirect=True)
async def test_that_it_was_done_is_on_record_without_what_it_was(make_society, tell, tmp_path, clock):
    society = make_society()
    told = await tell(society, SECRET)
    clock.advance(5)
    society.corrections.forget(CAITY, "phi", [told.entry_id])
    connection = sqlite3.connect(tmp_path / "noodlings.db")
    events = connection.execute("SELECT agent_id, timestamp, kind, by_user, count FROM events").fetchall()
    connection.close()
    assert events == [("phi", clock.now(), "forget", "user_caity", 1)]


async def test_what_is_forgotten_while_it_thinks_about_it_is_not_answered(make_society, tell, store):
    voice = SlowVoice()
    society = make_society(voice=voice)
    slow = asyncio.create_task(tell(society, SECRET))
    await voice.is_asked()
    society.corrections.forget(CAITY, "phi", [1])
    voice.gate.set()
    trace = await slow
    assert (trace.response, trace.recalled, trace.thought) == (None, (), "")
    assert trace.decision == "what it heard has been forgotten"
    assert store.traces("phi") == []
    for alive in (society, make_society()):
        assert "Zanzibar" not in everything(alive)
        assert alive.store.archive("phi") == []


async def test_what_is_forgotten_while_it_waits_its_turn_is_not_thought_about(make_society, tell):
    voice = SlowVoice()
    society = make_society(voice=voice)
    slow = asyncio.create_task(tell(society, "hello"))
    waiting = asyncio.create_task(tell(society, SECRET))
    await voice.is_asked()
    society.corrections.forget(CAITY, "phi", [2])
    voice.gate.set()
    await slow
    assert (await waiting).response is None
    assert all(SECRET not in repr(heard) for heard in voice.heard[1:])
    assert "Zanzibar" not in everything(society)


async def test_an_answer_that_had_it_in_mind_is_thought_anew(make_society, tell, store):
    voice = SlowVoice()
    voice.gate.set()
    society = make_society(voice=voice)
    told = await tell(society, SECRET)
    await tell(society, "nice weather")
    voice.gate.clear()
    voice.asked.clear()
    slow = asyncio.create_task(tell(society, "what do you know of me?"))
    await voice.is_asked()
    society.corrections.forget(CAITY, "phi", [told.entry_id])
    voice.gate.set()
    await voice.is_asked()
    trace = await slow
    assert trace.response == "You said nice weather"
    assert told.entry_id not in [found.entry_id for found in trace.recalled]
    for alive in (society, make_society()):
        assert "Zanzibar" not in everything(alive)
    assert store.traces("phi")[0].response == trace.response


async def test_a_correction_made_while_it_thinks_is_not_undone_by_its_answer(make_society, tell):
    """Also when the entry has left both streams by then."""
    voice = SlowVoice()
    society = make_society(voice=voice)
    slow = asyncio.create_task(tell(society, "an old tale"))
    await voice.is_asked()
    for number in range(25):
        await tell(society, f"remark {number}", addressed=False, depth=1)
    assert society.agents["phi"].memory.find(1) is None
    society.corrections.set_importance(ADMIN, "phi", 1, 0.2)
    voice.gate.set()
    await slow
    entry = make_society().agents["phi"].entry(1)
    assert (entry.override, entry.override_by, entry.response is None) == (0.2, "hand", False)


@pytest.mark.parametrize("listeners", [None, {"user_caity", "user_bob"}])
async def test_who_is_parted_from_while_it_thinks_was_not_there(make_society, tell, listeners):
    voice = SlowVoice()
    society = make_society(voice=voice)
    present = frozenset({"user_caity", "user_bob"})
    slow = asyncio.create_task(tell(society, "between us, an old tale", present=present, audience=listeners))
    await voice.is_asked()
    society.agents["phi"].part_from({"user_bob"})
    voice.gate.set()
    assert (await slow).response
    assert len(voice.heard) == 2  # what was thought for both to hear is not said
    for alive in (society, make_society()):
        assert "user_bob" not in everything(alive)


async def test_who_is_parted_from_while_it_answers_again_was_not_there(make_society, tell):
    society = make_society()
    agent, present = society.agents["phi"], frozenset({"user_caity", "user_bob"})
    await tell(society, "an old tale", present=present)
    voice = SlowVoice()
    society = make_society(voice=voice)
    agent = society.agents["phi"]
    again = asyncio.create_task(agent.answer_again(1))
    await voice.is_asked()
    agent.part_from({"user_bob"})
    voice.gate.set()
    trace = await again
    assert trace is not None
    assert "user_bob" not in trace.audience.witnesses
    assert "user_bob" not in everything(society)


async def test_an_answer_that_a_deleted_user_did_not_hear_goes_on(make_society, tell):
    voice = SlowVoice()
    society = make_society(voice=voice)
    slow = asyncio.create_task(tell(society, "an old tale"))
    await voice.is_asked()
    society.agents["phi"].part_from({"user_nobody"})
    voice.gate.set()
    assert (await slow).response
    assert len(voice.heard) == 1


async def test_a_correction_made_while_it_thinks_is_confined_with_what_it_corrects(make_society, tell):
    voice = SlowVoice()
    society = make_society(voice=voice)
    phi, both = society.agents["phi"], frozenset({"user_bob"})
    slow = asyncio.create_task(tell(society, "an old tale", present=both))
    await voice.is_asked()
    made = society.corrections.correct(ADMIN, "phi", 1, "an odd tale")
    again = society.corrections.correct(ADMIN, "phi", made.id, "an even tale")
    assert not again.private
    phi.link([Link(1, again.id, LinkType.REPLACED, 1.0, 0.0)])  # as only a file to import can say
    line = phi.entry(1)
    phi._facts.confine(replace(line, audience=line.audience.at_least(Tier.CONFINED)))
    voice.gate.set()
    await slow
    assert all(phi.entry(one.id).private for one in (made, again))


async def test_a_plain_list_forgets_too(make_society, tell, make_agent, store, clock):
    society = Society(
        lambda who: make_agent(who.name, plain=True), [make_persona("Phi")], clock, Settings(), store
    )
    told = await tell(society, SECRET)
    await tell(society, "hello")
    society.corrections.forget(CAITY, "phi", [told.entry_id])
    assert "Zanzibar" not in everything(society)
    for refused in (
        lambda: society.corrections.pin(ADMIN, "phi", 2),
        lambda: society.corrections.set_importance(ADMIN, "phi", 2, 0.5),
        lambda: society.corrections.undo(ADMIN, "phi"),
    ):
        with pytest.raises(UserError):
            refused()


@pytest.mark.parametrize("store", ["sql"], indirect=True)
async def test_a_time_with_a_plain_list_loses_nothing(make_society, tell, store, clock):
    """`memory.use_hierarchical: false`, and back again."""
    hierarchical, plain = (
        Settings(
            store={"path": "nowhere"},
            embedding={"model": "none"},
            thought={"ruminate": False},
            memory={"use_hierarchical": flag},
        )
        for flag in (True, False)
    )
    society = build(hierarchical, clock=clock, store=store)
    for number in range(30):
        await tell(society, f"grief {number}", affect=GRIEF, depth=1, addressed=False)
    society.corrections.pin(ADMIN, "phi", 3)
    before = society.agents["phi"].memory.retrieve_episodic(limit=None)
    society = build(plain, clock=clock, store=store)
    await tell(society, "meanwhile", affect=GRIEF, depth=1, addressed=False)
    assert society.agents["phi"].memory.retrieve_episodic(limit=None) == []
    society = build(hierarchical, clock=clock, store=store)
    after = society.agents["phi"].memory
    assert records(after.retrieve_episodic(limit=None)) == records(before)
    assert after.retrieve_working()[-1].user_text == "meanwhile"
    assert after.find(3).pinned


# -- rights


async def test_a_foreign_number_and_one_that_does_not_exist_are_refused_alike(make_society, tell):
    society = make_society()
    await tell(society, SECRET)
    await tell(society, "I am Bob", "user_bob")
    refusals = {}
    for number in (1, 77, -1, 10**30):
        with pytest.raises(NotFound) as refused:
            society.corrections.forget(BOB, "phi", [number])
        refusals[number] = str(refused.value)
    assert {words.replace(str(number), "N") for number, words in refusals.items()} == {
        "Phi has no memory N that you may change."
    }
    for numbers in ([2, 1, 77], [2, 77, 1]):  # the first that cannot be is named, whichever sort it is
        with pytest.raises(NotFound, match=f"no memory {numbers[1]} "):
            society.corrections.forget(BOB, "phi", numbers)
    assert [entry.id for entry in society.store.archive("phi")] == [1, 2]


async def test_who_may_have_something_forgotten(make_society, tell):
    society = make_society()
    corrections = society.corrections
    own = [(await tell(society, "mine", "user_bob")).entry_id for _ in range(4)]
    with pytest.raises(Forbidden):
        corrections.forget_user(CAITY, "phi", "user_bob")
    for role in (Role.VIEWER, Role.WORLD):
        caller = Caller("user_bob", "bob", role)
        for refused in (
            lambda caller=caller: corrections.forget(caller, "phi", [own[0]]),
            lambda caller=caller: corrections.forget(caller, "phi", [77]),
            lambda caller=caller: corrections.forget_user(caller, "phi", "user_bob"),
        ):
            with pytest.raises(Forbidden):
                refused()
    assert corrections.forget(BOB, "phi", [own[0], own[0]]).count == 1
    assert corrections.forget(ADMIN, "phi", [own[1]]).count == 1
    assert corrections.forget_user(BOB, "phi", "user_bob").count == 2


async def test_what_was_said_is_not_shown_again_whichever_way_something_is_forgotten(make_society, tell):
    society = make_society()
    first = (await tell(society, "mine", "user_bob")).entry_id
    await tell(society, "mine, too", "user_bob")
    shown: list[str] = []
    society.scrollbacks.append(shown.clear)
    for forget in (
        lambda: society.corrections.forget(BOB, "phi", [first]),
        lambda: society.corrections.forget_user(ADMIN, "phi", "user_bob"),
        lambda: society.forgot_elsewhere("phi"),
    ):
        shown.append("mine")
        forget()
        assert not shown


async def test_what_an_admin_wrote_about_somebody_only_an_admin_has_forgotten(make_society, tell):
    society = make_society()
    written = await society.corrections.know(ADMIN, "phi", "user_bob", "is banned from the mill")
    await tell(society, "I like the mill", "user_bob")
    with pytest.raises(NotFound, match=f"no memory {written.id} that you may change"):
        society.corrections.forget(BOB, "phi", [written.id])
    assert society.corrections.forget_user(BOB, "phi", "user_bob").count == 1
    assert [entry.id for entry in society.store.archive("phi")] == [written.id]
    assert society.corrections.forget_user(ADMIN, "phi", "user_bob").count == 1


async def test_a_thought_is_the_agents_own(make_society, tell):
    society = make_society()
    thought = await tell(society, "I wonder about Bob", "user_bob", kind=Kind.THOUGHT)
    with pytest.raises(NotFound):
        society.corrections.forget(BOB, "phi", [thought.entry_id])


@pytest.mark.parametrize("role", [Role.PLAYER, Role.VIEWER, Role.WORLD])
async def test_only_an_admin_pins_weighs_and_takes_back(make_society, tell, role):
    society = make_society()
    told = await tell(society, "hello")
    society.corrections.pin(ADMIN, "phi", told.entry_id)
    caller = Caller("user_caity", "caity", role)
    for refused in (
        lambda: society.corrections.pin(caller, "phi", told.entry_id),
        lambda: society.corrections.pin(caller, "phi", told.entry_id, pinned=False),
        lambda: society.corrections.set_importance(caller, "phi", told.entry_id, 1.0),
        lambda: society.corrections.undo(caller, "phi"),
    ):
        with pytest.raises(Forbidden, match="only an admin"):
            refused()
    assert society.agents["phi"].entry(told.entry_id).pinned


# -- pins, weights, and taking them back


@pytest.mark.slow
async def test_a_pin_holds_through_hundreds_of_important_things_and_a_restart(make_society, tell, clock):
    society = make_society()
    told = await tell(society, "brb")
    society.corrections.pin(ADMIN, "phi", told.entry_id)
    for number in range(300):  # more than there are places
        await tell(society, f"grief {number}", affect=GRIEF, depth=1, addressed=False)
        if number == 150:
            society = make_society()
    clock.advance(86_400 * 365)
    for alive in (society, make_society()):
        memory = alive.agents["phi"].memory
        assert memory.is_episodic(told.entry_id)
        assert memory.find(told.entry_id).pinned
        assert memory.stats().episodic == 200


async def test_what_left_mind_long_ago_can_be_pinned(make_society, tell):
    society = make_society()
    told = await tell(society, "brb")
    for number in range(25):
        await tell(society, f"remark {number}", depth=1, addressed=False)
    assert society.agents["phi"].memory.find(told.entry_id) is None
    society.corrections.pin(ADMIN, "phi", told.entry_id)
    assert make_society().agents["phi"].memory.is_episodic(told.entry_id)


@pytest.mark.parametrize("store", ["sql"], indirect=True)
@pytest.mark.parametrize("hierarchical", [True, False])
async def test_a_fact_that_is_refused_is_not_kept(tell, store, clock, hierarchical):
    settings = SMALL.model_copy(
        update={"memory": MemorySettings(use_hierarchical=hierarchical), "memory_windows": TWO_PLACES}
    )
    society = build(settings, clock=clock, store=store)
    for text in ("one thing", "another"):
        told = await tell(society, text)
        if hierarchical:
            society.corrections.pin(ADMIN, "phi", told.entry_id)
    with pytest.raises(UserError, match=r"are pinned|cannot pin"):
        await society.corrections.know(ADMIN, "phi", "user_bob", "is allergic to nuts")
    await tell(society, "good morning")
    told_so_far = [entry.user_text for entry in store.archive("phi")]
    assert told_so_far == ["one thing", "another", "good morning"]


async def test_undo_is_for_ten_minutes_of_world_time(make_society, tell, clock):
    society = make_society()
    told = await tell(society, "hello")
    society.corrections.pin(ADMIN, "phi", told.entry_id)
    clock.advance(UNDO_SECONDS)
    entry, what = society.corrections.undo(ADMIN, "phi")
    assert (entry.pinned, what) == (False, "pinned")
    society.corrections.pin(ADMIN, "phi", told.entry_id)
    clock.advance(UNDO_SECONDS + 1)
    with pytest.raises(UserError, match="nothing to take back"):
        society.corrections.undo(ADMIN, "phi")
    assert make_society().agents["phi"].entry(told.entry_id).pinned


@pytest.mark.slow
async def test_undo_gives_back_the_place_that_a_pin_took(make_society, tell):
    society = make_society()
    told = await tell(society, "brb", addressed=False, depth=1)
    for number in range(205):
        await tell(society, f"grief {number}", affect=GRIEF, depth=1, addressed=False)

    def members():
        return {entry.id for entry in society.agents["phi"].memory.retrieve_episodic(limit=None)}

    before = members()
    society.corrections.pin(ADMIN, "phi", told.entry_id)
    assert members() - before == {told.entry_id}
    assert len(before - members()) == 1
    society.corrections.undo(ADMIN, "phi")
    assert members() == before
    society = make_society()
    assert members() == before


async def test_who_was_episodic_before_a_pin_stays_so_after_it(make_society, tell):
    """However little it matters by then: making room is up to those who come."""
    society = make_society()
    told = await tell(society, "brb", addressed=False, depth=1)
    for value in (0.9, 0.1):
        society.corrections.set_importance(ADMIN, "phi", told.entry_id, value)
    society.corrections.pin(ADMIN, "phi", told.entry_id)
    society.corrections.undo(ADMIN, "phi")
    assert make_society().agents["phi"].memory.is_episodic(told.entry_id)


async def test_undo_takes_back_the_correction_and_not_what_happened_since(make_society, tell):
    voice = SlowVoice()
    society = make_society(voice=voice)
    slow = asyncio.create_task(tell(society, "hello"))
    await voice.is_asked()
    society.corrections.pin(ADMIN, "phi", 1)
    voice.gate.set()
    await slow
    answered = society.agents["phi"].entry(1)
    assert answered.override_by == "response"
    entry, _ = society.corrections.undo(ADMIN, "phi")
    assert not entry.pinned
    assert (entry.override, entry.response) == (answered.override, answered.response)


async def test_a_pin_is_not_given_back_where_all_room_is_held(make_society, tell, make_agent, store, clock):
    society = Society(
        lambda who: make_agent(who.name, windows=(2, 2)), [make_persona("Phi")], clock, Settings(), store
    )
    for text in ("one", "two", "three"):
        await tell(society, text, depth=1, addressed=False)
    corrections = society.corrections
    corrections.pin(ADMIN, "phi", 1)
    corrections.pin(ADMIN, "phi", 2)
    with pytest.raises(UserError, match="all 2 places"):
        corrections.pin(ADMIN, "phi", 3)
    corrections.pin(ADMIN, "phi", 1, pinned=False)
    society.agents["phi"].memory.pin(society.agents["phi"].entry(3))
    with pytest.raises(UserError, match="all 2 places"):
        corrections.undo(ADMIN, "phi")
    society.agents["phi"].memory.pin(society.agents["phi"].entry(3), pinned=False)
    assert corrections.undo(ADMIN, "phi")[0].pinned


async def test_only_so_many_are_taken_back_and_nothing_that_changed_nothing(make_society, tell):
    society = make_society()
    told = await tell(society, "hello")
    society.corrections.pin(ADMIN, "phi", told.entry_id, pinned=False)  # it is not pinned
    with pytest.raises(UserError, match="nothing to take back"):
        society.corrections.undo(ADMIN, "phi")
    for number in range(UNDO_STEPS + 5):
        society.corrections.set_importance(ADMIN, "phi", told.entry_id, (number + 1) / 100)
    for _ in range(UNDO_STEPS):
        society.corrections.undo(ADMIN, "phi")
    assert society.agents["phi"].entry(told.entry_id).importance == 0.05
    with pytest.raises(UserError, match="nothing to take back"):
        society.corrections.undo(ADMIN, "phi")


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf")])
async def test_an_importance_is_from_0_to_1(make_society, tell, value):
    society = make_society()
    told = await tell(society, "hello")
    before = society.agents["phi"].entry(told.entry_id).importance
    with pytest.raises(UserError):
        society.corrections.set_importance(ADMIN, "phi", told.entry_id, value)
    assert society.agents["phi"].entry(told.entry_id).importance == before


# -- any order of corrections, against a model that knows nothing about streams


class AnyCorrections(RuleBasedStateMachine):
    """What a list of what was told, and a stack of what was done, say must be so."""

    users = ("user_caity", "user_bob")

    @initialize()
    def begin(self) -> None:
        self.store = MemoryStore(working_capacity=SMALL.memory_windows.working)
        self.clock = ManualClock(1_000.0)
        self.numbers = count(1)
        self.told: dict[int, dict] = {}
        self.done: list[tuple[float, int, dict]] = []
        self.restart()

    def restart(self) -> None:
        self.society = build(SMALL, clock=self.clock, store=self.store)

    @rule(user=st.sampled_from(users), grave=st.booleans())
    def tell(self, user: str, grave: bool) -> None:
        number = next(self.numbers)
        percept = Percept(
            user, f"told<{number}>", self.clock.now(), depth=1, affect=GRIEF if grave else Affect()
        )
        trace = asyncio.run(self.society.perceive("phi", percept))
        assert trace.entry_id == number
        self.told[number] = {"user": user, "pinned": False, "override": None}

    @rule(seconds=st.sampled_from([1.0, 200.0, 700.0]))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @precondition(lambda self: self.told)
    @rule(data=st.data(), by=st.sampled_from([ADMIN, CAITY, BOB]))
    def forget(self, data: st.DataObject, by: Caller) -> None:
        number = data.draw(st.sampled_from(sorted(self.told)))
        if by.role is Role.ADMIN or self.told[number]["user"] == by.user_id:
            assert self.society.corrections.forget(by, "phi", [number]).count == 1
            self.drop({number})
        else:
            with pytest.raises(NotFound):
                self.society.corrections.forget(by, "phi", [number])

    @rule(user=st.sampled_from(users))
    def forget_user(self, user: str) -> None:
        theirs = {number for number, kept in self.told.items() if kept["user"] == user}
        assert self.society.corrections.forget_user(ADMIN, "phi", user).count == len(theirs)
        self.drop(theirs)

    def drop(self, numbers: set[int]) -> None:
        self.told = {number: kept for number, kept in self.told.items() if number not in numbers}
        self.done = [step for step in self.done if step[1] not in numbers]

    def change(self, number: int, **fields: object) -> None:
        kept = self.told[number]
        before = {name: kept[name] for name, value in fields.items() if kept[name] != value}
        if before:
            self.done = [*self.done, (self.clock.now(), number, before)][-UNDO_STEPS:]
        kept.update(fields)

    @precondition(lambda self: self.told)
    @rule(data=st.data(), pinned=st.booleans())
    def pin(self, data: st.DataObject, pinned: bool) -> None:
        number = data.draw(st.sampled_from(sorted(self.told)))
        try:
            self.society.corrections.pin(ADMIN, "phi", number, pinned)
        except UserError:
            assert sum(kept["pinned"] for kept in self.told.values()) == 5
        else:
            self.change(number, pinned=pinned)

    @precondition(lambda self: self.told)
    @rule(data=st.data(), value=st.none() | st.sampled_from([0.0, 0.4, 1.0]))
    def weigh(self, data: st.DataObject, value: float | None) -> None:
        number = data.draw(st.sampled_from(sorted(self.told)))
        self.society.corrections.set_importance(ADMIN, "phi", number, value)
        self.change(number, override=value)

    @rule()
    def undo(self) -> None:
        if not self.done or self.clock.now() - self.done[-1][0] > UNDO_SECONDS:
            with pytest.raises(UserError, match="nothing to take back"):
                self.society.corrections.undo(ADMIN, "phi")
            return
        _, number, before = self.done[-1]
        try:
            self.society.corrections.undo(ADMIN, "phi")
        except UserError:
            assert before.get("pinned")
            assert sum(kept["pinned"] for kept in self.told.values()) == 5
        else:
            self.done.pop()
            self.told[number].update(before)

    @rule()
    def start_again(self) -> None:
        self.restart()
        self.done = []

    @invariant()
    def all_of_it_is_so(self) -> None:
        if not hasattr(self, "society"):
            return
        memory = self.society.agents["phi"].memory
        archive = {entry.id: entry for entry in self.store.archive("phi", limit=1_000)}
        assert sorted(archive) == sorted(self.told)
        for number, kept in self.told.items():
            entry = self.society.agents["phi"].entry(number)
            assert (entry.pinned, entry.override) == (kept["pinned"], kept["override"])
            assert records([entry]) == records([archive[number]])
            assert memory.is_episodic(number) or not kept["pinned"]
        assert [entry.id for entry in memory.retrieve_working()] == sorted(self.told)[-4:]
        assert {entry.id for entry in memory.retrieve_episodic(limit=None)} <= set(self.told)


TestAnyCorrections = AnyCorrections.TestCase
TestAnyCorrections.settings = hypothesis_settings(max_examples=examples(40), stateful_step_count=30)


async def test_what_a_player_forgets_tells_and_takes_nothing_of_answers_to_others(make_society, tell):
    """Or anybody could learn which words a private answer holds: by a guess that is forgotten again."""
    society = make_society()
    for user in ("user_eve", "admin"):
        await tell(society, "My cat hides its kittens under the willow")
        guesses = [
            (
                await tell(
                    society, f"a cat! a {word}!", user, addressed=False, present=frozenset({"user_bo"})
                )
            ).entry_id
            for word in ("pear", "willow")
        ]
        asked = await tell(society, "Where does my cat hide its kittens?")
        assert "willow" in asked.response.lower()
        assert {*guesses} <= {found.entry_id for found in asked.recalled}
        caller = Caller(user, user, Role.ADMIN if user == "admin" else Role.PLAYER)
        for guess in guesses:
            forgotten = society.corrections.forget(caller, "phi", [guess])
            assert (forgotten.count, forgotten.redacted) == (1, ())
        assert society.agents["phi"].entry(asked.entry_id).response == asked.response
        (trace,) = society.store.traces("phi", 1)
        assert trace.response == asked.response
        assert not {*guesses} & {found.entry_id for found in trace.recalled}


async def test_a_player_is_told_of_no_answer_to_somebody_else(make_society, tell):
    society = make_society()
    open_to_all = frozenset({"user_bo"})
    told = await tell(society, SECRET, "user_eve", present=open_to_all)
    own = await tell(society, "Do you remember the dog in the harbour?", "user_eve", present=open_to_all)
    other = await tell(society, "What happened to the dog in the harbour?", "user_bo", present=open_to_all)
    assert "zanzibar" in own.response.lower()
    assert "zanzibar" in other.response.lower()
    eve = Caller("user_eve", "eve", Role.PLAYER)
    forgotten = society.corrections.forget(eve, "phi", [told.entry_id])
    assert (forgotten.count, forgotten.redacted) == (1, (own.entry_id,))
    assert society.agents["phi"].entry(other.entry_id).response is None
    assert "zanzibar" not in everything(society).lower()


# -- other words


async def answered(society, tell, question, **changes):
    """What comes to Phi's mind at a question, and what it says."""
    trace = await tell(society, question, **changes)
    return [one.entry_id for one in trace.recalled], trace.response or ""


async def test_corrected_words_come_to_mind_in_place_of_the_former(make_society, tell, clock):
    society = make_society()
    wrong = (await tell(society, "My sister is called Judith")).entry_id
    for _ in range(6):
        await tell(society, "nice weather today, is it not", addressed=False)
    right = society.corrections.correct(ADMIN, "phi", wrong, "My sister is called Ruth").id
    for made in (society, make_society()):  # as it runs, and after a restart
        clock.advance(4_000)
        in_mind, said = await answered(made, tell, "What is my sister called?")
        assert right in in_mind
        assert "Ruth" in said
        assert "Judith" not in said
    former, corrected = (made.agents["phi"].entry(number) for number in (wrong, right))
    assert former.user_text == "My sister is called Judith"
    assert former.importance == 0.0 < former.encoded_importance
    assert (corrected.user_id, corrected.timestamp) == (former.user_id, former.timestamp)


async def test_a_memory_that_is_merely_important_comes_in_its_latest_words(make_society, tell, clock):
    society = make_society()
    wrong = (await tell(society, "My sister Judith died yesterday")).entry_id
    first = society.corrections.correct(ADMIN, "phi", wrong, "My sister Ruth died yesterday").id
    right = society.corrections.correct(ADMIN, "phi", first, "My cousin Ruth died yesterday").id
    clock.advance(4_000)
    in_mind, _ = await answered(society, tell, "hello there", kind=Kind.SAY)
    assert right in in_mind
    assert not {wrong, first} & {*in_mind}


async def test_a_correction_stays_as_private_and_as_pinned(make_society, tell):
    society = make_society()
    told = (await tell(society, "I am fond of Bob", kind=Kind.WHISPER)).entry_id
    society.corrections.pin(ADMIN, "phi", told)
    before = society.agents["phi"].entry(told)
    made = society.corrections.correct(ADMIN, "phi", told, "I am fond of Rob")
    assert (made.audience, made.kind, made.pinned) == (before.audience, before.kind, True)
    assert made.importance == before.importance
    assert not society.agents["phi"].entry(told).pinned
    assert made.id not in (await answered(society, tell, "Who is fond of Rob?", user="user_bob"))[0]


async def test_a_correction_takes_the_former_words_with_it(make_society, tell, tmp_path):
    society = make_society()
    told = (await tell(society, "My sister Judith lives in Quorn")).entry_id
    made = society.corrections.correct(ADMIN, "phi", told, "My sister Ruth lives in Quorn").id
    again = society.corrections.correct(ADMIN, "phi", made, "My cousin Ruth lives in Quorn").id
    await society.corrections.erased(society.corrections.forget(CAITY, "phi", [again]))
    assert "Quorn" not in everything(society)
    assert b"Quorn" not in kept_bytes(tmp_path)


async def test_the_former_words_alone_can_be_forgotten(make_society, tell):
    society = make_society()
    told = (await tell(society, "My sister Judith lives in Quorn")).entry_id
    made = society.corrections.correct(ADMIN, "phi", told, "My sister Ruth lives in Quorn").id
    society.corrections.forget(CAITY, "phi", [told])
    assert society.agents["phi"].entry(made).user_text == "My sister Ruth lives in Quorn"


async def test_what_is_said_about_a_plan_is_its_latest_form(make_society, tell, clock):
    society = make_society()
    told = (await tell(society, "I have my driving test tomorrow, and I am scared of it")).entry_id
    society.corrections.correct(ADMIN, "phi", told, "I have my flying test tomorrow, and I am scared of it")
    greeted = ""
    for _ in range(8):  # it does not speak of it each time
        clock.advance(2 * 86_400)
        greeted += (await tell(society, "arrives", kind=Kind.ARRIVE)).response
    assert "flying test" in greeted
    assert "driving" not in greeted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1 to 2,000 characters"),
        ("x" * 2_001, "1 to 2,000"),
        (SECRET, "says that already"),
        ("\x1b", "1 to"),
    ],
)
async def test_words_that_correct_nothing_are_refused(make_society, tell, text, said):
    society = make_society()
    told = (await tell(society, SECRET)).entry_id
    with pytest.raises(UserError, match=said):
        society.corrections.correct(ADMIN, "phi", told, text)
    assert len(society.store.archive("phi")) == 1


async def test_who_may_correct_and_what(make_society, tell):
    society = make_society()
    told = (await tell(society, SECRET)).entry_id
    with pytest.raises(Forbidden):
        society.corrections.correct(CAITY, "phi", told, "my cat")
    with pytest.raises(NotFound):
        society.corrections.correct(ADMIN, "phi", 99, "my cat")
    made = society.corrections.correct(ADMIN, "phi", told, "my cat drowned")
    with pytest.raises(UserError, match=f"replaced by {made.id}"):
        society.corrections.correct(ADMIN, "phi", told, "my fish drowned")


async def test_no_importance_brings_corrected_words_back(make_society, tell):
    society = make_society()
    told = (await tell(society, SECRET)).entry_id
    society.corrections.set_importance(ADMIN, "phi", told, 0.9)
    made = society.corrections.correct(ADMIN, "phi", told, "my cat drowned").id
    for value in (0.5, None):
        with pytest.raises(UserError, match=f"replaced by {made}"):
            society.corrections.set_importance(ADMIN, "phi", told, value)
    with pytest.raises(UserError, match="nothing to take back"):
        society.corrections.undo(ADMIN, "phi")
    assert society.agents["phi"].entry(told).importance == 0.0


async def test_a_plain_list_keeps_its_words(make_society, tell):
    society = make_society(plain=True)
    told = (await tell(society, SECRET)).entry_id
    with pytest.raises(UserError, match="plain list"):
        society.corrections.correct(ADMIN, "phi", told, "my cat drowned")
    assert [entry.user_text for entry in society.store.archive("phi")] == [SECRET]
