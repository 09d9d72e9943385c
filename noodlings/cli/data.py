"""`noodlings export`, `import`, `backup`, `check`, `compact` and `move`: the data folder as a whole."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noodlings.cli.options import AsJson, Config, Data, report, settings_of
from noodlings.errors import NotFound, UserError
from noodlings.files import atomic_write, in_words, path_of, regular

if TYPE_CHECKING:
    from noodlings.config import Settings
    from noodlings.portable.lines import Contents
    from noodlings.store.cipher import UserKey
    from noodlings.store.keys import UserKeys

STANDARD_OUTPUT = "-"
SHOWN = 20
"""Faults of a database that are shown; --json has them all."""


def export(
    file: Annotated[
        str, typer.Argument(metavar="[FILE|-]", help="The file to write, or - for standard output.")
    ] = "-",
    agent: Annotated[str, typer.Option("--agent", metavar="NAME", help="Only this character.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    plain: Annotated[
        bool, typer.Option("--plain", help="Readable without the key; sealed memories lose their words.")
    ] = False,
    as_json: AsJson = False,
    data: Data = None,
    config: Config = None,
) -> None:
    """Write characters with all their memories to a file, also while somebody plays.

    It has one JSON object a line, as of one moment, and noodlings import reads it. Where memories are
    encrypted the file is too, with the same key, unless you say --plain.
    """
    from noodlings.portable.export import export as export_agents
    from noodlings.portable.sealed import sealing
    from noodlings.store.transfer import snapshot
    from noodlings.store.vault import Encryption

    if as_json and file == STANDARD_OUTPUT:
        raise UserError("--json needs a file to report on: noodlings export FILE --json")
    settings = settings_of(data, config)
    where, encryption = settings.database, Encryption.of(settings.store)
    if file != STANDARD_OUTPUT:
        require_elsewhere(Path(file), settings.data_dir)
    with snapshot(where, encryption, sealed_words=not plain) as kept:
        agents = kept.agents()
        chosen = _chosen(agent, agents, where)
        encrypted = kept.encrypted and not plain
        with output(file, force) as write:
            put = sealing(write, encryption.keys.read()[0]) if encrypted else write
            done = export_agents(kept, chosen, put)
    where = "" if file == STANDARD_OUTPUT else f" to {file}"
    report(
        f"exported {_counted(done)}{where}{', encrypted' if encrypted else ''}",
        {"file": file, **asdict(done), "encrypted": encrypted},
        as_json,
        err=file == STANDARD_OUTPUT,
    )
    if done.left_out:
        typer.echo(f"noodlings: {done.left_out} records could not be read and were left out", err=True)


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that noodlings export wrote.")],
    as_json: AsJson = False,
    data: Data = None,
    config: Config = None,
) -> None:
    """Take in characters from a file, with all their memories.

    The whole file is checked first; if a line is wrong it is named, and nothing is imported. No character
    that is there already is replaced. For an encrypted file it asks for the key, unless it is the one set
    here.
    """
    from noodlings.agent.recipes import kept_persona
    from noodlings.agent.society import NAMES_KEY, names_in
    from noodlings.app import recipes
    from noodlings.drawing.progress import progress_over
    from noodlings.ingest.lines import count_lines
    from noodlings.portable.intake import check, take_in
    from noodlings.portable.person import people, require_no_person
    from noodlings.portable.sealed import OpenedExport, header_of
    from noodlings.store.opening import name_of
    from noodlings.store.sql import SqlStore
    from noodlings.store.vault import Encryption
    from noodlings.values.caller import as_character_id

    settings = settings_of(data, config)
    store, encryption = settings.store, Encryption.of(settings.store)
    with in_words(file, "read"), regular(file).open("rb") as raw:  # it is read twice
        total = count_lines(file)
        try:
            lines = OpenedExport(raw, partial(_key, encryption.keys)) if header_of(raw) else raw
            with progress_over(total, "checking") as done:
                found = check(lines, done)
            with (
                closing(SqlStore(settings.database, store.durability, encryption=encryption)) as into,
                progress_over(total, "importing") as done,
            ):
                known = people(settings, names_in(into.world_get(NAMES_KEY)))
                there = {*into.agents(), *recipes(settings.data_dir), *found.agents}
                for one in found.agents:
                    require_no_person(kept_persona(one), known)
                    if as_character_id(one) in there - {one}:
                        raise UserError(f"{one} stands for {as_character_id(one)}, and there is one already")
                take_in(lines, found.agents, into, done)
        except UserError as error:
            raise UserError(f"nothing was imported from {file}: {error}") from None
    report(f"imported {_counted(found)} into {name_of(settings.database)}", asdict(found), as_json)


def backup(
    destination: Annotated[
        Path, typer.Argument(metavar="DEST", help="The folder to copy to; created if missing.")
    ],
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier copy.")] = False,
    as_json: AsJson = False,
    data: Data = None,
    config: Config = None,
) -> None:
    """Copy everything that is kept into another folder, also while somebody plays.

    The copy is a data folder like any other: noodlings play --data DEST. Recipes of your own
    and accounts go with it.
    """
    from noodlings.host.backups import BESIDE
    from noodlings.store.backup import back_up

    folder = _folder(
        settings_of(data, config), "pg_dump or pg_basebackup (while nobody plays: noodlings move)"
    )
    size = back_up(folder, destination, beside=BESIDE, force=force)
    report(
        f"backed up {folder} ({size:,} bytes); to play in the copy: noodlings play --data {destination}",
        {"backup": str(destination), "bytes": size},
        as_json,
    )


def check(as_json: AsJson = False, data: Data = None, config: Config = None) -> None:
    """Read everything that is stored and say what is damaged, also while somebody plays.

    Nothing is changed. The exit code is 1 if something is damaged. A changed letter within a text is not
    noticed; a damaged vector is made again by itself.
    """
    from noodlings.agent.society import WORLD_FORMS
    from noodlings.agent.state import check_state
    from noodlings.store.checking import check as check_data
    from noodlings.store.opening import name_of
    from noodlings.store.vault import Encryption

    settings = settings_of(data, config)
    where = settings.database
    found = check_data(where, Encryption.of(settings.store), check_state, WORLD_FORMS)
    facts = asdict(found)
    counts = ", ".join(f"{number:,} {name}" for name, number in facts.items() if name != "damaged")
    lines = [f"damaged: {fault}" for fault in found.damaged[:SHOWN]]
    if len(found.damaged) > SHOWN:
        lines.append(f"and {len(found.damaged) - SHOWN:,} more")
    state = "is damaged; put a backup in its place" if found.damaged else "is sound"
    report("\n".join([*lines, f"{name_of(where)} {state}: {counts} can be read"]), facts, as_json)
    if found.damaged:
        raise typer.Exit(1)


def compact(
    agent: Annotated[str, typer.Argument(metavar="[NAME]", help="Only this character.")] = "",
    as_json: AsJson = False,
    data: Data = None,
    config: Config = None,
) -> None:
    """Make the database smaller, and encrypt what the settings ask for, while nobody plays.

    Records of an older noodlings are rewritten in the form of new ones, and free room is given back. If this
    is interrupted nothing is lost; start it again. With store.encrypt it also deletes the notes of encrypted
    memories, the log and the history, because they quote what was said.
    """
    from noodlings.drawing.progress import progress_over
    from noodlings.store.compacting import compaction, size
    from noodlings.store.vault import Encryption

    settings = settings_of(data, config)
    folder = _folder(settings, "VACUUM FULL")
    with compaction(folder, settings.store.durability, Encryption.of(settings.store)) as work:
        agents = work.agents()
        chosen = _chosen(agent, agents, folder)
        before = size(folder)
        due = work.due(chosen)
        with progress_over(due, "compacting") as done:
            written = work.rewrite(chosen, done)
        whole = work.shrink()
    _drop_plain_copies(settings)
    after = size(folder)
    left = f"; {due - written:,} could not be rewritten and stay as they are" if due > written else ""
    report(
        f"compacted {folder}: {before:,} bytes before, {after:,} now; "
        f"{written:,} records were rewritten{left}",
        {"data": str(folder), "before": before, "after": after, "written": written, "left": due - written},
        as_json,
    )
    if not whole:
        typer.echo(
            "noodlings: another program is reading the database; the file will shrink when it has finished",
            err=True,
        )


def move(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A data folder, or the URL of a database.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Where to; nothing may be kept there yet.")],
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Copy everything that is stored into another database, while nobody plays, and compare it.

    A URL is postgresql+psycopg://USER@HOST/DATABASE; leave the password to PGPASSWORD or ~/.pgpass. What is
    encrypted stays so, with the same key. FROM stays as it is. If this is interrupted, nothing is in TO.
    """
    from noodlings.config import load_settings
    from noodlings.drawing.progress import progress_over
    from noodlings.store.moving import move as move_rows
    from noodlings.store.opening import name_of
    from noodlings.store.vault import Encryption

    settings = load_settings(config)
    before, after = _place(source), _place(target)
    with progress_over(100, "moving") as done:
        counts = move_rows(before, after, Encryption.of(settings.store), done)
    report(
        f"moved {sum(counts.values()):,} records from {name_of(before)} to {name_of(after)},"
        " and compared each; to use them, set store.url or store.path",
        {"from": name_of(before), "to": name_of(after), "records": dict(counts)},
        as_json,
    )


def _place(text: str) -> Path | str:
    """A folder, or the URL of a database. Raises `UserError`."""
    from noodlings.config import require_url

    try:
        return require_url(text) if "://" in text else path_of(text)
    except ValueError as error:
        raise UserError(str(error)) from None


def _folder(settings: Settings, instead: str) -> Path:
    """The data folder. Raises `UserError` where the database is elsewhere; says what to use `instead`."""
    if settings.database != settings.data_dir:
        raise UserError(
            f"this is for a database in a folder; for one on a server use {instead}: docs/scale.md"
        )
    return settings.data_dir


def _drop_plain_copies(settings: Settings) -> None:
    """Delete what quotes encrypted memories outside of the database. Raises `UserError`."""
    from noodlings.affect.feeling import feeling
    from noodlings.logs import FILE_NAME as LOG
    from noodlings.notes.notebook import FOLDER_NAME, Notebook
    from noodlings.notes.writer import NoteWriter
    from noodlings.store.sql import SqlStore
    from noodlings.store.vault import Encryption

    folder, below = settings.data_dir, settings.store.encrypted_from
    if settings.store.encrypt == "none":
        return
    try:
        with closing(SqlStore(folder, encryption=Encryption.of(settings.store))) as repository:
            NoteWriter(repository, Notebook(folder / FOLDER_NAME), feeling, below).prune()
        for path in (*folder.glob(f"{LOG}*"), folder / "history"):
            path.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"{error.filename} cannot be removed: {error.strerror}; remove it by hand") from None


def _key(keys: UserKeys, key_id: str) -> UserKey:
    """The key with this id, from the settings or typed at the terminal. Raises `UserError`."""
    from noodlings.store.cipher import UserKey

    for key in keys.read():
        if key.id == key_id:
            return key
    if not sys.stdin.isatty():
        raise UserError(
            f"it is encrypted with key {key_id}: set store.key_file or NOODLINGS_STORE__KEY to it"
        )
    return UserKey.read(typer.prompt(f"Key {key_id} (base64)", hide_input=True, err=True))


def _chosen(name: str, agents: list[str], where: Path | str) -> list[str]:
    """The agent that is meant by a name in any case; all of them where no name is given."""
    from noodlings.store.opening import name_of
    from noodlings.text import clean, shorten
    from noodlings.validation import nearest

    if not name:
        return agents
    ids = {agent.casefold(): agent for agent in agents}
    wanted = clean(name).casefold()
    if wanted not in ids:
        hint = nearest(wanted, agents) or "; nothing is kept there yet"
        raise NotFound(f"{name_of(where)} has no character called {shorten(clean(name), 30)}{hint}")
    return [ids[wanted]]


def require_elsewhere(path: Path, folder: Path) -> None:
    """Raise `UserError` for a file of noodlings itself in its data folder, which --force would replace."""
    from noodlings.store.database import DATABASE_NAME, LOGS
    from noodlings.worlds.accounts import FILE_NAME as ACCOUNTS

    if any(
        path.exists() and own.exists() and path.samefile(own)
        for own in (folder / name for name in (DATABASE_NAME, *LOGS, ACCOUNTS))
    ):
        raise UserError(f"{path} belongs to the data folder and must not be replaced: name another file")


@contextmanager
def output(file: str, force: bool) -> Iterator[Callable[[str], object]]:
    """A function that writes lines to standard output, or into a file that appears when it is complete."""
    if file == STANDARD_OUTPUT:
        stream = sys.stdout.buffer  # whatever encoding a terminal has
        yield lambda line: stream.write(line.encode())
        stream.flush()
        return
    path = Path(file)
    if path.exists() and not (path.is_file() and force):
        hint = "name another file, or replace it with --force"
        if not path.is_file():
            hint = "it is not a file; name another"
        raise UserError(f"{path} already exists: {hint}")
    with (
        in_words(path, "written"),
        atomic_write(path) as aside,
        aside.open("w", encoding="utf-8", newline="\n") as stream,
    ):
        yield stream.write


def _counted(found: Contents) -> str:
    who = "1 character" if len(found.agents) == 1 else f"{len(found.agents)} characters"
    turns = f"{found.entries:,} memories, {found.traces:,} traces"
    return f"{who}, {turns}, {found.links:,} links and {found.symbols:,} symbols"
