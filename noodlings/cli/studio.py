"""`noodlings studio`: the terminal application that looks into agents, put before a source."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from noodlings.cli.options import Config, Data, settings_of
from noodlings.errors import UserError

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
        str, typer.Option("--as", metavar="USER", help="With --url: look and speak as this user, an id.")
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
    from noodlings.host import studio as sources

    if web:
        from studio.web import serve

        if url:
            sources.remote_source(url, token, user).meet()
        else:
            sources.require_readable(settings_of(data, config))
        given = {"--agent": agent, "--url": url, "--as": user, "--data": data, "--config": config}
        words = [str(word) for option in given.items() if option[1] for word in option]
        command = [sys.executable, "-m", "noodlings", "studio", *words]
        raise typer.Exit(serve(command, port, {TOKEN: token} if token else {}))

    _require_terminal()
    given_folder = {"store": {"path": str(data)}} if data else {}
    source = sources.remote_source(url, token, user) if url else sources.apart_source(config, **given_folder)
    from studio.app import Studio  # a folder is opened meanwhile

    source.meet()
    Studio(source, agent).run()


def _require_terminal() -> None:
    """Raise `UserError` where there are no keys, or only a file to draw on: textual draws on stderr."""
    in_browser = "TEXTUAL_DRIVER" in os.environ  # set by what serves the pages
    if not in_browser and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UserError(
            "the studio needs a terminal, for its keys and its screen; --web shows it in a browser"
        )
