"""`noodlings account …`: who may come in over the MUSH port, with which rights. Also while a server runs."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from noodlings.cli.options import Config, Data, settings_of
from noodlings.errors import UserError

if TYPE_CHECKING:
    from noodlings.worlds.accounts import Accounts

account_app = typer.Typer(
    help="Who may come into the world by telnet or WebSocket.", no_args_is_help=True, add_completion=False
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="One word, as one connects with it.")]


class Rights(StrEnum):
    """What an account may do."""

    PLAYER = "player"
    VIEWER = "viewer"
    ADMIN = "admin"


@account_app.command()
def add(
    name: Name,
    role: Annotated[
        Rights, typer.Option("--role", help="player, viewer (reads all memories), admin (may do everything).")
    ] = Rights.PLAYER,
    data: Data = None,
    config: Config = None,
) -> None:
    """Make an account; its password is asked for, or read from standard input."""
    from noodlings.values.caller import Role

    made = _accounts(data, config).create(name, _password(), Role(role.value))
    typer.echo(f"{made.name} may come in, as {made.role}")


@account_app.command()
def role(
    name: Name,
    rights: Annotated[Rights, typer.Argument(metavar="ROLE", help="player, viewer or admin.")],
    data: Data = None,
    config: Config = None,
) -> None:
    """Give an account other rights, from the next time it connects."""
    from noodlings.values.caller import Role

    changed = _accounts(data, config).change(name, role=Role(rights.value))
    typer.echo(f"{changed.name} is {changed.role} from the next time it connects")


@account_app.command()
def password(name: Name, data: Data = None, config: Config = None) -> None:
    """Give an account another password; it is asked for, or read from standard input."""
    accounts = _accounts(data, config)
    accounts.find(name)
    typer.echo(f"{accounts.change(name, password=_password()).name} has another password")


@account_app.command()
def join(
    name: Name,
    user: Annotated[str, typer.Argument(metavar="USER", help="The id a world or a token says: user_caity.")],
    data: Data = None,
    config: Config = None,
) -> None:
    """Say that an account and a user of a world, or of api.tokens, are one person: they share what they told.

    It counts from the next time it connects. What characters know of it as an account they keep for that
    account; with the id that `list` showed before the two are parted again.
    """
    from noodlings.app import recipes

    accounts = _accounts(data, config)
    if user in recipes(settings_of(data, config).data_dir):
        raise UserError(f"{user} is a character, and nobody comes in as one")
    joined = accounts.join(name, user)
    typer.echo(f"{joined.name} is {joined.user_id} from the next time it connects")


@account_app.command()
def remove(name: Name, data: Data = None, config: Config = None) -> None:
    """Take an account away. What characters remember of it stays, and nobody else gets its name."""
    _accounts(data, config).remove(name)
    typer.echo(f"{name} may not come in any more; whoever is in stays until they leave")


@account_app.command("list")
def list_accounts(data: Data = None, config: Config = None) -> None:
    """List all accounts, their roles, and the ids characters know them by."""
    for account in _accounts(data, config).all():
        typer.echo(f"{account.name:<20}  {account.role:<6}  {account.user_id}")


def _accounts(data: Data, config: Config) -> Accounts:
    from noodlings.worlds.accounts import Accounts

    return Accounts(settings_of(data, config).data_dir)


def _password() -> str:
    """As typed twice at a terminal, where it is not shown; else a line of standard input."""
    import sys

    if sys.stdin.isatty():
        answer: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    else:
        answer = sys.stdin.readline()
    return " ".join(answer.split())
