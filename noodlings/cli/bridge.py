"""`noodlings bridge …`: for programs that keep a list of what was said."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

bridge_app = typer.Typer(
    help="A memory for programs that keep a list of what was said.",
    no_args_is_help=True,
    add_completion=False,
)


@bridge_app.callback()
def _group() -> None:
    """With one subcommand alone, typer would leave out its name."""


@bridge_app.command()
def vendor(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="The folder that your program imports from."),
    ],
    name: Annotated[str, typer.Option("--as", metavar="NAME", help="What it is imported as.")],
) -> None:
    """Write the bridge and the memory as one folder, to be imported under another name.

    For a program whose own package is called noodlings. The copy needs numpy
    and nothing else. An earlier copy is replaced as a whole.

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
