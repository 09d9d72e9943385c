"""Twenty turns with a real model, as a player has them: it speaks, and reads little of its prompts twice."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import LLMSettings, Settings
from noodlings.values.percept import Percept
from tests.llm.server import chat, flowing, serving
from tests.llm.test_real_server import KEY, RealServer, pytestmark, running  # noqa: F401 -- a mark for all here

LINES = (
    "hello there", "my dog died yesterday", "i miss him", "how are you?", "what is this place?",
    "do you like soup?", "my sister comes on friday", "it is raining again", "the bridge is closed",
    "i lost my key", "do you remember my dog?", "ha, good one", "what did i say about friday?", "i am tired",
    "tell me something", "the cat is on the roof", "good bread today", "i start a new job on monday",
    "are you listening?", "good night",
)  # fmt: skip
PRESENT = frozenset({"user_caity", "user_bob"})


async def talked(folder: Path, llm: LLMSettings, agent: str = "phi") -> list[str]:
    """Which voice spoke in each of the twenty turns."""
    clock = ManualClock()
    settings = Settings(llm=llm, store={"path": str(folder)}, thought={"ruminate": False})  # type: ignore[arg-type]
    society = build(settings, clock=clock)
    voices = []
    for line in LINES:
        clock.advance(40.0)
        percept = Percept("user_caity", line, clock.now(), addressed=True, present=PRESENT, place="workshop")
        voices.append((await society.perceive(agent, percept)).voice)
        await society.agents[agent].settle()
    await society.rest(5.0)
    society.close()
    return voices


async def test_with_the_defaults_a_small_model_speaks(tmp_path: Path) -> None:
    with running() as real:
        voices = await talked(tmp_path, LLMSettings(base_url=f"{real.address}/v1", model="m", api_key=KEY))
    assert voices.count("llm") >= 18, voices


@pytest.mark.parametrize("agent", ["phi", "servnak"])
async def test_most_of_a_prompt_is_that_of_the_turn_before(tmp_path: Path, agent: str) -> None:
    count = iter(range(1_000))
    async with serving(lambda _: chat(f"Well, that is so, number {next(count)}. Tell me more.")) as server:
        await talked(tmp_path, server.settings(), agent)
    prompts = [asked["messages"] for asked in server.asked if asked.get("stream")]
    assert len(prompts) == len(LINES)
    with running() as real:
        read = [_read(real, prompt) for prompt in prompts]
    kept, anew = (sum(tokens) for tokens in zip(*read, strict=True))
    print(f"\n{agent}: {kept / (kept + anew):.3f} of {kept + anew} tokens were kept from the turn before")
    assert kept / (kept + anew) >= 0.69


def _read(real: RealServer, prompt: list[dict[str, str]]) -> tuple[int, int]:
    """How many tokens of a prompt the server had read the turn before, and how many it read anew."""
    asked: dict[str, Any] = {"messages": prompt, "max_tokens": 1, "cache_prompt": True, "id_slot": 0}
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
    request = urllib.request.Request(
        f"{real.address}/v1/chat/completions", json.dumps(asked).encode(), headers
    )
    with urllib.request.urlopen(request) as answer:
        timings = json.load(answer)["timings"]
    return timings["cache_n"], timings["prompt_n"]


async def test_models_of_three_ten_and_forty_tokens_a_second_speak(tmp_path: Path) -> None:
    answer = "There is a boat on the shore. Nobody sits in it, it seems."

    async def voices(tokens_a_second: int) -> list[str]:
        folder = tmp_path / str(tokens_a_second)
        async with serving(flowing(answer, 1.0 / tokens_a_second)) as server:
            llm = LLMSettings(base_url=server.settings().base_url, model="m")
            return await talked(folder, llm)

    spoken = await asyncio.gather(*map(voices, (3, 10, 40)))
    assert [each.count("llm") for each in spoken] >= [18, 18, 18]
