"""The scribe makes notes equal to what is stored, memory by memory.

It reads the store when it writes, and holds one lock from the reading to the file. So a note never shows what
was forgotten meanwhile, however late it is written.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Lock

from noodlings.errors import StoreError
from noodlings.notes.note import Note
from noodlings.notes.notebook import Notebook
from noodlings.ports import Forgotten, Records
from noodlings.values.affect import Affect
from noodlings.values.memory import Link

log = logging.getLogger(__name__)

AT_ONCE = 20
"""Notes that are written under one lock: forgetting waits for so many at most."""


class Scribe:
    """Writes and removes notes. Safe to use from any thread.

    Args:
        records: what is stored; safe to use from any thread.
        notebook: where the notes are.
        feeling: the word for an affect.
    """

    def __init__(self, records: Records, notebook: Notebook, feeling: Callable[[Affect | None], str]) -> None:
        self.notebook = notebook
        self._records = records
        self._feeling = feeling
        self._lock = Lock()

    def refresh(
        self, agent_id: str, ids: Collection[int], new: Collection[int] = frozenset()
    ) -> dict[int, Path]:
        """Write the notes of these memories as they are by now.

        Args:
            agent_id: whose.
            ids: memories that may have changed; one that has no note gets none, unless it is in `new`.
            new: which of them get a note in any case.

        Returns:
            The notes that were written, by id of the memory. One that is not stored is not among them.

        Raises:
            OSError: a note cannot be written.
            StoreError: the store cannot be read.
        """
        written: dict[int, Path] = {}
        for some in _portions(ids):
            with self._lock:
                entries = self._records.entries(agent_id, some).values()
                noted = [
                    entry for entry in entries if entry.id in new or self.notebook.holds(agent_id, entry)
                ]
                links = self._links(agent_id, {entry.id for entry in noted})
                for entry in noted:
                    note = Note(agent_id, entry, self._feeling(entry.affect), tuple(links[entry.id]))
                    written[entry.id] = self.notebook.write(note)
        return written

    def forget(self, agent_id: str, ids: Collection[int], delete: Callable[[], Forgotten]) -> Forgotten:
        """Let memories be deleted by `delete`, and leave nothing of them in any note.

        If we are killed meanwhile, `resume` finds a mark. When notes could not be removed the log says why,
        and the result that not everything is erased.
        """
        linked = self._linked(agent_id, ids)
        try:
            self.notebook.mark(agent_id)
        except OSError as error:
            log.warning("a kill while something is forgotten would leave notes of it: %s", error)
        forgotten = delete()
        try:
            with self._lock:
                self.notebook.remove(agent_id, ids)
            self.refresh(agent_id, {*forgotten.redacted, *linked})
            self.notebook.unmark(agent_id)
        except (OSError, StoreError) as error:
            log.warning(
                "what was forgotten is still in the notes: %s. Remove them by hand, or see that they can be"
                " written and run: noodlings notes rebuild",
                error,
            )
            return replace(forgotten, erased=False)
        return forgotten

    def resume(self, agent_id: str) -> None:
        """Forgetting was cut off: make all notes of an agent anew, and remove those of what is not stored."""
        ids = set(self.notebook.ids(agent_id))
        gone = ids - self.refresh(agent_id, ids).keys()
        with self._lock:
            self.notebook.remove(agent_id, gone)
            self.notebook.unmark(agent_id)

    def _links(self, agent_id: str, ids: Collection[int]) -> dict[int, list[Link]]:
        """The links of each of these entries, those of both ends at both."""
        links: dict[int, list[Link]] = {entry_id: [] for entry_id in ids}
        for link in self._records.links_of(agent_id, sorted(ids)):
            for end in (link.source, link.target):
                if end in links:
                    links[end].append(link)
        return links

    def _linked(self, agent_id: str, ids: Collection[int]) -> set[int]:
        """Whatever is linked with these entries."""
        links = self._records.links_of(agent_id, list(ids))
        return {end for link in links for end in (link.source, link.target)} - set(ids)


def _portions(ids: Iterable[int]) -> Iterator[list[int]]:
    ordered = sorted(ids)
    for start in range(0, len(ordered), AT_ONCE):
        yield ordered[start : start + AT_ONCE]
