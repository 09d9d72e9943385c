"""`noodlings simulate` and `noodlings scene`: experiments with characters, away from any world.

The first runs a scenario with many seeds and writes a table of all turns. The second plays a moment from a
file and shows what each transistor makes of the thought in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noodlings.cli.options import AsJson, Config, Data, Embedding, print_json, report, settings_of
from noodlings.errors import UserError

if TYPE_CHECKING:
    from noodlings.config import Settings
    from noodlings.lab.scene import Played
    from noodlings.lab.sweep import Write

MOST_SEEDS, LARGEST_SEED = 1_000_000, 1_000_000_000


def scene(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A YAML file; see docs/transistors.md.")],
    gain: Annotated[
        list[str] | None,
        typer.Option(
            "--gain",
            metavar="NAME=VALUE",
            help="Set a transistor's gain, 0 to 1, such as memory=0.5; may be repeated.",
        ),
    ] = None,
    as_json: AsJson = False,
    data: Data = None,
    config: Config = None,
) -> None:
    """Show what each transistor makes of a thought, in scenes from a file.

    A scene holds a persona, memories, symbols, mood and a percept. Nothing of it is stored.
    """
    import asyncio
    import sys

    from noodlings.drawing.screen import Screen
    from noodlings.lab.scene import view

    gains = dict(map(_gain, gain or ()))
    played = asyncio.run(_play(settings_of(data, config), file, gains))
    if as_json:
        whole = [one.as_dict() for one in played]
        print_json(whole[0] if len(whole) == 1 else {"scenes": whole})
        return
    screen = Screen(terminal=sys.stdout.isatty())
    for one in played:
        screen.show(view(one))


async def _play(settings: Settings, file: Path, gains: dict[str, float]) -> list[Played]:
    from noodlings.app import recipes, voice_of
    from noodlings.lab.scene import play
    from noodlings.lab.scene_file import load_scenes
    from noodlings.transistors.chain import FOLDER_NAME

    folder = settings.data_dir
    scenes, personas = load_scenes(file), recipes(folder)
    async with voice_of(settings) as voice:
        return [await play(one, personas, folder / FOLDER_NAME, voice, gains) for one in scenes]


def _gain(text: str) -> tuple[str, float]:
    """One --gain. Raises `UserError`."""
    name, equals, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not (name.strip() and equals and 0.0 <= number <= 1.0):
        raise UserError(
            f"a gain is written NAME=VALUE, with a value from 0 to 1, such as memory=0.5, not {text!r:.60}"
        )
    return name.strip().lower(), number


def simulate(
    scenario: Annotated[
        Path, typer.Argument(metavar="SCENARIO", help="A YAML file; see docs/simulation.md.")
    ],
    ticks: Annotated[int, typer.Option("--ticks", min=1, metavar="N", help="How long.")] = 100,
    seeds: Annotated[
        str, typer.Option("--seeds", metavar="N|A-B", help="How many seeds (20), or a range (1-20).")
    ] = "1",
    jobs: Annotated[int, typer.Option("--jobs", min=1, metavar="N", help="Processes.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write every turn to this .csv or .parquet file."),
    ] = None,
    ablate: Annotated[
        str,
        typer.Option(
            "--ablate",
            metavar="PART,…",
            help="Leave out streams, transistors, mood or feeling; metric=NAME changes the measure.",
        ),
    ] = "",
    embedder: Embedding = "none",
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Let a society live through a scenario, without a server and without waiting.

    The same scenario, ticks, seeds and ablation give the same table, in any number of processes.
    """
    from noodlings.drawing.progress import progress_over
    from noodlings.lab.scenario import load_scenario
    from noodlings.lab.simulation import Ablation
    from noodlings.lab.sweep import sweep, written_table

    numbers, ablation = _seeds(seeds), Ablation.of(ablate.split(","))
    turns = replies = 0
    runs = sweep(
        load_scenario(scenario),
        ticks,
        numbers,
        without=ablation.without,
        metric=ablation.metric,
        embedding=embedder,
        jobs=jobs,
        config=config,
    )
    table: AbstractContextManager[Write] = written_table(out) if out else nullcontext(lambda rows: None)
    with table as write, progress_over(len(numbers), "simulating") as done:
        for finished, rows in enumerate(runs, 1):
            write(rows)
            turns += len(rows)
            replies += sum(bool(row["response"]) for row in rows)
            done(finished)
    figures = {"seeds": len(numbers), "ticks": ticks, "ablated": str(ablation)}
    where = f" in {out}" if out else "; --out FILE.csv writes down each"
    words = f"{turns:,} turns, {replies:,} replies{where}"
    report(words, {**figures, "turns": turns, "replies": replies}, as_json)


def _seeds(given: str) -> Sequence[int]:
    first, dash, last = given.partition("-")
    try:
        numbers = range(int(first), int(last) + 1) if dash else range(1, int(first) + 1)
    except ValueError:
        numbers = range(0)
    if not numbers:
        raise UserError(f"--seeds needs a number (20) or a range (1-20), not {given!r:.30}")
    if numbers.stop > LARGEST_SEED or len(numbers) > MOST_SEEDS:
        raise UserError(
            f"--seeds takes at most {MOST_SEEDS:,} seeds, each below {LARGEST_SEED:,}, not {given!r:.30}"
        )
    return numbers
