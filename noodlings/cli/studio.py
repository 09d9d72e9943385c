"""`noodlings studio`: the terminal application that looks into agents, put before a source."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from noodlings.cli.options import Config, Data
from noodlings.errors import UserError


def studio(
    agent: Annotated[str, typer.Option("--agent", metavar="ID", help="The character to look at first.")] = "",
    url: Annotated[
        str,
        typer.Option(
            "--url",
            metavar="URL",
            help="The address of a running noodlings serve, such as http://127.0.0.1:8765.",
        ),
    ] = "",
    token: Annotated[
        str,
        typer.Option(
            "--token",
            envvar="NOODLINGS_TOKEN",
            help="The API token for --url; safer in the environment variable.",
        ),
    ] = "",
    user: Annotated[
        str,
        typer.Option(
            "--as", metavar="USER", help="With --url: look and speak as this user, such as user_caity."
        ),
    ] = "",
    data: Data = None,
    config: Config = None,
) -> None:
    """Look into the characters while they live: memories, feelings, what made them say what they said.

    With --url it shows a running server, where you can also speak, pin, set importance and forget, as far as
    the token allows. Otherwise it reads the folder of --data, also while somebody plays.
    """
    from noodlings.host import studio as sources

    if not (sys.stdin.isatty() and sys.stderr.isatty()):  # textual draws on stderr
        raise UserError(
            "The studio needs a terminal for its keys and its screen. "
            "In a browser, open the address of noodlings serve."
        )
    given_folder = {"store": {"path": str(data)}} if data else {}
    source = (
        sources.remote_source(url, token, user) if url else sources.process_source(config, **given_folder)
    )
    from studio.app import Studio  # a folder is opened meanwhile

    source.connect()
    Studio(source, agent).run()
