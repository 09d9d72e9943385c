"""The same seed and a replayed recording of the calls give the same turns, byte for byte."""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import LLMSettings, Settings
from noodlings.store.memory import MemoryStore
from noodlings.values.percept import Percept
from tests.llm.server import Answer, chat, serving

NUMBERS = {"valence": -0.7, "arousal": 0.4, "fear": 0.1, "sorrow": 0.9, "boredom": 0.0}
LINES = ("My dog died yesterday", "hello", "do you remember my dog?", "hello", "I hate you")


async def turns(llm: LLMSettings) -> bytes:
    """What was said and why, as bytes; how long it took is left out."""
    clock, told = ManualClock(1_700_000_000.0), []
    society = build(Settings(llm=llm, embedding={"model": "none"}), clock=clock, store=MemoryStore())
    for line in LINES:
        trace = await society.perceive("phi", Percept("user_caity", line, clock.now(), addressed=True))
        told.append(asdict(trace) | {"milliseconds": {}})
        clock.advance(60.0)
    await asyncio.to_thread(society.close)
    return json.dumps(told, default=str).encode()


async def test_a_replay_of_recorded_calls_gives_the_same_turns(tmp_path: Path) -> None:
    answered = 0

    def answer(asked: dict[str, object]) -> Answer:
        nonlocal answered
        answered += 1
        if answered == 4:
            return Answer(b"{}", 400)
        return chat(json.dumps(NUMBERS) if "response_format" in asked else f"mew, number {answered}.")

    path = str(tmp_path / "calls.jsonl")
    async with serving(answer) as server:
        first = await turns(server.settings(appraise=True, record=path))
        settings = server.settings(appraise=True, replay=path)
    assert answered >= 2 * len(LINES) - 1
    assert b"mew, number 2." in first
    assert b"it answered 400" in first
    assert await turns(settings) == first
