"""Twenty turns with models as a player has them: a small one, and streams of 3, 10 and 40 tokens a second.

`pytest -n0 -s tests/llm/test_real_talk.py` prints how much of the prompts the server had read before.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import LLMSettings, Settings
from noodlings.values.percept import Percept
from noodlings.values.sent_prompt import TokenCounts
from tests.llm.server import flowing, serving
from tests.llm.test_real_server import KEY, pytestmark, running  # noqa: F401 -- the mark is for this file too

LINES = (
    "hello there", "my dog died yesterday", "i miss him", "how are you?", "what is this place?",
    "do you like soup?", "my sister comes on friday", "it is raining again", "the bridge is closed",
    "i lost my key", "do you remember my dog?", "ha, good one", "what did i say about friday?", "i am tired",
    "tell me something", "the cat is on the roof", "good bread today", "i start a new job on monday",
    "are you listening?", "good night",
)  # fmt: skip
PRESENT = frozenset({"user_caity", "user_bob"})
MOST = 11
"""Of twenty turns, so many even a model of 135 million parameters speaks in; on a busy machine it was 14."""
SPOKEN = "There is a boat there. Nobody sits in it."


async def talked(folder: Path, llm: LLMSettings) -> tuple[list[str], list[TokenCounts]]:
    """Which voice spoke in each of twenty turns, with settings as shipped, and what replies cost."""
    clock = ManualClock()
    settings = Settings(llm=llm, store={"path": str(folder)}, embedding={"model": "none"})  # type: ignore[arg-type]
    society = build(settings, clock=clock)
    spoke = []
    for line in LINES:
        clock.advance(40.0)
        percept = Percept("user_caity", line, clock.now(), addressed=True, present=PRESENT, place="workshop")
        spoke.append((await society.perceive("phi", percept)).voice)
    await society.rest(5.0)
    sent = [
        one for prompts in society.agents["phi"].prompts.values() for one in prompts if one.task == "reply"
    ]
    society.close()
    return spoke, [one.tokens for one in sent if one.tokens is not None]


async def streamed(folder: Path, tokens_a_second: int) -> list[str]:
    async with serving(flowing(SPOKEN, 1.0 / tokens_a_second)) as server:
        spoke, _ = await talked(folder, LLMSettings(base_url=server.settings().base_url, model="m"))
        return spoke


async def small(folder: Path) -> list[str]:
    with running() as real:
        spoke, counts = await talked(
            folder, LLMSettings(base_url=f"{real.address}/v1", model="m", api_key=KEY)
        )
    told = [count for count in counts if count.cached is not None]
    assert len(told) >= MOST
    kept = sum(count.cached or 0 for count in told) / sum(count.prompt for count in told)
    print(f"\n{kept:.3f} of the tokens of {len(told)} prompts were ready at the server")
    assert kept >= 0.6
    return spoke


async def test_small_and_slow_models_speak_in_most_turns(tmp_path: Path) -> None:
    slow = (streamed(tmp_path / str(speed), speed) for speed in (3, 10, 40))
    spoke = await asyncio.gather(small(tmp_path / "small"), *slow)
    assert [len(each) for each in spoke] == [20] * 4
    assert min(each.count("llm") for each in spoke) >= MOST, spoke
