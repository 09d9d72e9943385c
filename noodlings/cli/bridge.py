"""`noodlings bridge …`: for programs that keep a list of what was said."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noodlings.cli.options import command_group

bridge_app = command_group("Give a memory to a program that keeps what was said in a list.")


@bridge_app.callback()
def _group() -> None:
    """With one subcommand alone, typer would leave out its name."""


@bridge_app.command()
def vendor(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder your program imports from.")],
    name: Annotated[str, typer.Option("--as", metavar="NAME", help="The name to import it by.")],
) -> None:
    """Copy the bridge and the memory into one folder that is imported under another name.

    This is for a program whose own package is called noodlings. The copy needs numpy


    noodlings bridge vendor lib --as noodlings_memory
    """
    from noodlings import __version__
    from noodlings.bridge.vendor import vendor as write

    made = write(folder, name)
    done = "replaced" if made.replaced else "wrote"
    typer.echo(
        f"{done} {made.folder} ({made.files} files of noodlings {__version__});"
        f" in your program: from {name} import MemoryListWrapper"
    )
