"""What it costs to feel something about a sentence, beside the bare sentence vector.

The ways take turns, one sentence each a round, so that whatever else the machine does falls on all of them. A
ratio is the median beside that of the bare embedding. At most 10 ms a sentence is what the event path allows;
that is held against the time of the processor, which a busy machine stretches least.

Run it with one thread, as noodlings does: OPENBLAS_NUM_THREADS=1 python benchmarks/affect.py [--json]
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from noodlings.affect.appraisal import Appraiser
from noodlings.embed.minilm import MiniLM
from noodlings.ports import Understood

SENTENCES = Path(__file__).parents[1] / "tests" / "affect" / "sentences.csv"
ROUNDS = 5
LIMIT = 10.0
"""Milliseconds of the processor a sentence, in the median."""


def ways(embedder: MiniLM, appraiser: Appraiser, vectors: dict[str, Any]) -> dict[str, Callable[[str], Any]]:
    """What is timed, by its name."""
    return {
        "embedding": lambda text: embedder.embed([text]),
        "appraisal by words": appraiser.appraise,
        "appraisal, vector at hand": lambda text: appraiser.appraise(
            text, understood=Understood(vectors[text])
        ),
        "embedding and appraisal": lambda text: appraised(embedder, appraiser, text),
    }


def appraised(embedder: MiniLM, appraiser: Appraiser, text: str) -> Any:
    """What is felt about a text, in one pass of the model."""
    return appraiser.appraise(text, understood=embedder.read([text])[0])


def measure() -> dict[str, Any]:
    """Milliseconds to load both parts, milliseconds a sentence for each way, and what a batch changes."""
    with SENTENCES.open(encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    embedder, appraiser = MiniLM(), Appraiser()
    started = perf_counter()
    embedder.embed(["first"])
    loaded = perf_counter()
    appraiser.appraise("first")
    ready = perf_counter()
    together = embedder.embed(texts)
    vectors = dict(zip(texts, together, strict=True))
    timed = ways(embedder, appraiser, vectors)
    taken: dict[str, list[float]] = {name: [] for name in timed}
    worked: dict[str, list[float]] = {name: [] for name in timed}
    for _ in range(ROUNDS):
        for text in texts:
            for name, way in timed.items():
                begin, busy = perf_counter(), process_time()
                way(text)
                worked[name].append(1_000 * (process_time() - busy))
                taken[name].append(1_000 * (perf_counter() - begin))
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    bare = float(np.median(taken["embedding"]))
    return {
        "load": {"embedder": 1_000 * (loaded - started), "appraiser": 1_000 * (ready - loaded)},
        "batch": float(np.abs(together - alone).max()),
        "ways": {
            name: {
                "p50": float(np.median(times)),
                "p95": float(np.percentile(times, 95)),
                "cpu": float(np.median(worked[name])),
                "ratio": float(np.median(times)) / bare,
            }
            for name, times in taken.items()
        },
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one line of JSON instead of a table")
    as_json = parser.parse_args().json
    figures = measure()
    if as_json:
        print(json.dumps(figures))
        return
    print(f"{'a sentence':28}{'p50 ms':>9}{'p95 ms':>9}{'cpu ms':>9}{'beside the embedding':>23}")
    for name, way in figures["ways"].items():
        late = "" if way["cpu"] <= LIMIT else f"  over {LIMIT:g} ms"
        print(f"{name:28}{way['p50']:9.2f}{way['p95']:9.2f}{way['cpu']:9.2f}{way['ratio']:22.2f}×{late}")
    load = figures["load"]
    print(f"first use: embedder {load['embedder']:.0f} ms, appraiser {load['appraiser']:.0f} ms")
    print(f"a vector in a batch differs from the same alone by at most {figures['batch']:.1e}")


if __name__ == "__main__":
    main()
