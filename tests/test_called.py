"""The whole program: people are called what they asked to be called, by those who may know it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.store.sql import SqlStore
from noodlings.values.audience import Audience
from noodlings.values.percept import Percept, told_name
from noodlings.values.trace import Trace
from tests.program import ran

CAITY, BOB = "user_caity", "user_bob"
GUS = """
name: Gus
voice:
  lines:
    greeting: ["Evening, {name}. (Mind the step.|The kettle is on.)"]
    remember: ["{Memory}, {name}."]
"""
IDLE = ("the gutter is dripping", "it is ten past nine", "cold in here", "where is the map?", "ok", "hm")


class Visit:
    """A society in a folder; `say` returns what the character makes of a line, a minute after the last."""

    def __init__(self, folder: Path, now: float = 1_000_000.0, plain: bool = False) -> None:
        (folder / "recipes").mkdir(exist_ok=True)
        (folder / "recipes" / "gus.yaml").write_text(GUS)
        settings = Settings(
            store={"path": str(folder)},  # type: ignore[arg-type]
            embedding={"model": "none"},  # type: ignore[arg-type]
            memory={"use_hierarchical": not plain},  # type: ignore[arg-type]
        )
        self.clock = ManualClock(now)
        self.society: Society = build(settings, clock=self.clock, store=SqlStore(folder))

    async def say(self, text: str, agent: str = "gus", user: str = CAITY, **more: object) -> Trace:
        self.clock.advance(60)
        percept = Percept(user, text, self.clock.now(), **{"addressed": True, **more})  # type: ignore[arg-type]
        return await self.society.perceive(agent, percept)


@pytest.fixture
def visit(tmp_path: Path) -> Iterator[Callable[[], Visit]]:
    """Opens the society of a folder, which ends the visit before."""
    opened: list[Visit] = []

    def enter() -> Visit:
        now = opened[-1].clock.now() if opened else 1_000_000.0
        if opened:
            opened[-1].society.close()
        opened.append(Visit(tmp_path, now))
        return opened[-1]

    yield enter
    opened[-1].society.close()


@pytest.mark.slow
@pytest.mark.parametrize("line", ["gus, call me Oda please", "gus, hello, i'm Oda", "my name is oda"])
async def test_a_name_is_taken_up_and_used_from_then_on(visit: Callable[[], Visit], line: str) -> None:
    there = visit()
    assert "Caity" in str((await there.say("hello")).response)
    told = await there.say(line)
    assert "Oda" in str(told.response)
    for asked in ("what am i called?", "who am i?", "what's my name?", "do you know my name?"):
        assert "Oda" in str((await there.say(asked)).response)
    for idle in range(40):  # out of working memory, and so mean that it is in no other
        await there.say(f"{IDLE[idle % len(IDLE)]} {idle}")
    there = visit()
    met = await there.say("gus, hello")
    assert "Evening, Oda." in str(met.response)
    assert [one.used for one in met.recalled if one.entry_id == told.entry_id] == [True]
    assert (await there.say("call me Kim from now on")).response is not None
    assert "Kim" in str((await there.say("gus, what am i called?")).response)


@pytest.mark.parametrize("agent", ["servnak", "maren", "phi"])
async def test_each_takes_a_name_up_in_its_own_manner(visit: Callable[[], Visit], agent: str) -> None:
    there = visit()
    said = str((await there.say("call me Oda please", agent)).response)
    own = there.society.personas[agent].voice.lines["told_name"]
    assert "oda" in said.casefold()
    assert any(line.replace("{Name}", "Oda").casefold()[:5] in said.casefold() for line in own)


async def test_it_is_nobody_elses_name(visit: Callable[[], Visit]) -> None:
    there = visit()
    await there.say("call me Oda")
    for asked in ("what am i called?", "hello"):
        assert "Oda" not in str((await there.say(asked, user=BOB)).response)


async def test_a_name_that_was_told_alone_is_not_said_before_others(visit: Callable[[], Visit]) -> None:
    there = visit()
    await there.say("between us, my name is Oda", audience=Audience(frozenset({CAITY}), True))
    assert "Oda" in str((await there.say("hello")).response)
    for asked in ("hello", "what am i called?"):
        trace = await there.say(asked, present=frozenset({BOB}))
        assert "Oda" not in str(trace.response)
        assert "Caity" in str(trace.response)


@pytest.mark.slow
async def test_a_forgotten_name_is_gone_from_every_answer(visit: Callable[[], Visit]) -> None:
    there = visit()
    told = await there.say("call me Odaline")
    await there.say("my dog is called Rex")
    for line in ("hello", "who am i?", "what is my dog called?", "hello again"):
        await there.say(line)
    gus = there.society.agents["gus"]
    gus.forget([told.entry_id], CAITY, there.clock.now())
    there = visit()
    for line in ("hello", "who am i?"):
        assert "odaline" not in str((await there.say(line)).response).casefold()
    kept = there.society.store.archive("gus", 0, 100)
    assert not any("odaline" in f"{entry.user_text} {entry.response}".casefold() for entry in kept)
    traces = there.society.store.traces("gus", 100)
    assert not any("odaline" in f"{trace.thought} {trace.response}".casefold() for trace in traces)


@pytest.mark.slow
async def test_with_a_plain_list_a_forgotten_name_is_gone_with_the_memory_it_was_said_beside(
    tmp_path: Path,
) -> None:
    there = Visit(tmp_path, plain=True)
    told = await there.say("call me Odaline")
    await there.say("my dog is called Rex")
    said = await there.say("what is my dog called?")
    assert "Rex, Odaline" in str(said.response)
    gus = there.society.agents["gus"]
    gus.forget([told.entry_id], CAITY, there.clock.now())
    answered = gus.entry(said.entry_id)
    there.society.close()
    assert answered is not None
    assert answered.response is None


async def test_a_corrected_name_is_the_new_one(visit: Callable[[], Visit]) -> None:
    there = visit()
    told = await there.say("call me Oda")
    gus = there.society.agents["gus"]
    entry = gus.entry(told.entry_id)
    assert entry is not None
    gus.correct(entry, "call me Ida")
    assert "Evening, Ida." in str((await there.say("hello")).response)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("call me Oda please", "Oda"),
        ("you can call me Old Tom", "Old Tom"),
        ("my name is really Kimberley but everyone says Kim", "Kimberley"),
        ("good evening! i'm Oda, i keep a little mush", "Oda"),
        ("my name's O'Brien", "O'Brien"),
        ("hi i'm Oda Jansen from Leiden", "Oda Jansen"),
        ("im Oda, from Leeds", "Oda"),
        ("Name's Oda. Don't laugh.", "Oda"),
        ("Hi. Name's Oda", "Oda"),
        ("I'm Wilhelmina but everyone calls me Mina", "Mina"),
        ("I'm Oda. I'm Catholic.", "Oda"),
        ("I'm Oda. My boss said call me Karl", "Oda"),
        ("Call me Oda, not Odie, everyone calls me Odie and i hate it", "Oda"),
        ("I hate that everyone calls me Bernie", ""),
        ("everyone calls me fat", ""),
        ("Hey, name's Bo", "Bo"),
        ("Name's Rex, he's a good dog", ""),
        ("Name is required", ""),
        ("Im Fine.", ""),
        ("Im Back", ""),
        ("they call me the devil", ""),
        ("nobody calls me Mina", ""),
        ("got a dog. Name's Rex", ""),
        ("her name's Oda", ""),
        ("im Dutch, im tired", ""),
        ("I'm Oda's sister", ""),
        ("I'm Dutch", ""),
        ("I'm tired", ""),
        ("call me back later", ""),
        ("don't call me Shirley", ""),
        ("never call me Shirley", ""),
        ("do not call me Oda", ""),
        ("nobody may call me Oda", ""),
        ("please don't ever call me Shirley", ""),
        ("stop calling me Oda, call me Kim", "Kim"),
        ("will you call me tonight?", ""),
        ("call me please", ""),
        ("call me O'" + "a" * 500, "O'" + "a" * 30),
        ("what do you call me?", ""),
        ("do you call me Oda?", ""),
        ("my name is not important", ""),
        ("I'm King of the hill", ""),
        ("they say i am famous", ""),
    ],
)
def test_only_a_line_that_names_whoever_says_it_tells_a_name(line: str, name: str) -> None:
    assert told_name(line) == name


@pytest.mark.slow
def test_who_somebody_is_at_this_terminal_is_an_option(tmp_path: Path) -> None:
    words = ("--data", tmp_path)
    lines = b"who\nsay servnak, who am i?\n"
    done = ran("play", "--as", "oda", *words, environment=os.environ, input=lines)
    assert b"oda" in done.stdout
    assert b"ODA" in done.stdout
    assert b"traveller" not in done.stdout.lower()
    refused = ran("play", "--as", "o" * 100, *words, environment=os.environ, input=b"")
    assert refused.returncode == 2
    assert b"a player's name has 1 to" in refused.stderr
