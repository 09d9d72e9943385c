"""The same seed and a replayed recording of the calls give the same turns, byte for byte."""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path

import pytest

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import LLMSettings, Settings
from noodlings.store.memory import MemoryStore
from noodlings.values.percept import Kind, Percept
from tests.llm.server import Answer, chat, serving

NUMBERS = {"valence": -0.7, "arousal": 0.4, "fear": 0.1, "sorrow": 0.9, "boredom": 0.0}
LINES = ("My dog died yesterday", "hello", "do you remember my dog?", "hello", "I hate you")


async def turns(llm: LLMSettings, chain: str) -> bytes:
    """What was said and why, and all that was kept, as bytes; how long it took is left out."""
    clock, told = ManualClock(1_700_000_000.0), list[object]()
    settings = Settings(llm=llm, embedding={"model": "none"}, thought={"chain": chain})
    society = build(settings, clock=clock, store=MemoryStore())
    phi = society.agents["phi"]
    for line in LINES:
        for heard in (Percept("user_caity", line, clock.now(), addressed=True), _overheard(line, clock)):
            await phi.perceive(heard)
            await phi.settle()
        for _ in range(6):  # by itself it thinks at times
            clock.advance(10.0)
            await phi.idle(clock.now())
            await phi.settle()
    await society.rest(2.0)
    record = society.store.load("phi")
    assert record is not None
    told += [asdict(trace) | {"milliseconds": {}} for trace in society.store.traces("phi", 100)]
    told += [asdict(symbol) for symbol in record.symbols]
    told += [[entry.kind, entry.user_text, entry.response] for entry in society.store.archive("phi")]
    await asyncio.to_thread(society.close)
    return json.dumps(told, default=str).encode()


def _overheard(line: str, clock: ManualClock) -> Percept:
    return Percept("user_bob", f"caity told me: {line}!", clock.now(), depth=3)


@pytest.mark.slow
@pytest.mark.parametrize("chain", ["fused", "serial"])
async def test_a_replay_of_recorded_calls_gives_the_same_turns(tmp_path: Path, chain: str) -> None:
    answered = replies = 0

    def answer(asked: dict[str, object]) -> Answer:
        nonlocal answered, replies
        answered += 1
        replies += "stream" in asked
        if "stream" in asked and replies == 3:
            return Answer(b"{}", 400)
        if "response_format" in asked:
            return chat(json.dumps(NUMBERS))
        if "You turn moments into images" in str(asked["messages"]):
            return chat(f"{'a lamp' if answered % 2 else 'an oar'} under a bathtub of {answered} herons")
        return chat(f"mew, number {answered}.")

    path = str(tmp_path / "calls.jsonl")
    async with serving(answer) as server:
        first = await turns(server.settings(appraise=True, record=path), chain)
        settings = server.settings(appraise=True, replay=path)
    assert answered > 2 * len(LINES)
    assert b"mew, number" in first
    assert b"it answered 400" in first
    assert b"herons" in first
    assert f'["{Kind.THOUGHT}", "mew, number'.encode() in first
    assert f'"how": "{chain}"'.encode() in first
    assert await turns(settings, chain) == first
