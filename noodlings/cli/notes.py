"""`noodlings notes …`: make the Markdown copies of memories again, and search them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noodlings.cli.options import Config, Data, command_group, settings_of

if TYPE_CHECKING:
    from noodlings.notes.search import NoteHit

notes_app = command_group("Work with the Markdown notes that are kept beside the database.")


@notes_app.command()
def rebuild(data: Data = None, config: Config = None) -> None:
    """Write all notes again, and remove notes of memories that no longer exist.

    Use it after an import, a full disk, or a time with notes.enabled: false; not while somebody plays.
    """
    from contextlib import closing
    from functools import partial

    from noodlings.affect.feeling import feeling
    from noodlings.agent.society import NAMES_KEY, names_in
    from noodlings.app import latest, make_pages, recipes
    from noodlings.clock import SystemClock
    from noodlings.drawing.progress import progress_over
    from noodlings.notes.notebook import FOLDER_NAME, Notebook
    from noodlings.notes.writer import NoteWriter
    from noodlings.notes.writer import rebuild as rebuild_notes
    from noodlings.store.opening import require_kept
    from noodlings.store.sql import SqlStore
    from noodlings.store.transfer import snapshot
    from noodlings.store.vault import Encryption

    settings = settings_of(data, config)
    where = require_kept(settings.database)
    notebook = Notebook(settings.data_dir / FOLDER_NAME)
    encryption, below = Encryption.of(settings.store), settings.store.encrypted_from
    with (
        closing(SqlStore(where, settings.store.durability, encryption=encryption)) as repository,
        snapshot(where, encryption) as kept,
    ):
        total = sum(record.perceived for agent in kept.agents() if (record := repository.load(agent)))
        with progress_over(total, "writing notes") as done:
            personas, introduced = recipes(settings.data_dir), names_in(repository.world_get(NAMES_KEY))
            names = introduced | {persona.id: persona.name for persona in personas.values()}
            now = SystemClock(settings.world.clock_speed, not_before=latest(repository)).now()
            pages = partial(make_pages, repository, personas, names, now)
            writer = NoteWriter(repository, notebook, feeling, below, make_pages=pages)
            rebuilt = rebuild_notes(kept, writer, done)
    removed = f"; removed {rebuilt.removed:,} of memories that no longer exist" if rebuilt.removed else ""
    typer.echo(f"wrote {rebuilt.written:,} notes in {notebook.folder}{removed}")
    if rebuilt.left_out:
        typer.echo(
            f"noodlings: {rebuilt.left_out} memories could not be read, so no notes were removed", err=True
        )


@notes_app.command()
def search(
    words: Annotated[list[str], typer.Argument(metavar="WORD...", help="Words that must all occur.")],
    user: Annotated[
        str | None,
        typer.Option("--user", metavar="WHO", help="Only what this user said, such as user_caity."),
    ] = None,
    private: Annotated[
        bool, typer.Option("--private", help="Include what was whispered or thought.")
    ] = False,
    data: Data = None,
    config: Config = None,
) -> None:
    """Find words in the notes. It reads only the files, so it works without the database."""
    from noodlings.notes.notebook import FOLDER_NAME
    from noodlings.notes.search import search as search_notes
    from noodlings.text import clean

    folder = settings_of(data, config).data_dir
    found = search_notes(folder / FOLDER_NAME, " ".join(words), user, private)
    for hit in found.hits:
        typer.echo("\n".join(_lines(hit, hit.path.relative_to(folder))))
    for path, why in found.torn:
        typer.echo(clean(f"noodlings: skipped {path}: {why}"), err=True)
    if not found.hits:
        of = f" of {clean(user)} (users go by their id, such as user_caity)" if user else ""
        typer.echo(f"noodlings: no note{of} contains that", err=True)


def _lines(hit: NoteHit, path: Path) -> Iterator[str]:
    """Where it is, and what was said; cleaned, because anybody may have changed the file."""
    from noodlings.text import clean

    private = "private, " if hit.private else ""
    yield clean(f"{path} ({private}{hit.kind}, {hit.feeling})")
    yield f"  {clean(f'{hit.user_id}: {hit.said}')}"
    if hit.answered is not None:
        yield f"  {clean(f'{hit.agent_id}: {hit.answered}')}"
