"""`noodlings studio`: the terminal application that looks into agents, put before a source."""

from __future__ import annotations

import sys
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

TOKEN = "NOODLINGS_TOKEN"  # noqa: S105 — the name of a variable
"""Where a token is looked for."""


def studio(
    agent: Annotated[str, typer.Option("--agent", metavar="ID", help="Whom to look at first.")] = "",
    url: Annotated[
        str, typer.Option("--url", metavar="URL", help="A running noodlings serve: http://127.0.0.1:8765.")
    ] = "",
    token: Annotated[
        str, typer.Option("--token", envvar=TOKEN, help="What the server wants to see; best as a variable.")
    ] = "",
    user: Annotated[
        str, typer.Option("--as", metavar="USER", help="With --url: on behalf of this user, an id.")
    ] = "",
    web: Annotated[bool, typer.Option("--web", help="In the browser, on this machine alone.")] = False,
    port: Annotated[int, typer.Option(min=1, max=65_535, help="With --web: where to listen.")] = 8766,
    data: Data = None,
    config: Config = None,
) -> None:
    """Look into the characters while they live: memories, feelings, what made them say what they said.

    With --url at a running server, where one may also speak, pin, weigh and forget, as far as the token
    allows. Else at the folder of --data, which is only read, also while somebody plays.
    """
    source = remote_source(url, token, user) if url else local_source(settings_of(data, config))
    if web:
        from studio.web import serve

        given = {"--agent": agent, "--url": url, "--as": user, "--data": data, "--config": config}
        words = [str(word) for option in given.items() if option[1] for word in option]
        command = [sys.executable, "-m", "noodlings", "studio", *words]
        raise typer.Exit(serve(command, port, {TOKEN: token} if token else {}))

    from studio.app import Studio

    Studio(source, agent).run()


def remote_source(url: str, token: str, user: str) -> Source:
    """A server; nobody is asked anything yet. Raises `UserError` for what is no address."""
    from studio.remote import RemoteSource

    return RemoteSource(url, token, user)


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
