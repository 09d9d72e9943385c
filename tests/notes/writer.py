"""A process that keeps memories with their notes until it is killed: `python -m tests.notes.writer FOLDER`.

It writes as fast as it can, and says the id of each memory whose note is there.
"""

from __future__ import annotations

import sys
from pathlib import Path

from noodlings.ports import Changes
from tests.notes.folders import opened
from tests.store.records import an_entry


def main(path: Path) -> None:
    with opened(path) as folder:
        number = folder.store.load("phi").last_id if folder.store.agents() else 0  # type: ignore[union-attr]
        while True:
            number += 1
            folder.store.commit(
                Changes("phi", added=(an_entry(number, f"line {number} " * 400),), episodic=(number,))
            )
            folder.writer.refresh("phi", {number}, {number})
            print(number, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
