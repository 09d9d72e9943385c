"""The keeper of notes: what was committed gets its notes in the background, what is forgotten loses them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from noodlings.errors import StoreError
from noodlings.notes.background import BackgroundWriter
from noodlings.notes.scribe import Scribe
from noodlings.ports import Changes, Forgotten

log = logging.getLogger(__name__)


class NoteKeeper:
    """The port `Notes`, over Markdown files.

    Args:
        scribe: writes the notes, and what was not wholly forgotten when a process was killed it forgets now.
        enabled: whether notes are written. What is forgotten leaves those that are there in any case.
    """

    def __init__(self, scribe: Scribe, enabled: bool = True) -> None:
        self._scribe = scribe
        self._enabled = enabled
        self._background = BackgroundWriter(scribe, _unfinished(scribe))

    def follow(self, changes: Changes) -> None:
        """Have the notes written that these changes are about. Never waits, never raises."""
        if not self._enabled:
            return
        updated = {entry.id for entry in changes.updated}
        known = updated | {entry.id for entry in changes.added}
        # Whatever only left episodic memory has had its note since it came there.
        new = known & {*changes.episodic, *changes.evicted}
        linked = {end for link in changes.links for end in (link.source, link.target)}
        due = new | updated | linked
        if due:
            self._background.add(changes.agent_id, due, new)

    def forget(self, agent_id: str, ids: Sequence[int], delete: Callable[[], Forgotten]) -> Forgotten:
        """Let `delete` delete these memories, and take them out of every note; see `Scribe.forget`."""
        return self._scribe.forget(agent_id, ids, delete)

    def read(self, agent_id: str, entry_id: int) -> str | None:
        """The note of a memory as it is by now; None where there is none, or it just went."""
        try:
            path = self._scribe.notebook.find(agent_id, entry_id)
            return None if path is None else path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"the note of memory {entry_id} cannot be read: {error.strerror}") from None

    def close(self) -> None:
        """Write the notes that are due, for some seconds."""
        self._background.close()


def _unfinished(scribe: Scribe) -> list[str]:
    try:
        return scribe.notebook.marked()
    except OSError as error:
        log.warning("notes of what was forgotten may still be there: %s", error)
        return []
