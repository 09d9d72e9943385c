"""The options that every subcommand takes, so that they are spelled and explained once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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


def settings_of(data: Path | None, config: Path | None) -> Settings:
    """The settings, with the data folder of `--data` where it was given. Raises `UserError`."""
    from noodlings.config import load_settings

    return load_settings(config, store={"path": str(data)}) if data else load_settings(config)
