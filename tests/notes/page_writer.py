"""A process that makes the pages of a folder again and again: `python -m tests.notes.page_writer FOLDER`.

It only reads the database, shares the notes with whoever writes there, and says when it has made them once.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from filelock import FileLock

from noodlings.affect.feeling import feeling
from noodlings.app import make_pages
from noodlings.notes.notebook import FOLDER_NAME, Notebook
from noodlings.notes.writer import NoteWriter
from noodlings.store.sql import SqlStore
from tests.notes.folders import NAMES, NOW


def main(path: Path) -> None:
    store = SqlStore(path, read_only=True)
    make = partial(make_pages, store, {}, NAMES, NOW)
    lock = FileLock(path / "notes.lock")
    writer = NoteWriter(store, Notebook(path / FOLDER_NAME), feeling, lock=lock, make_pages=make)
    while True:
        writer.write_pages("phi")
        print("made", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
