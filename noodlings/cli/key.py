"""`noodlings key …`: make, change and look at the key that memories are encrypted with."""

from __future__ import annotations

from typing import Annotated

import typer

from noodlings.cli.options import AsJson, Config, Data, command_group, print_json, settings_of
from noodlings.errors import StoreBusy, UserError

key_app = command_group("Make and change the key that memories are encrypted with.")


@key_app.command()
def new(
    file: Annotated[
        str, typer.Argument(metavar="[FILE]", help="Where to keep it; store.key_file if you name none.")
    ] = "",
    data: Data = None,
    config: Config = None,
) -> None:
    """Make a key, in a file that only you can read. With the name keyring it goes into the system's keyring.

    Without the key nobody can read what is encrypted, so keep a copy elsewhere.
    """
    from noodlings.store.cipher import UserKey
    from noodlings.store.keys import UserKeys

    settings = settings_of(data, config)
    keys, folder = UserKeys(file=file or settings.store.key_file), settings.data_dir
    if not keys.file:
        raise UserError("name a file for the key, outside of the data folder: noodlings key new FILE")
    if keys.path is not None and keys.path.exists():
        raise UserError(f"{keys.path} exists already; to change the key in it: noodlings key rotate")
    if keys.path is not None and folder.resolve() in keys.path.resolve().parents:
        raise UserError(
            f"{keys.path} is in the data folder: whoever takes that would have the key, so keep it elsewhere"
        )
    made = UserKey.new()
    keys.write((made,))
    set_it = "" if settings.store.key_file == keys.file else f"; to use it, set store.key_file: {keys.file}"
    typer.echo(
        f"made key {made.id} in {keys.file}{set_it}. Keep a copy elsewhere: nobody can read without it"
    )


@key_app.command()
def rotate(data: Data = None, config: Config = None) -> None:
    """Change the key: make a new one and encrypt everything with it, also while somebody plays.

    The old key stays in the file after the new one, for older backups and exports. When key status says so,
    this folder no longer needs it. If this is interrupted, it continues at the next start.
    """
    from noodlings.store.cipher import UserKey
    from noodlings.store.opening import open_database, require_kept
    from noodlings.store.vault import Encryption

    settings = settings_of(data, config)
    where = require_kept(settings.database)
    encryption = Encryption.of(settings.store)
    old = encryption.keys.read()
    if not old:
        raise UserError("there is no key yet: make one with noodlings key new FILE, and set store.key_file")
    open_database(where, read_only=True, encryption=encryption).close()  # or another key is needed
    made = UserKey.new()
    encryption.keys.write((made, *old))
    try:
        open_database(where, settings.store.durability, encryption=encryption).close()
    except StoreBusy:
        typer.echo(
            f"key {made.id} takes the place of {old[0].id}: the noodlings that is running here will use it"
            " from the next event on, and encrypt everything again in the background"
        )
        return
    typer.echo(f"key {made.id} took the place of {old[0].id}, and everything is encrypted with it")


@key_app.command()
def status(as_json: AsJson = False, data: Data = None, config: Config = None) -> None:
    """Say what is encrypted here, with which key, and whether an older one is still needed."""
    from contextlib import closing

    from noodlings.store.opening import open_database, require_kept
    from noodlings.store.vault import Encryption

    settings = settings_of(data, config)
    encryption = Encryption.of(settings.store)
    where = require_kept(settings.database)
    with closing(open_database(where, read_only=True, encryption=encryption)) as database:
        due = database.vault.due
        used = database.vault.key_id
    others = [key.id for key in encryption.keys.read() if key.id != used]
    if as_json:
        print_json({"encrypt": settings.store.encrypt, "key": used or None, "due": due})
    elif not used:
        typer.echo("nothing is encrypted here")
    else:
        later = "not everything yet, or not with the newest key; the next event or start continues"
        done = later if due else "everything that the settings ask for"
        typer.echo(f"store.encrypt: {settings.store.encrypt}; encrypted with key {used}: {done}")
        if others and not due:
            typer.echo(f"no longer needed here, except for older backups: {', '.join(others)}")
