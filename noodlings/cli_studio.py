"""`noodlings studio`: the terminal application that looks into agents, put before a source."""

from __future__ import annotations

from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noodlings.errors import NotFound
from noodlings.options import Config, Data, settings_of
from noodlings.values.caller import Caller, Role

if TYPE_CHECKING:
    from noodlings.agent.society import Society
    from noodlings.config import Settings
    from studio.source import Source


def studio(
    agent: Annotated[str, typer.Option("--agent", metavar="ID", help="Whom to look at first.")] = "",
    data: Data = None,
    config: Config = None,
) -> None:
    """Look into the characters while they live: memories, feelings, what made them say what they said.

    With --data the folder is only read, also while somebody plays.
    """
    from studio.app import Studio

    Studio(local_source(settings_of(data, config)), agent).run()


def local_source(settings: Settings) -> Source:
    """A data folder, read-only. Nothing of it is loaded before the first question."""
    from studio.local import LocalSource

    folder = settings.data_dir
    if not (folder / "noodlings.db").is_file():
        raise NotFound(f"nothing is kept in {folder} yet: there is no noodlings.db; play first")

    def open_society() -> AbstractContextManager[Society]:
        from noodlings.app import build

        return closing(build(settings, read_only=True))

    def note_of(agent_id: str, entry_id: int) -> Path | None:
        from noodlings.notes.notebook import FOLDER_NAME, Notebook

        return Notebook(folder / FOLDER_NAME).find(agent_id, entry_id)

    return LocalSource(folder, open_society, Caller("studio", "studio", Role.VIEWER), note_of)
