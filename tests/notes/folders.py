"""A store with notes beside it, as it is put together in earnest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from noodlings.affect.feeling import feeling
from noodlings.app import make_pages
from noodlings.notes.notebook import FOLDER_NAME, Notebook
from noodlings.notes.writer import NoteSync, NoteWriter
from noodlings.ports import Changes, Forgotten
from noodlings.store.sql import SqlStore

NOW = 1_800_000_000.0
NAMES = {"user_caity": "Caity", "user_bram": "Bram", "phi": "Phi"}


@dataclass
class Folder:
    """A data folder that is open for writing.

    Attributes:
        path: of the data folder.
        store: its database.
        notebook: its notes.
        writer: writes them at once.
        keeper: writes them in the background.
    """

    path: Path
    store: SqlStore
    notebook: Notebook
    writer: NoteWriter
    keeper: NoteSync

    def commit(self, changes: Changes) -> None:
        """As an agent does."""
        self.store.commit(changes)
        self.keeper.follow(changes)

    def forget(self, agent_id: str, *ids: int) -> Forgotten:
        """As an agent does."""
        return self.keeper.forget(
            agent_id, ids, lambda: self.store.forget(agent_id, ids, by_user="admin", timestamp=9.0)
        )


@contextmanager
def opened(
    path: Path, notebook: Notebook | None = None, enabled: bool = True, pages: bool = False
) -> Iterator[Folder]:
    """Open a data folder; afterwards everything that was due is written.

    Args:
        pages: make pages, too, as an application does at `NOW`.
    """
    store = SqlStore(path)
    notebook = notebook or Notebook(path / FOLDER_NAME)
    make = partial(make_pages, store, {}, NAMES, NOW) if pages else None
    writer = NoteWriter(store, notebook, feeling, make_pages=make)
    keeper = NoteSync(writer, enabled)
    try:
        yield Folder(path, store, notebook, writer, keeper)
    finally:
        keeper.close()
        store.close()


def written(path: Path) -> dict[str, str]:
    """Every file in the folder of notes, by its path there."""
    notes = path / FOLDER_NAME
    return {
        str(file.relative_to(notes)): file.read_text(encoding="utf-8")
        for file in sorted(notes.rglob("*"))
        if file.is_file()
    }


def bytes_of(path: Path) -> bytes:
    """Every byte in a folder, with the names of all files and folders."""
    files = sorted(path.rglob("*"))
    return b"".join(str(file).encode() + (file.read_bytes() if file.is_file() else b"") for file in files)
