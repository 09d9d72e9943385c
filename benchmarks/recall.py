"""How long recall takes: adding, loading, searching with and without filters; and the vectors beside others.

Made-up entries: words drawn by Zipf's law (so that some stand almost everywhere), talks of twenty lines among
twenty people, one line in fifty whispered, vectors in clusters. A search has words, a vector, a named
speaker, a date, "when" and a mood. Times are those of the processor.

Run it with one thread, as noodlings does:
OPENBLAS_NUM_THREADS=1 python benchmarks/recall.py [--quick] [--sizes 1000 10000] [--json]
"""

from __future__ import annotations

import argparse
import gc
import json
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from noodlings.agent.archive import PAGE, AgentArchive
from noodlings.embed.queue import EmbeddingQueue
from noodlings.ports import Changes, EntryColumns
from noodlings.recall.archive import SearchIndex
from noodlings.recall.filters import Filters
from noodlings.recall.search import Searcher
from noodlings.store.database import DATABASE_NAME
from noodlings.store.sql import SqlStore
from noodlings.values.affect import Affect
from noodlings.values.audience import Audience
from noodlings.values.memory import EntryVector, ImportanceParts, MemoryEntry
from noodlings.values.percept import Kind

SIZES = (1_000, 2_000, 10_000, 20_000, 100_000)
DIMENSIONS = 384
QUERIES = 100
VOCABULARY = 30_000
TALK = 20
PEOPLE = 20
ADDED = 100
WHISPERED: dict[str, Any] = {"kind": Kind.WHISPER, "audience": Audience(frozenset({"user_person0"}), True)}
QUEUE = EmbeddingQueue(SimpleNamespace(name="made-up", dimensions=DIMENSIONS))

Call = Callable[[int], Any]


def main() -> None:
    """Print the table, or one line of JSON."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    arguments.add_argument("--json", action="store_true")
    arguments.add_argument("--quick", action="store_true", help="up to 20,000 entries")
    given = arguments.parse_args()
    if given.quick:
        given.sizes = [size for size in given.sizes if size <= 20_000]
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
    for first in range(0, size, PAGE):
        some = slice(first, first + PAGE)
        columns = EntryColumns.of(entries[some])
        archive.extend(columns, np.ones(len(columns.ids), np.bool_), vectors[some])
    taken_in = time.perf_counter() - started
    used = resident() - memory
    one_row, whole = vectors[:1], np.ones(1, np.bool_)
    adding = [
        spent(lambda one=one: archive.extend(EntryColumns.of([one]), whole, one_row))
        for one in made_up(random, ADDED, size)
    ]
    archive.remove(range(size, size + ADDED))
    stored, page, plain = loading(entries, vectors)
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
    present = Filters(present=frozenset({"user_person1"}))
    last_tenth = Filters(since=entries[-size // 10].timestamp)
    words, by_user, by_time, before_one = interleaved(
        lambda n: searcher.search(questions[n], mood=mood),
        lambda n: searcher.search(questions[n], one_of(n), mood=mood, query_vector=queries[n]),
        lambda n: searcher.search(questions[n], last_tenth, mood=mood, query_vector=queries[n]),
        lambda n: searcher.search(questions[n], present, mood=mood, query_vector=queries[n]),
    )
    found = [len({*ours(n)} & {*exact(n)}) / 10 for n in range(QUERIES)]
    more = {
        name: {**run(vectors, queries), "over_numpy": None} for name, run in OTHERS.items() if installed(name)
    }
    for other in more.values():
        other["over_numpy"] = round(other["p50"] / numpy["p50"], 1)
    return {
        "add_us": round(1e6 * float(np.median(adding)), 1),
        "take_in_s": round(taken_in, 2),
        "load_s": round(stored, 2),
        "load_per_s": round(size / stored),
        "load_page_ms": round(1e3 * page, 2),
        "load_over_sqlite3": round(stored / plain, 1),
        "memory_mb": round(used / 1e6, 1),
        "vectors_mb": round(vectors.nbytes / 1e6, 1),
        "search": whole,
        "search_present": before_one,
        "search_words": words,
        "search_user": by_user,
        "search_since": by_time,
        "vector": {**vector, "recall@10": round(float(np.mean(found)), 4)},
        "numpy": numpy,
        "vector_over_numpy": round(vector["p50"] / numpy["p50"], 2),
        **more,
    }


def loading(entries: list[MemoryEntry], vectors: Any) -> tuple[float, float, float]:
    """Processor seconds to load an archive from disk, of its median page, and to read the bare rows."""
    with tempfile.TemporaryDirectory() as folder, closing(SqlStore(Path(folder))) as store:
        for first in range(0, len(entries), 1_000):
            some = [replace(entry, id=entry.id + 1) for entry in entries[first : first + 1_000]]
            kept = (EntryVector(one.id, QUEUE.model, vectors[one.id - 1]) for one in some)
            store.commit(Changes("made-up", added=tuple(some), vectors=tuple(kept)))
        archive = AgentArchive("made-up", store, QUEUE, perceived=len(entries))
        pages = []
        while not archive.loaded:
            pages.append(spent(archive.load_some))
        with closing(sqlite3.connect(Path(folder) / DATABASE_NAME)) as plain:
            rows = "SELECT * FROM entries JOIN vectors ON vectors.entry_id = entries.id"
            bare = spent(lambda: plain.execute(rows).fetchall())
    return sum(pages), float(np.median(pages)), bare


def spent(call: Callable[[], Any]) -> float:
    """Processor seconds of one call."""
    started = time.process_time()
    call()
    return time.process_time() - started


def interleaved(*calls: Call) -> list[dict[str, float]]:
    """p50 and p95 of each call, taken in turns so that a busy machine is busy for all of them."""
    times: list[list[float]] = [[] for _ in calls]
    for number in range(QUERIES):
        for call, taken in zip(calls, times, strict=True):
            taken.append(1e3 * spent(partial(call, number)))
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


def made_up(random: np.random.Generator, count: int, first: int = 0) -> Iterator[MemoryEntry]:
    """Entries in the order of time."""
    for number in range(first, first + count):
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
            **(WHISPERED if number % 50 == 7 else {}),
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
        f"{size:>7,} entries: add {figures['add_us']:.0f} µs, load {figures['load_s']:.2f} s"
        f" ({figures['load_per_s']:,} a second, {figures['load_over_sqlite3']} × sqlite3,"
        f" a page {figures['load_page_ms']} ms), memory {figures['memory_mb']:.0f} MB"
        f" (vectors {figures['vectors_mb']:.0f})"
    )
    numpy = figures["numpy"]
    for name in (
        "search",
        "search_words",
        "search_user",
        "search_since",
        "search_present",
        "vector",
        "numpy",
        *OTHERS,
    ):
        if name in figures:
            row = figures[name]
            print(
                f"    {name:<15} p50 {row['p50']:>8.3f} ms   p95 {row['p95']:>8.3f} ms"
                f"   {row['p50'] / numpy['p50']:>6.2f} × numpy"
            )
    print(f"    vector recall@10 of exact {figures['vector']['recall@10']:.4f}", flush=True)


if __name__ == "__main__":
    main()
