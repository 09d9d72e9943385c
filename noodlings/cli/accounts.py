"""`noodlings account …`: who may come in over the MUSH port, with which rights. Also while a server runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from noodlings.cli.options import Config, Data, command_group, settings_of
from noodlings.errors import UserError

if TYPE_CHECKING:
    from noodlings.worlds.accounts import Accounts

account_app = command_group("Manage the accounts of people who play over telnet or WebSocket.")

Rights = Literal["player", "viewer", "admin"]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The account's name: one word.")]


@account_app.command()
def add(
    name: Name,
    role: Annotated[
        Rights,
        typer.Option("--role", help="player, viewer (reads all memories) or admin (may do everything)."),
    ] = "player",
    data: Data = None,
    config: Config = None,
) -> None:
    """Create an account. Asks for a password, or reads it from standard input."""
    from noodlings.values.caller import Role

    made = _accounts(data, config).create(name, _password(), Role(role))
    typer.echo(f"{made.name} can now connect, as {made.role}")


@account_app.command()
def role(
    name: Name,
    rights: Annotated[Rights, typer.Argument(metavar="ROLE", help="player, viewer or admin.")],
    data: Data = None,
    config: Config = None,
) -> None:
    """Change an account's role, from the next time it connects."""
    from noodlings.values.caller import Role

    changed = _accounts(data, config).change(name, role=Role(rights))
    typer.echo(f"{changed.name} will be {changed.role} from the next connection")


@account_app.command()
def password(name: Name, data: Data = None, config: Config = None) -> None:
    """Change an account's password. Asks for the new one, or reads it from standard input."""
    accounts = _accounts(data, config)
    accounts.find(name)
    typer.echo(f"The password of {accounts.change(name, password=_password()).name} has been changed")


@account_app.command()
def join(
    name: Name,
    user: Annotated[
        str, typer.Argument(metavar="USER", help="The id that the world or token uses, such as user_caity.")
    ],
    data: Data = None,
    config: Config = None,
) -> None:
    """Treat an account and a user of another world (or of api.tokens) as one person.

    What they told a character is then shared. It counts from the next connection. To undo it, join the
    account to the id that `list` showed before.
    """
    from noodlings.app import recipes
    from noodlings.values.caller import as_character_id

    accounts = _accounts(data, config)
    if as_character_id(user) in recipes(settings_of(data, config).data_dir):
        raise UserError(f"{user} is a character, so nobody can be joined to it; name the id of a player")
    joined = accounts.join(name, user)
    typer.echo(f"{joined.name} will be {joined.user_id} from the next connection")


@account_app.command()
def remove(name: Name, data: Data = None, config: Config = None) -> None:
    """Remove an account. What characters remember of it stays, and nobody else can take its name."""
    _accounts(data, config).remove(name)
    typer.echo(f"{name} can no longer connect; whoever is connected now is out at their next line")


@account_app.command("list")
def list_accounts(data: Data = None, config: Config = None) -> None:
    """List all accounts with their roles and the ids by which characters know them."""
    for account in _accounts(data, config).all():
        typer.echo(f"{account.name:<20}  {account.role:<6}  {account.user_id}")


def _accounts(data: Data, config: Config) -> Accounts:
    from noodlings.worlds.accounts import Accounts

    return Accounts(settings_of(data, config).data_dir)


def _password() -> str:
    """A password, typed twice at a terminal without being shown, or a line of standard input."""
    import sys

    if sys.stdin.isatty():
        answer: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    else:
        answer = sys.stdin.readline()
    return " ".join(answer.split())
