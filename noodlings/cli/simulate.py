"""`noodlings simulate …`: a scenario lived through with many seeds, as a table of all turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noodlings.cli.options import AsJson, Config
from noodlings.errors import UserError

if TYPE_CHECKING:
    from noodlings.lab.table import Write


class Embedder(StrEnum):
    """By what agents know what a text means."""

    NONE = "none"
    MINILM = "minilm"


def simulate(
    scenario: Annotated[
        Path, typer.Argument(metavar="SCENARIO", help="A YAML file; see docs/simulation.md.")
    ],
    ticks: Annotated[int, typer.Option("--ticks", min=1, metavar="N", help="How long.")] = 100,
    seeds: Annotated[
        str, typer.Option("--seeds", metavar="N|A-B", help="How many, from 1; or from A to B.")
    ] = "1",
    jobs: Annotated[int, typer.Option("--jobs", min=1, metavar="N", help="Processes.")] = 1,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Every turn as .csv or .parquet.")
    ] = None,
    ablate: Annotated[
        str,
        typer.Option(
            "--ablate",
            metavar="PART,…",
            help="Leave out streams, transistors, mood, feeling; metric=NAME is another likeness.",
        ),
    ] = "",
    embedder: Annotated[
        Embedder, typer.Option("--embedder", help="Words alone, or sentence vectors.")
    ] = Embedder.NONE,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Let a society live through a scenario, without a server and without waiting.

    The same scenario, ticks, seeds and ablation give the same table, in any number of processes.
    """
    from json import dumps

    from noodlings.drawing.progress import progress_over
    from noodlings.lab.ablation import Ablation
    from noodlings.lab.scenario import load_scenario
    from noodlings.lab.sweep import sweep

    numbers, ablation = _seeds(seeds), Ablation.of(ablate.split(","))
    turns = replies = 0
    runs = sweep(
        load_scenario(scenario),
        ticks,
        numbers,
        without=ablation.without,
        metric=ablation.metric,
        embedding=embedder.value,
        jobs=jobs,
        config=config,
    )
    with _table(out) as write, progress_over(len(numbers), "simulating") as done:
        for finished, rows in enumerate(runs, 1):
            write(rows)
            turns += len(rows)
            replies += sum(bool(row["response"]) for row in rows)
            done(finished)
    if as_json:
        figures = {"seeds": len(numbers), "ticks": ticks, "ablated": str(ablation)}
        typer.echo(dumps({**figures, "turns": turns, "replies": replies}))
    else:
        typer.echo(f"{turns:,} turns, {replies:,} replies{f' in {out}' if out else ''}")


@contextmanager
def _table(path: Path | None) -> Iterator[Write]:
    if path is None:
        yield lambda rows: None
        return
    from noodlings.lab.table import written_table

    with written_table(path) as write:
        yield write


def _seeds(given: str) -> Sequence[int]:
    first, dash, last = given.partition("-")
    try:
        numbers = range(int(first), int(last) + 1) if dash else range(1, int(first) + 1)
    except ValueError:
        numbers = range(0)
    if not numbers:
        raise UserError(f"--seeds takes how many (20) or from which to which (1-20), not {given!r:.30}")
    return numbers
