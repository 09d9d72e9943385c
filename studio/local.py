"""A data folder as a source. It is only read, and sees changes that a running game writes.

It belongs into a process of its own (`studio.process`), for opening the folder holds up everything else.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, ExitStack, suppress
from inspect import isawaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noodlings.errors import NotFound, StoreError
from noodlings.inspect.questions import AGENTS, Question, V
from noodlings.values.caller import Caller
from studio.source import ReadOnlySource, SourceEvent

if TYPE_CHECKING:
    from noodlings.agent.society import Society
    from noodlings.inspect.inspector import Inspector

POLL_SECONDS = 1.0


class LocalSource(ReadOnlySource):
    """The agents in a data folder.

    Args:
        open_society: opens the folder for reading.
        caller: on whose behalf questions are asked.
        note_path: finds the Markdown note of a memory by agent id and memory id.
    """

    def __init__(
        self,
        folder: Path,
        open_society: Callable[[], AbstractContextManager[Society]],
        caller: Caller,
        note_path: Callable[[str, int], Path | None],
    ) -> None:
        self.label = str(folder)
        self._folder = folder
        self._open_society = open_society
        self._caller = caller
        self._note_path = note_path
        self._open = ExitStack()
        self._inspector: Inspector | None = None

    async def ask(self, question: Question[V], agent: str = "", **arguments: Any) -> V:
        while True:
            inspector = self._opened()
            try:
                method = getattr(inspector, question.name)
                about = () if question is AGENTS else (agent,)
                view: V = method(self._caller, *about, **question.values(arguments))
                return await view if isawaitable(view) else view
            except StoreError:
                if inspector is self._inspector:
                    raise
                # The folder was closed meanwhile; open it again.

    async def note(self, agent: str, entry: int) -> str:
        path = self._note_path(agent, entry)
        if path is None:
            raise NotFound(
                f"There is no note of memory {entry}; notes.enabled in the settings has them written."
            )
        return path.read_text(encoding="utf-8", errors="replace")

    async def events(self) -> AsyncIterator[SourceEvent]:
        """One event for all agents whenever the files have changed. The folder is then opened again."""
        before = _database_state(self._folder)
        while True:
            await asyncio.sleep(POLL_SECONDS)
            state = _database_state(self._folder)
            if state != before:
                before = state
                await self.close()
                yield SourceEvent()

    async def close(self) -> None:
        """Close the folder. The next question opens it again."""
        self._inspector = None
        self._open.close()

    def _opened(self) -> Inspector:
        from noodlings.inspect.inspector import Inspector  # takes long, and the greeting comes first

        if self._inspector is None:
            self._inspector = Inspector(self._open.enter_context(self._open_society()))
        return self._inspector


def _database_state(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Changes whenever anything is committed to the database in the folder."""
    found = []
    for path in sorted(folder.glob("*.db*")):
        with suppress(FileNotFoundError):
            status = path.stat()
            if not path.name.endswith("-shm"):
                found.append((path.name, status.st_size, status.st_mtime_ns))
    return tuple(found)
