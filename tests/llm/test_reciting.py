"""What is in mind reaches a model: one that tells what stands in its prompt says nearly all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.lab.evaluate.talk import Conversations, figures, read_cases
from noodlings.store.memory import MemoryStore
from tests.llm.reciting import recite
from tests.llm.server import serving
from tests.thorough import THOROUGH

CASES = Path(__file__).parents[2] / "benchmarks" / "talk" / "cases.yaml"
SOME = 12 if THOROUGH else 8


@pytest.mark.slow
async def test_a_model_that_tells_its_prompt_says_what_is_in_mind() -> None:
    clock = ManualClock()
    async with serving(recite) as server:
        settings = Settings(llm=server.settings(), embedding={"model": "none"})  # type: ignore[arg-type]
        society = build(settings, clock=clock, store=MemoryStore())
        cases = read_cases(CASES)[:: len(read_cases(CASES)) // SOME]
        exchanges = await Conversations(society, clock).run(cases, False, lambda: None)
        await society.rest(5.0)
        society.close()
    found = figures(exchanges)
    in_mind, asked = found["in_mind"]
    assert asked >= SOME
    assert found["said"][0] >= in_mind - 0.05
    assert in_mind > 0.5
