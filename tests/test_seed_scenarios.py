"""What the first design promised, in other words: what matters outlives trivia, feelings recall their like.

That a tense moment comes back as an image is in `test_symbolic_association`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

import pytest

from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.store.memory import MemoryStore
from noodlings.values.percept import Percept
from noodlings.values.trace import Trace
from tests.thorough import THOROUGH

pytestmark = pytest.mark.slow

PLACES, LINES = (200, 500) if THOROUGH else (30, 45)
"""More lines than there are places in memory; hundreds are in `test_scenarios`."""
TRIVIA = ("ok", "nice weather", "the bus was late", "I had toast", "look at that gull", "hm", "brb")
Say = Callable[[str], Awaitable[Trace]]


@pytest.fixture(params=["minilm", "none"])
def say(request: pytest.FixtureRequest) -> Iterator[Say]:
    """Say something to SERVNAK, a minute after the last."""
    clock = ManualClock(1_000_000.0)
    settings = Settings(embedding={"model": request.param}, memory_windows={"episodic": PLACES})
    society: Society = build(settings, clock=clock, store=MemoryStore())

    async def perceived(text: str) -> Trace:
        clock.advance(60)
        percept = Percept("user_caity", text, clock.now(), addressed=True)
        return await society.perceive("servnak", percept)

    yield perceived
    society.close()


GRAVE = {
    "my grandmother passed away on Sunday": "my grandmother would have sung along to this",
    "they rushed our daughter to hospital last night": "our daughter picked these flowers",
    "we lost the farm in the fire, all of it": "there was a gate like this one at the farm",
}
"""What is told, and what is said of it later, without a word of what happened."""


async def test_what_matters_outlives_hundreds_of_trivial_lines(say: Say) -> None:
    told = [await say(line) for line in GRAVE]
    for number in range(LINES):
        await say(f"{TRIVIA[number % len(TRIVIA)]} {number}")
    for matters, mentioned in zip(told, GRAVE.values(), strict=True):
        trace = await say(mentioned)
        assert matters.entry_id in [found.entry_id for found in trace.recalled]
        assert trace.affect.valence < 0.25
        assert trace.tone.name != "glad"


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ("I am so scared of the exam, I cannot sleep", "there is somebody in the cellar, I am frightened"),
        ("I am terrified of the storm, the roof is coming off", "I am afraid of what the doctor will find"),
        ("I panicked on the bridge, I was so afraid to fall", "that dog scares me, it growls at everybody"),
    ],
)
async def test_what_frightens_brings_back_what_frightened(say: Say, then: str, now: str) -> None:
    frightened = await say(then)
    for lost in ("mother", "brother", "wife", "dog", "best friend"):  # all of which matter more
        await say(f"my {lost} died and I cannot stop crying")
    for number in range(40):
        await say(f"{TRIVIA[number % len(TRIVIA)]} {number}")
    trace = await say(now)
    found = {found.entry_id: found.why for found in trace.recalled}
    assert {"affect", "important"}.intersection(found[frightened.entry_id])
