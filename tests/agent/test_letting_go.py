"""Agents that had no room in memory: they come back as if they had stayed, and there is never one twice."""

from __future__ import annotations

import asyncio
import gc
import logging
import re
import signal
import subprocess
import sys
import weakref
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commands.agents import agents_view
from commands.help import completions
from commands.registry import CommandContext
from noodlings.agent.recipes import plain_persona
from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings, load_settings
from noodlings.drawing.screen import render
from noodlings.errors import UserError
from noodlings.inspect.feed import Feed, FeedReader
from noodlings.inspect.inspector import Inspector
from noodlings.values.caller import Caller, Names, Role
from noodlings.values.percept import Kind, Percept
from noodlings.values.trace import Trace
from tests.agent.played import LINES
from tests.thorough import THOROUGH

pytestmark = pytest.mark.slow

ADMIN = Caller("user_admin", "admin", Role.ADMIN)
CAITY = Caller("user_caity", "caity")
WHO = ("phi", "servnak", "maren", "bo")


def society_in(folder: Path, awake: int, model: str = "none", clock: ManualClock | None = None) -> Society:
    settings = Settings(
        store={"path": str(folder)}, embedding={"model": model}, world={"awake": awake, "seed": 7}
    )
    society = build(settings, clock=clock or ManualClock(1_000_000.0))
    society.know(plain_persona("bo"))
    return society


def untimed(trace: Trace) -> Trace:
    return replace(trace, milliseconds={})


async def lived(society: Society, lines: Sequence[str]) -> dict[str, Any]:
    """A day of four characters: talk, whispers, a game, thoughts, corrections; what is left of it."""
    clock, inspector, feed = society.clock, Inspector(society), Feed(society, 1_000)
    traces, acts, seen = [], [], []

    def look(reader: FeedReader) -> None:
        while (taken := reader.take()) is not None:
            seen.append((taken[1].agent, taken[1].entry, taken[1].step, taken[1].said))

    with feed.reading(ADMIN) as reader:
        for number, line in enumerate(lines):
            clock.advance(400.0)  # type: ignore[attr-defined]
            said, addressed = line.format(name=WHO[number % 4]), WHO[number % 4]
            for who in WHO:
                kind = Kind.WHISPER if number % 5 == 4 and who == addressed else Kind.SAY
                here = frozenset({CAITY.user_id, "user_bob"}) if kind is Kind.SAY else frozenset()
                heard = Percept(
                    CAITY.user_id, said, clock.now(), kind, addressed=who == addressed, present=here
                )
                traces.append(untimed(await society.perceive(who, heard)))
                look(reader)  # or what waits for it would hold who did it
            acts.append(await society.agents[WHO[(number + 1) % 4]].idle(clock.now()))
            if number % 12 == 7:
                event = Percept("game", "", clock.now(), Kind.EVENT, data={"event": "health_critical"})
                traces.append(untimed(await society.perceive(addressed, event)))
                society.corrections.pin(ADMIN, addressed, 2)
                society.corrections.pin(ADMIN, "bo", 3)
            if number == 8:
                society.corrections.undo(ADMIN, "bo")
        found = [await inspector.recall(ADMIN, who, "my sister who paints boats") for who in WHO]
        society.corrections.forget(CAITY, "phi", [society.store.told_by("phi", CAITY.user_id)[-1]])
        look(reader)
    feed.close()
    clock.advance(5_000.0)  # type: ignore[attr-defined]
    ends = {}
    for who in WHO:
        agent = society.agents[who]
        ends[who] = (
            inspector.agent(ADMIN, who),
            inspector.mood(ADMIN, who),
            inspector.observe(ADMIN, who),
            # What comes to episodic memory a second time is counted once in the store.
            replace(inspector.stats(ADMIN, who), consolidated=0, consolidation_rate=0.0),
            inspector.working(ADMIN, who),
            inspector.working(CAITY, who),
            inspector.symbols(ADMIN, who),
            agent.memory.retrieve_episodic(limit=None),
            agent.state(),
            agent.gains,
            agent.appetites,
            [untimed(trace) for trace in society.store.traces(who, 1_000)],
        )
    return {"traces": traces, "acts": acts, "seen": seen, "found": found, "ends": ends}


def plain(value: Any) -> str:
    """In words: arrays compare one by one. Sets have no order, and of a sum the last digits depend on it."""
    words = re.sub(r"\{('[^{}]*')\}", lambda found: str(sorted(found[1].split(", "))), repr(value))
    return re.sub(r"\d+\.\d{13,}", lambda found: f"{float(found[0]):.12f}", words)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "lines"), [("none", LINES * 2 if THOROUGH else LINES[:14]), ("minilm", LINES[:8])]
)
def test_who_comes_back_is_as_who_stayed(tmp_path: Path, model: str, lines: Sequence[str]) -> None:
    stayed = society_in(tmp_path / "stayed", 1_000, model)
    with closing(stayed):
        one = asyncio.run(lived(stayed, lines))
    gc.freeze()  # so that looking for what was let go takes no time
    left = society_in(tmp_path / "left", 1, model)
    made: list[str] = []
    make = left.agents._make
    left.agents._make = lambda persona: (made.append(persona.id), gc.collect(), make(persona))[-1]  # type: ignore[func-returns-value]
    with closing(left):
        other = asyncio.run(lived(left, lines))
    gc.unfreeze()
    assert len(made) > 4 * len(lines)
    assert one.keys() == other.keys()
    for part in ("traces", "acts", "seen", "found"):
        assert plain(one[part]) == plain(other[part])
    for who in WHO:
        for mine, theirs in zip(one["ends"][who], other["ends"][who], strict=True):
            assert plain(mine) == plain(theirs)


async def test_there_is_never_one_twice(tmp_path: Path) -> None:
    with closing(society_in(tmp_path, 1)) as society:
        phi = society.agents["phi"]
        assert society.agents["servnak"] is society.agents["servnak"]
        assert society.agents["phi"] is phi
        hello = Percept(CAITY.user_id, "hello", society.clock.now(), addressed=True)
        turn = asyncio.ensure_future(society.perceive("phi", hello))
        del phi
        await asyncio.sleep(0)
        society.agents["bo"]
        gc.collect()
        phi = society.agents["phi"]
        await turn
        assert phi.memory.stats().perceived == 1
        society.agents["bo"]
        assert phi in society.agents.awake
        del phi, turn
        gc.collect()
        assert [agent.id for agent in society.agents.awake] == ["bo"]


@pytest.mark.parametrize(
    "llm", [{}, {"base_url": "http://127.0.0.1:9/v1", "model": "away", "timeout_seconds": 0.2}]
)
async def test_who_is_let_go_of_is_freed_though_nobody_collects_garbage(
    tmp_path: Path, llm: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "noodlings")  # else errors are kept here, and what they were raised in
    settings = Settings(
        store={"path": str(tmp_path)}, embedding={"model": "none"}, world={"awake": 1, "seed": 7}, llm=llm
    )
    gc.collect()
    gc.disable()
    try:
        with closing(build(settings, clock=ManualClock(1_000_000.0))) as society:
            agent = society.agents["phi"]
            assert agent.archive is not None
            freed = [weakref.ref(one) for one in (agent, agent.memory, agent.archive, agent.archive.index)]
            for addressed in (False, True):
                words = "My dog died yesterday, and I am so sad!"
                heard = Percept(CAITY.user_id, words, society.clock.now(), addressed=addressed)
                trace = await agent.perceive(heard)
            await agent.answer_again(trace.entry_id)
            event = Percept("game", "", society.clock.now(), Kind.EVENT, data={"event": "health_critical"})
            await agent.perceive(event)
            for hour in range(20):
                await agent.idle(society.clock.now() + 3_600.0 * hour)
            await Inspector(society).recall(ADMIN, "phi", "a dog")
            society.corrections.forget(CAITY, "phi", [trace.entry_id])
            await agent.settle()
            del agent
            society.agents["servnak"]
            await asyncio.sleep(0)  # so that the last task lets go of it
            assert [one() for one in freed] == [None] * len(freed)
            await society.rest(5.0)
    finally:
        gc.enable()


async def test_what_was_forgotten_before_it_went_stays_out_of_the_live_stream(tmp_path: Path) -> None:
    with closing(society_in(tmp_path, 1)) as society:

        async def say(words: str) -> int:
            heard = Percept(CAITY.user_id, words, society.clock.now(), addressed=True)
            return (await society.perceive("phi", heard)).entry_id

        society.corrections.forget(CAITY, "phi", [await say("I took the key")])
        society.agents["bo"]
        assert [agent.id for agent in society.agents.awake] == ["bo"]
        assert society.agents["phi"].forgettings == 1
        feed = Feed(society, 100)
        with feed.reading(ADMIN) as reader:
            told = await say("I took the lamp")
            society.agents["bo"]
            society.corrections.forget(CAITY, "phi", [told])
            assert reader.take() is None


async def test_reading_the_live_stream_wakes_nobody(tmp_path: Path) -> None:
    with closing(society_in(tmp_path, 1)) as society:
        feed, made = Feed(society, 100), list[str]()
        make = society.agents._make
        society.agents._make = lambda persona: (made.append(persona.id), make(persona))[-1]  # type: ignore[func-returns-value]
        with feed.reading(ADMIN) as reader:
            for who in WHO:
                heard = Percept(CAITY.user_id, "hello", society.clock.now(), addressed=True)
                await society.perceive(who, heard)
            turns = []
            while (taken := reader.take()) is not None:
                turns += [taken[1].agent] * (taken[1].turn is not None)
        assert turns == made == list(WHO)
        del taken
        assert [agent.id for agent in society.agents.awake] == [WHO[-1]]


async def test_a_list_wakes_nobody(tmp_path: Path) -> None:
    with closing(society_in(tmp_path, 2)) as society:
        for number in range(50):
            society.know(plain_persona(f"guard_{number}"))
        society.agents["phi"], society.agents["bo"]
        inspector = Inspector(society)
        for caller in (ADMIN, CAITY):
            view = await inspector.agents(caller)
            assert ([one.id for one in view.agents], view.asleep) == (["bo", "phi"], 52)
        listed = []
        async for one in inspector.in_turn(caller):
            listed.append(one)
            society.agents["guard_1"], society.agents["guard_2"]
        assert listed == ["phi"]
        assert [agent.id for agent in society.agents.awake] == ["guard_1", "guard_2"]
        assert "52 more are asleep until named." in render(agents_view(view), 100)
        context = CommandContext(ADMIN, society, inspector)
        assert "guard 49" in completions(context, "@mood g")
        assert "health_critical" in completions(context, "@event phi health")
        gc.collect()
        assert len(society.agents.awake) <= 2
        assert inspector.agent(ADMIN, "guard 17").id == "guard_17"


@pytest.mark.parametrize("awake", [0, -1, 1e9, "many", float("nan"), None])
def test_room_for_nobody_is_refused(tmp_path: Path, awake: Any) -> None:
    with pytest.raises(UserError, match=r"world\.awake"):
        load_settings(world={"awake": awake})


KILLED = """
import asyncio, sys
from pathlib import Path
from tests.agent.test_letting_go import society_in, WHO, CAITY
from noodlings.values.percept import Percept

async def main():
    society = society_in(Path(sys.argv[1]), 1)
    for number in range(1_000_000):
        society.clock.advance(10.0)
        heard = Percept(CAITY.user_id, f"line {number}", society.clock.now(), depth=1)
        trace = await society.perceive(WHO[number % 4], heard)
        print(WHO[number % 4], trace.entry_id, flush=True)

asyncio.run(main())
"""


def test_what_was_acknowledged_outlives_a_kill_among_those_who_come_and_go(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    heard = [process.stdout.readline().split() for _ in range(41)]
    process.send_signal(signal.SIGKILL)
    with process:
        heard += [line.split() for line in process.stdout.read().splitlines()]
    with closing(society_in(tmp_path, 2)) as society:
        for who, entry_id in filter(None, heard[:-1]):
            assert society.agents[who].entry(int(entry_id)) is not None
        for number, who in enumerate(WHO):
            assert society.agents[who].entry(1).user_text == f"line {number}"


def test_names_are_found_by_the_words_of_a_text() -> None:
    names = Names({f"guard_{number}": f"Guard {number}" for number in range(100)} | {"user_caity": "caity"})
    names["agent_maren"] = "Maren O'Brien"
    found = names.among(["guard_3"], ["Mareeen O'Brien's lamp, guard 17!"])
    assert found.items() >= {
        ("agent_maren", "Maren O'Brien"),
        ("guard_3", "Guard 3"),
        ("guard_17", "Guard 17"),
    }
    assert len(found) < 10
    names["user_caity"] = "Kate"
    assert names.among([], ["caity and kate"]) == {"user_caity": "Kate"}
    names["nobody"] = "***"
    assert names.among(["nobody", "somebody"], ["***"]) == {"nobody": "***"}
