"""How people treated a character shapes how it meets them, by the whole way of a turn."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.agent.regard import moved
from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.ports import Allowance, Speech, Utterance
from noodlings.recall.filters import Filters
from noodlings.values.affect import Affect
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import Kind, Percept
from noodlings.values.relationship import BOUND, NO_REGARD, Manner, Relationship
from noodlings.values.trace import Trace
from noodlings.values.wording import parse
from noodlings.voice.phrasebook import shared_voice
from tests.fakes import SlowVoice

pytestmark = pytest.mark.slow

DAY = 86_400.0
ANN, BOB = "user_ann", "user_bob"
INSULTS = ("you are a stupid old fool", "shut up, idiot", "I hate you", "you are worthless")
THANKS = ("thank you so much, you are wonderful", "I love talking to you", "you are my best friend")
ADMIN = Caller("user_root", "root", Role.ADMIN)


def living(data: Path, clock: ManualClock, **settings: object) -> Society:
    """A society with Ada, who has no words of her own."""
    (data / "recipes").mkdir(exist_ok=True)
    (data / "recipes" / "ada.yaml").write_text("name: Ada\n", "utf-8")
    wanted = {"store": {"path": str(data)}, "embedding": {"model": "none"}, "thought": {"ruminate": False}}
    return build(Settings(**(wanted | settings)), clock=clock)  # type: ignore[arg-type]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(20_000 * DAY + 1_000.0)


async def hear(
    society: Society, text: str, user: str = ANN, kind: Kind = Kind.SAY, present: tuple[str, ...] = (BOB,),
    addressed: bool = True,
) -> Trace:  # fmt: skip
    society.clock.advance(5.0)  # type: ignore[attr-defined]
    here = frozenset({user, *present})
    heard = Percept(user, text, society.clock.now(), kind, addressed=addressed, present=here)
    return await society.perceive("ada", heard)


async def days_of(society: Society, lines: tuple[str, ...], days: int = 7, **how: object) -> list[int]:
    """Ids of what was said, two lines a day."""
    told = []
    for day in range(days):
        for line in range(2):
            trace = await hear(society, lines[(2 * day + line) % len(lines)], **how)  # type: ignore[arg-type]
            told.append(trace.entry_id)
        society.clock.advance(DAY)  # type: ignore[attr-defined]
    return told


def is_of(act: str, said: str | None) -> bool:
    """Whether the words come from a shared phrase for this act."""
    return any(parse(phrase).pattern.search(said or "") for phrase in shared_voice().lines[act])


def made_of(society: Society, of: str = ANN, present: tuple[str, ...] = (ANN, BOB)) -> Relationship:
    archive = society.agents["ada"].archive
    assert archive is not None
    found = archive.relationship(Filters(user=of, present=frozenset(present)), society.clock.now())
    assert found is not None
    return found


async def test_who_was_unkind_for_a_week_is_met_with_reserve(tmp_path: Path, clock: ManualClock) -> None:
    with closing(living(tmp_path, clock)) as society:
        told = await days_of(society, INSULTS)
    with closing(living(tmp_path, clock)) as society:  # the archive is not loaded yet
        back = await hear(society, "hello ada")
        assert is_of("greeting_reserved", back.response), back.response
        assert back.regard.manner is Manner.RESERVED
        assert -BOUND <= back.regard.feeling < 0.0
        assert back.regard.evidence
        assert set(back.regard.evidence) <= set(told)
        entry = society.agents["ada"].entry(back.entry_id)
        assert entry is not None
        assert entry.affect is not None
        assert back.affect.valence == pytest.approx(entry.affect.valence + back.regard.feeling)
        assert society.store.traces("ada", 1)[0].regard == back.regard
        again = await hear(society, "hello ada")
        assert (again.regard.feeling, again.regard.manner) == (0.0, Manner.RESERVED)
        gone = await hear(society, "goodbye ada")
        assert is_of("farewell_reserved", gone.response), gone.response
        assert (await hear(society, "what do you want?")).regard == NO_REGARD
        other = await hear(society, "hello ada", BOB, present=(ANN,))
        assert not is_of("greeting_reserved", other.response)


async def test_a_friend_who_comes_back_is_met_warmly(tmp_path: Path, clock: ManualClock) -> None:
    with closing(living(tmp_path, clock)) as society:
        await days_of(society, THANKS)
        back = await hear(society, "arrives from the garden", kind=Kind.ARRIVE, addressed=False)
        assert 0.0 < back.regard.feeling <= BOUND
        hello = await hear(society, "hello ada")
        assert hello.regard.manner is Manner.WARM or "told me" in (hello.response or "")
        assert is_of("farewell_warm", (await hear(society, "goodbye ada")).response)


async def test_a_stranger_is_met_as_ever(tmp_path: Path, clock: ManualClock) -> None:
    with closing(living(tmp_path, clock)) as society:
        await days_of(society, INSULTS, user=BOB, present=(ANN,))
        hello = await hear(society, "hello ada")
        assert (hello.regard, is_of("greeting_reserved", hello.response)) == (NO_REGARD, False)


async def test_a_whisper_changes_nothing_before_others(tmp_path: Path, clock: ManualClock) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    told = []
    for folder, kind in (("one", Kind.WHISPER), ("other", Kind.SAY)):
        moment = ManualClock(clock.now())
        with closing(living(tmp_path / folder, moment)) as society:
            if kind is Kind.WHISPER:
                await days_of(society, INSULTS, user=BOB, kind=kind, present=())
            moment.set(clock.now() + 30 * DAY)
            before_ann = [await hear(society, "hello ada", BOB, present=(ANN,)) for _ in range(2)]
            before_ann.append(await hear(society, "hello ada", ANN))
            told.append([one.regard for one in before_ann])
            assert not any(is_of("greeting_reserved", one.response) for one in before_ann)
            alone = made_of(society, BOB, (BOB,))
            assert alone.manner is (Manner.RESERVED if kind is Kind.WHISPER else Manner.PLAIN)
            if kind is Kind.WHISPER:
                moment.set(moment.now() + DAY)
                hello = await hear(society, "hello ada", BOB, present=())
                assert hello.regard.manner is Manner.RESERVED
                assert hello.audience.confined
    assert told[0] == told[1] == [NO_REGARD] * 3


async def test_forgetting_takes_it_away(tmp_path: Path, clock: ManualClock) -> None:
    with closing(living(tmp_path, clock)) as society:
        told = await days_of(society, INSULTS)
        back = await hear(society, "hello ada")
        society.agents["ada"].forget(told, ANN, clock.now())
        kept = {trace.entry_id: trace for trace in society.store.traces("ada", 50)}
        assert kept[back.entry_id].regard == NO_REGARD
        assert made_of(society).manner is Manner.PLAIN
        clock.advance(DAY)
        hello = await hear(society, "hello ada")
        assert (hello.regard.manner, is_of("greeting_reserved", hello.response)) == (Manner.PLAIN, False)


@pytest.mark.parametrize(
    "off", [{"reflection": {"relationships": False}}, {"memory": {"use_hierarchical": False}}]
)
async def test_turned_off_there_is_nothing_of_it(tmp_path: Path, clock: ManualClock, off: dict) -> None:
    with closing(living(tmp_path, clock, **off)) as society:
        await days_of(society, INSULTS)
        for text, addressed in (("hello ada", True), ("nice weather", False)):
            back = await hear(society, text, addressed=addressed)
            assert (back.regard, is_of("greeting_reserved", back.response)) == (NO_REGARD, False)


async def test_what_a_source_told_and_what_it_said_itself_do_not_count(
    tmp_path: Path, clock: ManualClock
) -> None:
    with closing(living(tmp_path, clock)) as society:
        agent, feels = society.agents["ada"], Affect(-0.9, 0.8)
        for number in range(10):
            percept = Percept(ANN, f"you fool {number}", clock.now(), addressed=True)
            agent.remember_told(percept, "chat", feels, None)
        agent.keep_told((), ())
        await society.corrections.know(ADMIN, "ada", ANN, "is a stupid fool")
        assert made_of(society).lines == 0
        await hear(society, "nice weather")
        assert made_of(society).lines == 1
        assert made_of(society, "ada").lines == 0


async def test_it_speaks_unasked_the_more_the_more_it_likes_somebody(
    tmp_path: Path, clock: ManualClock
) -> None:
    with closing(living(tmp_path, clock)) as society:
        await days_of(society, THANKS)
        await days_of(society, INSULTS, user=BOB, present=(ANN,))
        shaped = []
        for number in range(60):
            clock.advance(60.0)
            user, other = (ANN, BOB) if number % 2 else (BOB, ANN)
            trace = await hear(society, f"a boat {number}", user, present=(other,), addressed=False)
            if trace.regard.chance:
                assert (trace.regard.chance > 0) == (user == ANN)
                shaped.append(user)
        assert set(shaped) == {ANN, BOB}


class Listening:
    """A model that is told of people."""

    name = "llm"

    def __init__(self) -> None:
        self.told: list[Utterance] = []

    async def speak(self, utterance: Utterance, allowance: Allowance) -> Speech:
        self.told.append(utterance)
        return Speech("A model speaks.")

    async def modulate(self, thought: str, lens: object, utterance: Utterance, allowance: Allowance) -> str:
        return thought


async def test_a_model_is_told_of_all_who_are_present(tmp_path: Path, clock: ManualClock) -> None:
    with closing(living(tmp_path, clock)) as society:
        unkind = await days_of(society, INSULTS)
        kind = await days_of(society, THANKS, user=BOB, present=(ANN,))
        model = Listening()
        services = society.agents["ada"]._services
        object.__setattr__(services, "voice", model)
        trace = await hear(society, "nice weather", BOB, present=(ANN, "user_carl"))
        told = {one.of: one.words for one in model.told[-1].relationships}
        assert told == {BOB: "fond of them", ANN: "wary of them", "user_carl": "a stranger to them"}
        assert model.told[-1].relationships[0].of == BOB
        assert trace.regard.manner is Manner.WARM
        assert not set(trace.regard.evidence).isdisjoint(unkind)
        assert not set(trace.regard.evidence).isdisjoint(kind)


@given(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0))
def test_a_feeling_moves_by_a_little_and_stays_in_its_range(valence: float, warmth: float) -> None:
    by = Relationship(ANN, 5, warmth=warmth).pull
    after = moved(Affect(valence), by).valence
    assert -1.0 <= after <= 1.0
    assert abs(after - valence) <= BOUND + 1e-9


async def test_in_a_busy_room_nobody_comes_back_who_was_never_away(
    tmp_path: Path, clock: ManualClock
) -> None:
    with closing(living(tmp_path, clock)) as society:
        await days_of(society, INSULTS)
        for number in range(4):
            back = await hear(society, "hm ok", addressed=False)
            assert (back.regard.feeling != 0.0) == (number == 0)
            clock.advance(1_200.0)
            for line in range(25):
                await hear(
                    society, f"my boat {number} {line} is red", user=BOB, present=(ANN,), addressed=False
                )


async def test_what_was_forgotten_while_it_spoke_is_in_no_trace(tmp_path: Path, clock: ManualClock) -> None:
    voice = SlowVoice()
    with closing(living(tmp_path, clock)) as society:
        told = await days_of(society, INSULTS)
        agent = society.agents["ada"]
        object.__setattr__(agent._services, "voice", voice)
        speaking = asyncio.create_task(hear(society, "hello ada"))
        await voice.asked.wait()
        agent.forget(told, ANN, clock.now())
        voice.gate.set()
        await speaking
        (kept,) = society.store.traces("ada", 1)
        assert kept.regard == NO_REGARD
