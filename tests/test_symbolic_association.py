"""An intense moment becomes an image, and a like feeling later brings its imagery into what is said."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import LLMSettings, Settings
from noodlings.store.sql import SqlStore
from noodlings.values.trace import Modulation, Trace
from noodlings.voice.colour import image_of
from noodlings.worlds.places import load_places
from noodlings.worlds.rooms import World
from tests.llm.server import Answer, chat, serving

pytestmark = pytest.mark.slow

FATHER_IN_LAW = "phi, my father-in-law shouted at me: my report is worthless! I am terrified of him"
BOSS = "phi, my boss screams at me, I am so scared that I will lose my job"
CALM = ("phi, hello", "phi, the bus was late", "phi, what time is it?")
IMAGE = "a heron made of wet umbrellas"
HERON = "*opens like an umbrella* mew. i stand tall like a heron."


@dataclass
class Talk:
    """Caity with Phi, in a room of their own."""

    society: Society
    world: World
    clock: ManualClock
    heard: list[str] = field(default_factory=list)

    async def say(self, text: str) -> Trace:
        """Say it, and wait for whatever comes of it."""
        self.clock.advance(3_600)
        self.world.say("user_caity", text)
        await self.world.settle()
        await self.society.agents["phi"].settle()
        return self.society.store.traces("phi")[0]


@asynccontextmanager
async def talking(folder: Path, llm: LLMSettings | None = None, chain: str = "fused") -> AsyncIterator[Talk]:
    """With the imagination of Phi turned all the way up, so that chance has no say."""
    (folder / "recipes").mkdir(exist_ok=True)
    (folder / "recipes" / "phi.yaml").write_text(_open_minded(), encoding="utf-8")
    clock = ManualClock(1_000_000.0)
    settings = Settings(
        llm=llm or LLMSettings(),
        store={"path": str(folder)},
        embedding={"model": "none"},
        thought={"ruminate": False, "chain": chain},
    )
    society = build(settings, clock=clock)
    heard: list[str] = []
    phi = society.personas["phi"]
    world = World(load_places(), [phi], society.perceive, lambda *_: _nothing(), clock)
    world.enter("user_caity", "caity", lambda line: heard.append(line.view("user_caity").plain))
    await world.settle()
    try:
        yield Talk(society, world, clock, heard)
    finally:
        await world.close()
        await society.rest(2.0)
        society.close()


def _open_minded() -> str:
    shipped = Path(__file__).parents[1] / "noodlings" / "recipes" / "phi.yaml"
    gains = "transistors: {affect: 0.0, goal: 0.0, memory: 0.0, subconscious: 1.0, ego: 0.0}"
    lines = shipped.read_text(encoding="utf-8").splitlines()
    return "\n".join(gains if line.startswith("transistors:") else line for line in lines) + "\n"


async def _nothing() -> None:
    return None


def subconscious(trace: Trace) -> Modulation:
    """What the images did to a thought."""
    return next(made for made in trace.modulations if made.transistor == "subconscious")


def scripted(asked: dict[str, Any]) -> Answer:
    """A model that makes one image, and speaks of it only where it is handed it."""
    prompt = json.dumps(asked["messages"])
    if "You turn moments into images" in prompt:
        return chat(IMAGE if "father-in-law" in prompt else "a lamp under a bathtub")
    return chat(HERON if IMAGE in prompt else "mew. i am here.")


TENSE = (
    (FATHER_IN_LAW, BOSS),
    (
        "phi, my landlord banged on the door and threatened to throw us out, I was so frightened",
        "phi, the customs man yelled at me, I am terrified that he takes my papers",
    ),
    (
        "phi, the coach screamed at me before the whole team, I am so afraid of him",
        "phi, that officer threatened me on the bridge, I was scared to death",
    ),
    (
        "phi, a stranger followed me home and shouted at me, I was terrified",
        "phi, the dentist got angry and yelled, I am scared to go back",
    ),
)
"""A tense moment, and another one like it."""


@pytest.mark.parametrize(("first", "second"), TENSE)
async def test_offline_the_imagery_of_a_like_moment_shows_in_the_reply(
    tmp_path: Path, first: str, second: str
) -> None:
    async with talking(tmp_path) as talk:
        for line in CALM:
            assert subconscious(await talk.say(line)).how == "passed"
        assert not len(talk.society.agents["phi"].subconscious)
        await talk.say(first)
        (symbol,) = talk.society.agents["phi"].subconscious.symbols
        assert symbol.literal_event == first
        for line in CALM:
            trace = await talk.say(line)
            assert subconscious(trace).how == "passed"
            assert image_of(symbol) not in (trace.response or "")
        trace = await talk.say(second)
        made = subconscious(trace)
        assert made.how == "offline"
        assert made.symbols[0] == symbol.id
        assert image_of(symbol) in made.after
        assert image_of(symbol) not in made.before
        assert symbol.symbolic_encoding not in made.after  # tinted by it, never told
        assert "father-in-law" not in made.after
        assert trace.response == made.after
        assert len(talk.society.agents["phi"].subconscious) == 2


@pytest.mark.parametrize("chain", ["fused", "serial"])
@pytest.mark.slow
async def test_with_a_model_the_image_it_made_comes_back_to_it_with_the_feeling(
    tmp_path: Path, chain: str
) -> None:
    async with serving(scripted) as server, talking(tmp_path, server.settings(), chain) as talk:
        await talk.say(FATHER_IN_LAW)
        (symbol,) = talk.society.agents["phi"].subconscious.symbols
        assert (symbol.symbolic_encoding, symbol.made_by) == (IMAGE, "m")
        calm = await talk.say(CALM[0])
        assert calm.response == "mew. i am here."
        assert len(talk.society.agents["phi"].subconscious) == 1
        trace = await talk.say(BOSS)
        made = subconscious(trace)
        assert (made.how, made.symbols, trace.voice) == (chain, (symbol.id,), "llm")
        assert trace.response == HERON
        assert any("stand tall like a heron" in line for line in talk.heard)
        assert len(talk.society.agents["phi"].subconscious) == 2


async def test_a_model_that_gives_back_the_examples_is_not_believed(tmp_path: Path) -> None:
    def copying(asked: dict[str, Any]) -> Answer:
        images = "You turn moments into images" in json.dumps(asked["messages"])
        return chat("a thimble of hailstones" if images else "mew.")

    async with serving(copying) as server, talking(tmp_path, server.settings()) as talk:
        await talk.say(FATHER_IN_LAW)
        (symbol,) = talk.society.agents["phi"].subconscious.symbols
        assert symbol.made_by == "images"
        assert "hailstones" not in symbol.symbolic_encoding


async def test_images_outlive_the_process_and_come_back_in_the_next(tmp_path: Path) -> None:
    async with talking(tmp_path) as talk:
        await talk.say(FATHER_IN_LAW)
        (symbol,) = talk.society.agents["phi"].subconscious.symbols
    store = SqlStore(tmp_path, read_only=True)
    kept = store.load("phi")
    store.close()
    assert kept is not None
    assert kept.symbols == (symbol,)
    async with talking(tmp_path) as talk:
        talk.clock.advance(86_400)
        assert image_of(symbol) in (await talk.say(BOSS)).response
