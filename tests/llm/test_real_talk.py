"""Twenty turns with models as a player has them: a small one, and streams of 3, 10 and 40 tokens a second.

What the small one is asked for is words that pass, for which it has time: how fast it is, is the machine's.
What a deadline is asked for is the streams', whose pace is set here.

`pytest -n0 -s tests/llm/test_real_talk.py` prints how much of the prompts the server had read before.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import LLMSettings, Settings
from noodlings.llm.guard import REASONS
from noodlings.values.percept import Percept
from noodlings.values.sent_prompt import TokenCounts
from noodlings.values.trace import Trace
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
LEAST = 8
"""Of twenty turns, so many even a model of 135 million parameters speaks in. In three to six it was seen to
say somebody else's line, or its instructions; which ones they are changes with each word and processor."""
BY_WORDS = (*(reason.words for reason in REASONS), "its answer has no words in it")
"""How the reason ends why the model did not speak, if it answered at all."""
DEADLINES = ("timeout_seconds", "first_token_seconds", "stall_seconds", "answer_seconds")
UNHURRIED = dict.fromkeys(DEADLINES, 500.0)
SPOKEN = "There is a boat there. Nobody sits in it."


async def talked(folder: Path, llm: LLMSettings) -> tuple[list[Trace], list[TokenCounts]]:
    """Twenty turns, and what replies cost."""
    clock = ManualClock()
    settings = Settings(llm=llm, store={"path": str(folder)}, embedding={"model": "none"})  # type: ignore[arg-type]
    society = build(settings, clock=clock)
    turns = []
    for line in LINES:
        clock.advance(40.0)
        percept = Percept("user_caity", line, clock.now(), addressed=True, present=PRESENT, place="workshop")
        turns.append(await society.perceive("phi", percept))
    await society.rest(5.0)
    sent = [
        one for prompts in society.agents["phi"].prompts.values() for one in prompts if one.task == "reply"
    ]
    society.close()
    return turns, [one.tokens for one in sent if one.tokens is not None]


def unspoken(turns: list[Trace]) -> list[tuple[str, ...]]:
    """Why the model did not speak, of each turn in which it did not."""
    assert len(turns) == len(LINES)
    return [turn.degraded for turn in turns if turn.voice != "llm"]


async def streamed(folder: Path, tokens_a_second: int) -> list[Trace]:
    """With settings as they are shipped."""
    async with serving(flowing(SPOKEN, 1.0 / tokens_a_second)) as server:
        turns, _ = await talked(folder, LLMSettings(base_url=server.settings().base_url, model="m"))
        return turns


async def small(folder: Path) -> list[Trace]:
    with running() as real:
        llm = LLMSettings(base_url=f"{real.address}/v1", model="m", api_key=KEY, **UNHURRIED)
        turns, counts = await talked(folder, llm)
    told = [count for count in counts if count.cached is not None]  # a stream that was cut off does not say
    assert len(told) >= LEAST
    kept = sum(count.cached or 0 for count in told) / sum(count.prompt for count in told)
    print(f"\n{kept:.3f} of the tokens of {len(told)} prompts were ready at the server")
    assert kept >= 0.6
    return turns


@pytest.mark.timeout(580)  # the small one takes as long as the machine is busy
async def test_slow_models_speak_in_all_turns_and_a_small_one_fails_by_words_alone(tmp_path: Path) -> None:
    slow = (streamed(tmp_path / str(speed), speed) for speed in (3, 10, 40))
    of_the_small, *of_the_slow = map(unspoken, await asyncio.gather(small(tmp_path / "small"), *slow))
    assert of_the_slow == [[], [], []]
    assert len(of_the_small) <= len(LINES) - LEAST, of_the_small
    assert all(why.endswith(BY_WORDS) for reasons in of_the_small for why in reasons), of_the_small
