"""All notes anew: those that are missing are written, and what is no note of anything stored is removed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from noodlings.errors import StoreError
from noodlings.notes.notebook import Notebook
from noodlings.notes.scribe import Scribe
from noodlings.ports import Snapshot
from noodlings.values.memory import KeptEntry

AT_ONCE = 500
"""Memories that are looked at between two steps of the progress."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """How many notes there are now, how many were removed, and how many memories could not be read."""

    written: int
    removed: int
    left_out: int


def rebuild(kept: Snapshot, scribe: Scribe, done: Callable[[int], None]) -> Rebuilt:
    """Make all notes anew. Nobody else may write to the data folder meanwhile.

    Args:
        kept: which memories there are.
        scribe: writes the notes.
        done: called with the number of memories that were looked at so far.

    Raises:
        StoreError: the notes cannot be written, or the store cannot be read.
    """
    looked_at, written = 0, set[Path]()
    try:
        for agent_id in kept.agents():
            for some in _portions(kept.entries(agent_id)):
                ids = {known.entry.id for known in some if known.consolidated}
                written.update(scribe.refresh(agent_id, ids, ids).values())
                looked_at += len(some)
                done(looked_at)
        # The note of a memory that cannot be read any more may be all that is left of it.
        removed = 0 if kept.left_out else _remove_others(scribe.notebook, written)
    except OSError as error:
        raise StoreError(f"the notes cannot be written: {error}") from None
    return Rebuilt(len(written), removed, kept.left_out)


def _remove_others(notebook: Notebook, written: set[Path]) -> int:
    others = [path for path in notebook.files() if path not in written]
    for path in others:
        notebook.discard(path)
    for agent_id in notebook.marked():
        notebook.unmark(agent_id)
    return len(others)


def _portions(entries: Iterable[KeptEntry]) -> Iterator[list[KeptEntry]]:
    rest = iter(entries)
    while some := list(islice(rest, AT_ONCE)):
        yield some
