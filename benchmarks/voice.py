"""How long the offline voice takes for a reply, with a full context in mind, and the five transistors for a
thought: `python benchmarks/voice.py`.

Processor time, because machines are shared. `--json` prints one line.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Awaitable, Callable

from rich.console import Console
from rich.table import Table

from noodlings.agent.recipes import BUILT_IN, find_recipes
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.ports import Allowance, OwnLine, Utterance
from noodlings.transistors.chain import _THE_FIVE
from noodlings.values.affect import NEUTRAL
from noodlings.values.audience import OPEN
from noodlings.values.memory import Recalled
from noodlings.values.percept import Percept
from noodlings.values.persona import Persona
from noodlings.voice.offline import OfflineVoice
from tests.transistors.states import CURIOUS, SAD, make_state, remembered, symbol

LINES = (
    "hello",
    "my dog would have liked this",
    "what did I say about my boat?",
    "nice weather",
    "you idiot",
)


def measure(rounds: int) -> dict[str, dict[str, float]]:
    """Milliseconds at the median and the 95th percentile: of replies, and of the transistors."""
    memory = HierarchicalMemory()
    for number, text in enumerate(
        ("my dog died", "I sold the boat", *(f"I saw {n} birds" for n in range(12)))
    ):
        memory.add(float(number), number, "user_caity", text, [-0.8, 0.6, 0.1, 0.9, 0.0], surprise=0.5)
    recalled = tuple(memory.context("user_caity", NEUTRAL))
    replies = {
        name: _timed(_replies(persona, recalled), rounds)
        for name, persona in find_recipes([BUILT_IN]).personas.items()
    }
    return {**replies, "the five transistors": _timed(_coloured(), rounds)}


def _replies(persona: Persona, recalled: tuple[Recalled, ...]) -> Callable[[int], Awaitable[None]]:
    voice, said = OfflineVoice(), list[OwnLine]()

    async def reply(turn: int) -> None:
        percept = Percept("user_caity", LINES[turn % len(LINES)], 1_000.0 + turn, addressed=True)
        utterance = Utterance(
            persona, percept, "Caity", NEUTRAL, recalled, {}, own_lines=tuple(said[-40:]), seed=turn
        )
        said.append(OwnLine((await voice.speak(utterance, Allowance())).text, OPEN))

    return reply


def _coloured() -> Callable[[int], Awaitable[None]]:
    """One thought through all five, with two hundred memories that felt alike."""
    memory = HierarchicalMemory(surprise_threshold=0.0)
    for number in range(200):
        remembered(memory, f"a kitten needs whiskers {number}", SAD, identity_salience=0.8, surprise=0.9)
    state = make_state(affect=SAD, memory=memory, symbols=[symbol()], goals=(CURIOUS,))
    transistors = [make() for make in _THE_FIVE.values()]

    async def colour(turn: int) -> None:
        thought = f"thought {turn}, to be coloured."
        for transistor in transistors:
            thought = await transistor.modulate(thought, state)

    return colour


def _timed(step: Callable[[int], Awaitable[None]], rounds: int) -> dict[str, float]:
    async def run() -> list[float]:
        times = []
        for turn in range(rounds):
            began = time.process_time()
            await step(turn)
            times.append((time.process_time() - began) * 1e3)
        return times

    times = sorted(asyncio.run(run()))
    return {"p50": round(times[rounds // 2], 3), "p95": round(times[int(rounds * 0.95)], 3)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure(arguments.rounds)
    if arguments.json:
        print(json.dumps(figures))
        return
    table = Table(
        "character",
        "p50 ms",
        "p95 ms",
        title="processor time of the voice",
    )
    for name, row in figures.items():
        table.add_row(name, str(row["p50"]), str(row["p95"]))
    Console().print(table)


if __name__ == "__main__":
    main()
