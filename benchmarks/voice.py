"""How long the offline voice takes for a reply, with a full context in mind: `python benchmarks/voice.py`.

Processor time, because machines are shared. `--json` prints one line.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time

from rich.console import Console
from rich.table import Table

from noodlings.agent.recipes import BUILT_IN, load_recipes
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.ports import Allowance, Utterance
from noodlings.values.affect import NEUTRAL
from noodlings.values.percept import Percept
from noodlings.voice.offline import OfflineVoice

LINES = (
    "hello",
    "my dog would have liked this",
    "what did I say about my boat?",
    "nice weather",
    "you idiot",
)


def measure(rounds: int) -> dict[str, dict[str, float]]:
    """Milliseconds at the median and the 95th percentile, by character."""
    memory = HierarchicalMemory()
    for number, text in enumerate(
        ("my dog died", "I sold the boat", *(f"I saw {n} birds" for n in range(12)))
    ):
        memory.add(float(number), number, "user_caity", text, [-0.8, 0.6, 0.1, 0.9, 0.0], surprise=0.5)
    recalled = tuple(memory.context("user_caity", NEUTRAL))
    return {name: _times(persona, recalled, rounds) for name, persona in load_recipes([BUILT_IN]).items()}


def _times(persona, recalled, rounds):  # type: ignore[no-untyped-def]
    voice, times, said = OfflineVoice(), [], []
    for turn in range(rounds):
        percept = Percept("user_caity", LINES[turn % len(LINES)], 1_000.0 + turn, addressed=True)
        utterance = Utterance(
            persona, percept, "Caity", NEUTRAL, recalled, {}, said=tuple(said[-40:]), seed=turn
        )
        began = time.process_time()
        said.append(asyncio.run(voice.speak(utterance, Allowance())).text)
        times.append((time.process_time() - began) * 1e3)
    times.sort()
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
    table = Table("character", "p50 ms", "p95 ms", title="a reply by the offline voice, processor time")
    for name, row in figures.items():
        table.add_row(name, str(row["p50"]), str(row["p95"]))
    Console().print(table)


if __name__ == "__main__":
    main()
