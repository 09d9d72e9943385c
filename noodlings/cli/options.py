"""What several subcommands share: their options, and how they answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from noodlings.config import Settings

Data = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="DIR", envvar="NOODLINGS_DATA", help="The folder where everything is kept."
    ),
]
Config = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="The settings file to read.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one line of JSON and nothing else.")]


Embedding = Annotated[
    Literal["minilm", "none"],
    typer.Option("--embedder", help="Search by sentence vectors (minilm) or by words alone (none)."),
]
"""Which vectors an experiment searches by. It fails where they cannot be had; it never falls back."""


def command_group(help_text: str) -> typer.Typer:
    return typer.Typer(help=help_text, no_args_is_help=True, add_completion=False)


def settings_of(data: Path | None, config: Path | None) -> Settings:
    """The settings, with the data folder of `--data` where it was given. Raises `UserError`."""
    from noodlings.config import load_settings

    return load_settings(config, store={"path": str(data)}) if data else load_settings(config)


def print_json(data: Any, err: bool = False) -> None:
    from json import dumps

    typer.echo(dumps(data, ensure_ascii=False, allow_nan=False), err=err)


def report(words: str, data: dict[str, Any], as_json: bool, err: bool = False) -> None:
    """What a command did, in words or as one line of JSON."""
    if as_json:
        print_json(data, err)
    else:
        typer.echo(words, err=err)
