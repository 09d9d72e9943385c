"""The keeper of notes: what was committed gets its notes in the background, what is forgotten loses them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial

from noodlings.notes.background import Background
from noodlings.notes.scribe import Scribe
from noodlings.ports import Changes, Forgotten

log = logging.getLogger(__name__)

LOST = "memories are kept all the same, and this writes what is missing: noodlings notes rebuild"


class NoteKeeper:
    """The port `Notes`, over Markdown files.

    Args:
        scribe: writes the notes, and what was not wholly forgotten when a process was killed it forgets now.
        enabled: whether notes are written. What is forgotten leaves those that are there in any case.
    """

    def __init__(self, scribe: Scribe, enabled: bool = True) -> None:
        self._scribe = scribe
        self._enabled = enabled
        self._background = Background(LOST)
        try:
            unfinished = scribe.notebook.marked()
        except OSError as error:
            log.warning("notes of what was forgotten may still be there: %s", error)
            unfinished = []
        for agent_id in unfinished:
            self._background.add(partial(scribe.resume, agent_id))

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
            self._background.add(partial(self._scribe.refresh, changes.agent_id, due, new))

    def forget(self, agent_id: str, ids: Sequence[int], delete: Callable[[], Forgotten]) -> Forgotten:
        """Let `delete` delete these memories, and take them out of every note; see `Scribe.forget`."""
        return self._scribe.forget(agent_id, ids, delete)

    def close(self) -> None:
        """Write the notes that are waiting, for some seconds."""
        self._background.close()
