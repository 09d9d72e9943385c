"""How long recall takes: adding, loading, searching with and without filters; and the vectors beside others.

Made-up entries: words drawn by Zipf's law (so that some stand almost everywhere), talks of twenty lines among
twenty people, vectors in clusters. A search has words, a vector, a named speaker, a date, "when" and a mood.

Run it with one thread, as noodlings does:
OPENBLAS_NUM_THREADS=1 python benchmarks/recall.py [--sizes 1000 10000] [--json]
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from noodlings.recall.archive import SearchIndex
from noodlings.recall.filters import Filters
from noodlings.recall.search import Searcher
from noodlings.values.affect import Affect
from noodlings.values.memory import ImportanceParts, MemoryEntry

SIZES = (1_000, 2_000, 10_000, 20_000, 100_000)
DIMENSIONS = 384
QUERIES = 100
VOCABULARY = 30_000
TALK = 20
PEOPLE = 20

Call = Callable[[int], Any]


def main() -> None:
    """Print the table, or one line of JSON."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    results = {}
    for size in given.sizes:
        results[size] = measure(size)
        if not given.json:
            show(size, results[size])
    if given.json:
        print(json.dumps(results))


def measure(size: int) -> dict[str, Any]:
    """All figures for an archive of `size` entries. Times in ms unless the name says otherwise."""
    random = np.random.default_rng(size)
    vectors = clustered(random, size)
    entries = list(made_up(random, size))
    queries = clustered(random, QUERIES)
    questions = [question(random) for _ in range(QUERIES)]
    gc.collect()
    memory = resident()
    started = time.perf_counter()
    archive = SearchIndex("made-up", DIMENSIONS)
    for entry, vector in zip(entries, vectors, strict=True):
        archive.add(entry, vector)
    load = time.perf_counter() - started
    used = resident() - memory
    searcher = Searcher(archive)
    mood = Affect(0.8, 0.8)

    def ours(number: int) -> list[int]:
        return [row for row, _ in searcher.nearest(queries[number])]

    def exact(number: int) -> list[int]:
        cosines = vectors @ queries[number]
        best = np.argpartition(-cosines, 10)[:10]
        return [int(row) for row in best[np.argsort(-cosines[best])]]

    whole, vector, numpy = interleaved(
        lambda n: searcher.search(questions[n], mood=mood, query_vector=queries[n]), ours, exact
    )
    last_tenth = Filters(since=entries[-size // 10].timestamp)
    words, by_user, by_time = interleaved(
        lambda n: searcher.search(questions[n], mood=mood),
        lambda n: searcher.search(questions[n], one_of(n), mood=mood, query_vector=queries[n]),
        lambda n: searcher.search(questions[n], last_tenth, mood=mood, query_vector=queries[n]),
    )
    found = [len({*ours(n)} & {*exact(n)}) / 10 for n in range(QUERIES)]
    more = {
        name: {**run(vectors, queries), "over_numpy": None} for name, run in OTHERS.items() if installed(name)
    }
    for other in more.values():
        other["over_numpy"] = round(other["p50"] / numpy["p50"], 1)
    return {
        "add_us": round(1e6 * load / size, 1),
        "load_s": round(load, 2),
        "memory_mb": round(used / 1e6, 1),
        "vectors_mb": round(vectors.nbytes / 1e6, 1),
        "search": whole,
        "search_words": words,
        "search_user": by_user,
        "search_since": by_time,
        "vector": {**vector, "recall@10": round(float(np.mean(found)), 4)},
        "numpy": numpy,
        "vector_over_numpy": round(vector["p50"] / numpy["p50"], 2),
        **more,
    }


def interleaved(*calls: Call) -> list[dict[str, float]]:
    """p50 and p95 of each call, taken in turns so that a busy machine is busy for all of them."""
    times: list[list[float]] = [[] for _ in calls]
    for number in range(QUERIES):
        for call, taken in zip(calls, times, strict=True):
            started = time.perf_counter()
            call(number)
            taken.append(1e3 * (time.perf_counter() - started))
    return [percentiles(taken) for taken in times]


def percentiles(times: list[float]) -> dict[str, float]:
    """p50 and p95 of times."""
    return {f"p{p}": round(float(np.percentile(times, p)), 3) for p in (50, 95)}


def clustered(random: np.random.Generator, count: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Unit vectors around 200 fixed centres, shape (count, 384)."""
    centres = np.random.default_rng(0).normal(size=(200, DIMENSIONS))
    rows = centres[random.integers(200, size=count)] + random.normal(size=(count, DIMENSIONS))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float32)


def words(random: np.random.Generator, count: int) -> str:
    """Words by Zipf's law: the commonest stands in most entries."""
    return " ".join(f"word{rank}x" for rank in np.minimum(random.zipf(1.3, count), VOCABULARY))


def made_up(random: np.random.Generator, count: int) -> Iterator[MemoryEntry]:
    """Entries in the order of time."""
    for number in range(count):
        yield MemoryEntry(
            id=number,
            timestamp=1.6e9 + number // TALK * 7_200.0 + number % TALK * 20.0,
            step=number,
            user_id=f"user_person{random.integers(PEOPLE)}",
            user_text=words(random, 12) + (" last week" if number % 5 == 0 else ""),
            affect=Affect(*np.round(random.uniform(0.0, 1.0, 5), 3)),
            surprise=0.0,
            encoded_importance=float(random.uniform()),
            parts=ImportanceParts(),
        )


def question(random: np.random.Generator) -> str:
    """A question with a name, a date and "when"."""
    name = f"person{random.integers(PEOPLE)}"
    return f"When did {name} tell of {words(random, 5)} in March 2021?"


def one_of(number: int) -> Filters:
    """What one of the people told, a twentieth of everything."""
    return Filters(user=f"user_person{number % PEOPLE}")


def resident() -> int:
    """Bytes of memory this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1]) if Path("/proc/self/statm").exists() else 0
    return pages * 4_096


def installed(name: str) -> bool:
    """Whether another library is there to be measured beside ours."""
    try:
        __import__(name)
    except ImportError:
        print(f"{name} is not installed: left out", file=sys.stderr)
        return False
    return True


def chromadb(vectors: Any, queries: Any) -> dict[str, float]:
    """An in-memory collection, filled in batches of 1,000."""
    import chromadb

    collection = chromadb.EphemeralClient().create_collection(
        f"recall{len(vectors)}", metadata={"hnsw:space": "cosine"}
    )
    started = time.perf_counter()
    for first in range(0, len(vectors), 1_000):
        rows = range(first, min(first + 1_000, len(vectors)))
        collection.add(ids=[str(row) for row in rows], embeddings=vectors[rows.start : rows.stop])
    load = time.perf_counter() - started
    [times] = interleaved(lambda n: collection.query(query_embeddings=[queries[n]], n_results=10))
    return {"load_s": round(load, 2), **times}


def lancedb(vectors: Any, queries: Any) -> dict[str, float]:
    """A table on disk without an index, written at once."""
    import lancedb

    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        data = [{"id": row, "vector": vector} for row, vector in enumerate(vectors)]
        table = lancedb.connect(folder).create_table("recall", data)
        load = time.perf_counter() - started
        [times] = interleaved(lambda n: table.search(queries[n]).limit(10).to_list())
    return {"load_s": round(load, 2), **times}


OTHERS = {"chromadb": chromadb, "lancedb": lancedb}


def show(size: int, figures: dict[str, Any]) -> None:
    """One size, for people."""
    print(
        f"{size:>7,} entries: add {figures['add_us']:.0f} µs, load {figures['load_s']:.2f} s,"
        f" memory {figures['memory_mb']:.0f} MB (vectors {figures['vectors_mb']:.0f})"
    )
    numpy = figures["numpy"]
    for name in ("search", "search_words", "search_user", "search_since", "vector", "numpy", *OTHERS):
        if name in figures:
            row = figures[name]
            print(
                f"    {name:<13} p50 {row['p50']:>8.3f} ms   p95 {row['p95']:>8.3f} ms"
                f"   {row['p50'] / numpy['p50']:>6.2f} × numpy"
            )
    print(f"    vector recall@10 of exact {figures['vector']['recall@10']:.4f}", flush=True)


if __name__ == "__main__":
    main()
