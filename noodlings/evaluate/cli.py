"""`noodlings eval …`: figures on data from outside, as a table or as one line of JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

eval_app = typer.Typer(
    help="Measure how good the parts are, on data of your own.", no_args_is_help=True, add_completion=False
)

File = Annotated[Path, typer.Argument(metavar="FILE", help="The data; see the help of each evaluation.")]
AsJson = Annotated[bool, typer.Option("--json", help="One line of JSON instead of a table.")]


@eval_app.command()
def importance(file: File, as_json: AsJson = False) -> None:
    """How importance spreads over recorded talk, and how much of it becomes episodic.

    FILE is a transcript, one JSON object a line with user and text (see noodlings replay).
    """
    import asyncio

    from noodlings.app import build
    from noodlings.clock import ManualClock
    from noodlings.config import load_settings
    from noodlings.evaluate.importance import evaluate, view
    from noodlings.progress import progress_over
    from noodlings.store.memory import MemoryStore
    from noodlings.transcript import count_lines

    clock = ManualClock()
    society = build(load_settings(), clock=clock, store=MemoryStore())
    with progress_over(count_lines(file), "appraising") as done:
        figures = asyncio.run(evaluate(society, clock, file, done))
    _print(figures, view, as_json)


def _print(figures: dict[str, Any], view: Callable[[dict[str, Any]], Any], as_json: bool) -> None:
    if as_json:
        from json import dumps

        typer.echo(dumps(figures, ensure_ascii=False, allow_nan=False))
        return
    from noodlings.worlds.screen import Screen

    Screen(terminal=sys.stdout.isatty()).show(view(figures))
