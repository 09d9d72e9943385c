"""The folder of notes. Only its owner can read them, and no note is ever half written.

It is used by one thread at a time, in the one process that may write to the data folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from errno import ENOTDIR
from pathlib import Path

from noodlings.files import atomic_write
from noodlings.notes.note import Note, folder_of, path_of, render
from noodlings.notes.pages import JOURNAL, PEOPLE, cited_by
from noodlings.values.memory import MemoryEntry

FOLDER_NAME = "notes"

# What a killed process left half written beside a note counts as that note.
_PART = ".part"
_NAME = re.compile(r"(?:\d\d_\d\d_\d\d_)?memory_(\d+)\.md(?:\.part)?")
_MARK = ".forgetting-"


class Notebook:
    """Notes in a folder, which is made when the first one is written. Everything here raises OSError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, note: Note) -> Path:
        """Write a note, in place of an older one of the same memory. Returns its path.

        Raises:
            OSError: also where a folder on the way below the agent's own is a link. `remove` follows none, so
                the note could not be forgotten.
        """
        path = self.folder / path_of(note.agent_id, note.entry)
        for part in path.relative_to(self.folder).parents[:-2]:
            if (self.folder / part).is_symlink():
                raise NotADirectoryError(ENOTDIR, "a link, and notes are not written through one", str(part))
        self._put(path, render(note))
        return path

    def holds(self, agent_id: str, entry: MemoryEntry) -> bool:
        """Whether there is a note of this memory."""
        return (self.folder / path_of(agent_id, entry)).is_file()

    def ids(self, agent_id: str) -> list[int]:
        """Ids of all memories of an agent that there are notes of, rising."""
        return sorted({entry_id for _, entry_id in _notes_in(self.folder / folder_of(agent_id))})

    def find(self, agent_id: str, entry_id: int) -> Path | None:
        """The note of a memory, or None where there is none; never one that is only half written."""
        notes = _notes_in(self.folder / folder_of(agent_id))
        return next((path for path, number in notes if number == entry_id and path.suffix != _PART), None)

    def files(self) -> list[Path]:
        """All notes of everybody, and what is left of half-written ones."""
        return [path for path, _ in _notes_in(self.folder)]

    def remove(self, agent_id: str, ids: Collection[int]) -> None:
        """Remove every note of these memories, wherever in the agent's folder it lies."""
        for path, entry_id in list(_notes_in(self.folder / folder_of(agent_id))):
            if entry_id in ids:
                self.discard(path)

    def discard(self, path: Path) -> None:
        """Remove one note, with the folders that are empty then: they tell when something happened."""
        path.unlink(missing_ok=True)
        for folder in path.relative_to(self.folder).parents[:-1]:
            with suppress(OSError):  # it is not empty
                (self.folder / folder).rmdir()

    def write_page(self, path: Path, text: str) -> None:
        """Write a page, see `noodlings.notes.pages`, unless it is there already or the file is yours."""
        whole = self.folder / path
        if whole.exists() and not whole.is_file():  # reading a pipe may not end
            return
        before = _text_of(whole)
        if before != text and (not before or cited_by(before) is not None):
            self._put(whole, text)

    def pages(self, agent_id: str = "*") -> dict[Path, set[int] | None]:
        """All pages of an agent, or of everybody, with the memories that they rest on.

        None for what a killed process left half written. Any other file is yours.
        """
        folder = agent_id if agent_id == "*" else folder_of(agent_id)
        found = [path for kind in (PEOPLE, JOURNAL) for path in self.folder.glob(f"{folder}/{kind}/*.md*")]
        cited = {path: cited_by(_text_of(path)) for path in found if path.is_file()}
        return {path: ids for path, ids in cited.items() if ids is not None or path.suffix == _PART}

    def discard_pages(self, agent_id: str, ids: Collection[int]) -> None:
        """Remove the pages that rest on one of these memories."""
        for path, cited in self.pages(agent_id).items():
            if cited is None or not cited.isdisjoint(ids):
                self.discard(path)

    def mark(self, agent_id: str) -> None:
        """Leave a file that says that something of an agent is being forgotten, until `unmark`."""
        if (self.folder / folder_of(agent_id)).is_dir():
            with atomic_write(self._mark(agent_id)) as aside:
                aside.write_text(agent_id, encoding="utf-8")

    def unmark(self, agent_id: str) -> None:
        self._mark(agent_id).unlink(missing_ok=True)

    def marked(self) -> list[str]:
        """Ids of agents of whom something was being forgotten when a process was killed."""
        marks = [path for path in self.folder.glob(f"{_MARK}*") if path.suffix != _PART]
        return [path.read_text(encoding="utf-8") for path in sorted(marks)]

    def _mark(self, agent_id: str) -> Path:
        return self.folder / f"{_MARK}{folder_of(agent_id)}"

    def _put(self, path: Path, text: str) -> None:
        """Write a file, and make the folders that it needs."""
        if not path.parent.is_dir():
            # `mkdir(parents=True)` would let others look into the folders between.
            for part in reversed(path.relative_to(self.folder).parents):
                (self.folder / part).mkdir(mode=0o700, exist_ok=True)
        # A copy is not worth an fsync, which takes longer than all the rest.
        with atomic_write(path, synced=False) as aside:
            aside.write_text(text, encoding="utf-8", newline="\n")


def _text_of(path: Path) -> str:
    """What a page says, "" where there is none."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def _notes_in(folder: Path) -> Iterator[tuple[Path, int]]:
    """Every note with the id of its memory; nothing for a folder that is not there."""
    for above, _, names in os.walk(folder, onerror=_complain):
        for name in names:
            if found := _NAME.fullmatch(name):
                yield Path(above, name), int(found[1])


def _complain(error: OSError) -> None:
    """Raise unless there is no folder: one that cannot be read may hold what is to be forgotten."""
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error
