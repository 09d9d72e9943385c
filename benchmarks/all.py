"""Every promise of noodlings about speed, room and quality in one table, measured in one go.

Each benchmark is a process of its own, one after the other, beside its yardsticks; evaluations run where
their data is at hand (`--data`, or NOODLINGS_TEST_DATA), and are named where it is not. Ends with 1 where a
limit is missed.

    python benchmarks/all.py [--data DIR]    everything, for a quiet machine: a quarter of an hour
    python benchmarks/all.py --ratios        what is promised as a ratio to a yardstick, in a minute
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from measured import Measured, table
from rich.console import Console

HERE = Path(__file__).parent
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}


def ran(*command: str) -> Any:
    """What a command prints as JSON, on its last line. Raises CalledProcessError where there is none.

    A benchmark that missed a limit of its own ends with 1, and has printed what it measured.
    """
    done = subprocess.run(
        [sys.executable, *command], stdout=subprocess.PIPE, env=os.environ | ONE_THREAD, text=True
    )
    if not done.stdout:
        done.check_returncode()
    return json.loads(done.stdout.splitlines()[-1])


def benchmark(name: str, *options: str) -> Any:
    """One of benchmarks/."""
    return ran(str(HERE / f"{name}.py"), "--json", *options)


def promised(name: str, *options: str) -> Iterator[Measured]:
    """Of one of benchmarks/ that prints `Measured`, the rows that must hold."""
    return (one for row in benchmark(name, *options) if (one := Measured(**row)).holds is not None)


def evaluation(name: str, *options: str) -> Any:
    """`noodlings eval`."""
    return ran("-m", "noodlings", "eval", name, *options, "--json")


LONGER = {"recall by feeling": ("list", 10.0), "add, kept on disk": ("sqlite3", 0.2)}
"""What is done → how many times as long its yardstick takes, at least."""


def memory(ratios: bool) -> Iterator[Measured]:
    """Memory, its contexts, an entry on disk, and the whole way of an event."""
    for one in promised("memory", *(["--quick"] if ratios else [])):
        if not ratios:
            yield one
        elif one.what in LONGER:
            name, least = LONGER[one.what]
            yield replace(one, must=f"{name} ≥ {least:g}×", holds=one.beside[name] >= least * one.value)


def searching(ratios: bool) -> Iterator[Measured]:
    """Vectors and the whole search, among as many entries as is promised."""
    sizes = ("2000",) if ratios else ("2000", "20000", "100000")
    found = benchmark("recall", "--sizes", *sizes)
    for size in map(int, sizes):
        row = found[str(size)]
        exact, vector, whole, user = row["numpy"], row["vector"], row["search"], row["search_user"]
        most = 3.0 if size == 2_000 else 1.0
        most *= 1 + ratios  # beside other programs, a single call finds its memory out of the cache
        yield Measured(
            "nearest vectors", size, "ms", vector["p50"], vector["p95"], {"numpy": exact["p50"]},
            f"≤ {most:g}× numpy", vector["p50"] <= most * exact["p50"],
        )  # fmt: skip
        yield at_least("… of those that are nearest", vector["recall@10"], 0.99, size)
        if size == 20_000:
            yield Measured(
                "whole search", size, "ms", whole["p50"], whole["p95"], {"numpy": exact["p50"]},
                "p50 ≤ 3 ms", whole["p50"] <= 3.0,
            )  # fmt: skip
        if size == 100_000:
            yield Measured(
                "whole search", size, "ms", whole["p50"], whole["p95"], {"numpy": exact["p50"]},
                "p50 ≤ 6, p95 ≤ 40 ms", whole["p50"] <= 6.0 and whole["p95"] <= 40.0,
            )  # fmt: skip
        if size == 100_000:
            loaded = row["load_per_s"]
            yield Measured(
                "entries loaded in a second", size, "/s", loaded, must="≥ 100,000", holds=loaded >= 100_000
            )
        if size > 2_000:
            yield Measured(
                "… of one user", size, "ms", user["p50"], user["p95"], {"whole search": whole["p50"]},
                "no slower", user["p50"] <= whole["p50"],
            )  # fmt: skip


def grown(ratios: bool) -> Iterator[Measured]:
    """A character with a long past, and its room on the disk."""
    if ratios:
        return
    yield from promised("grown")
    rows = {row["name"]: row for row in benchmark("store", "--rounds", "200", "--archive", "1000")}
    size = rows["bytes an entry, all"]["bytes"] / 1e3
    yield Measured("an entry with its trace, on disk", 1_500, "KB", size, must="≤ 2.5 KB", holds=size <= 2.5)


def many(ratios: bool) -> Iterator[Measured]:
    """Thousands of characters in one process."""
    if not ratios:
        yield from promised("many")


def starting(ratios: bool) -> Iterator[Measured]:
    """How long programs take to be there."""
    if not ratios:
        yield from promised("start")


def at_least(what: str, value: float, least: float, entries: int = 0) -> Measured:
    """A quality that must reach a figure."""
    return Measured(what, entries, "", value, must=f"≥ {least:g}", holds=value >= least)


def lived_talk(data: Path) -> Iterator[Measured]:
    """Forty conversations that nobody tuned for, quiet and among real chat."""
    cases, chat = str(data / "talk-dev" / "cases.yaml"), str(data / "noodlemush" / "chat.jsonl")
    for form, options, mind, said in (
        ("quiet", (), 0.8, 0.45),
        ("busy", ("--filler", chat, "--busy", "4"), 0.68, 0.35),
        ("one life", ("--filler", chat, "--busy", "4", "--one"), 0.42, 0.0),
    ):
        found = evaluation("talk", cases, *options)
        yield at_least(f"lived talk, {form}: in mind", found["in_mind"][0], mind)
        if said:
            yield at_least(f"lived talk, {form}: said", found["said"][0], said)
        wrong, asked = found["wrong"]
        yield Measured(
            f"lived talk, {form}: wrong", asked, "", wrong / asked, must="≤ 0.01", holds=wrong <= 0.01 * asked
        )
        if form == "quiet":
            yield at_least("lived talk: importance, AUC", found["importance_auc"], 0.85)


def evidence(data: Path) -> Iterator[Measured]:
    """Long conversations; three of ten, by which it was tuned."""
    files = sorted(map(str, (data / "locomo-dev").glob("conv-*.json")))
    yield at_least("evidence found, recall@10", evaluation("locomo", *files)["overall"]["recall@10"], 0.855)


def mood(data: Path) -> Iterator[Measured]:
    """The right memory first, asked in a mood, over the same search in none; by which it was tuned."""
    found = evaluation("mood", str(data / "mood-recall-dev" / "realistic_recall_v1.json"))
    without = found["search"]["top1"]
    for name, least in (("given", 0.12), ("own", 0.05)):
        gained = found[name]["top1"] - without
        yield at_least(f"recall in a mood, {name} feelings: over none", gained, least)


EVALUATIONS: dict[str, Callable[[Path], Iterator[Measured]]] = {
    "talk-dev": lived_talk,
    "locomo-dev": evidence,
    "mood-recall-dev": mood,
}
"""By the folder that each needs."""
ELSEWHERE = (
    "evidence and mood on what was not shown; valence and arousal of EmoBank by cross-validation "
    "(python tools/affect/fit.py), and of social-media posts"
)


def measure(ratios: bool, data: Path | None) -> Iterator[Measured]:
    """Everything, line by line."""
    for timed in (memory, searching, grown, many, starting):
        yield from timed(ratios)
    for folder, evaluate in () if ratios else EVALUATIONS.items():
        if data is not None and (data / folder).is_dir():
            yield from evaluate(data)


def main() -> int:
    """Measure, print, and tell by the exit code whether everything holds."""
    given = os.environ.get("NOODLINGS_TEST_DATA")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ratios", action="store_true", help="what is promised as a ratio, and nothing else")
    parser.add_argument("--data", type=Path, default=given, help="where the data of the evaluations is")
    arguments = parser.parse_args()
    rows = list(measure(arguments.ratios, arguments.data))
    console = Console()
    console.print(table("what is promised", rows))
    if not arguments.ratios:
        here = [name for name in EVALUATIONS if arguments.data and (arguments.data / name).is_dir()]
        missing = [name for name in EVALUATIONS if name not in here]
        console.print(f"Not measured here: {'; '.join([*missing, ELSEWHERE])}.")
    missed = [one.what for one in rows if one.holds is False]
    if missed:
        console.print(f"[red]{len(missed)} of {len(rows)} do not hold:[/] {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
