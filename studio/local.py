"""A data folder as a source. It is only read, and sees changes that a running game writes.

The modules that read memories are imported with the first question, in a thread, so the screen appears first.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, ExitStack
from inspect import isawaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noodlings.errors import NoodlingsError, NotFound, StoreError
from noodlings.inspect.questions import AGENTS, Question, V
from noodlings.values.caller import Caller
from studio.source import ReadOnlySource, SourceEvent

if TYPE_CHECKING:
    from noodlings.agent.society import Society
    from noodlings.inspect.inspector import Inspector

POLL_SECONDS = 1.0

Opened = tuple["Inspector", ExitStack]


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
        self._opening: asyncio.Task[Opened] | None = None

    async def ask(self, question: Question[V], agent: str = "", **arguments: Any) -> V:
        while True:
            if self._opening is None:
                self._opening = asyncio.create_task(asyncio.to_thread(self._open))
            opening = self._opening
            try:
                inspector, _ = await asyncio.shield(opening)
            except NoodlingsError:
                if opening is self._opening:
                    self._opening = None  # the next question tries again
                raise
            try:
                method = getattr(inspector, question.name)
                about = () if question is AGENTS else (agent,)
                view: V = method(self._caller, *about, **question.values(arguments))
                return await view if isawaitable(view) else view
            except StoreError:
                if opening is self._opening:
                    raise
                # The folder was closed meanwhile; open it again.

    async def note(self, agent: str, entry: int) -> str:
        path = self._note_path(agent, entry)
        if path is None:
            raise NotFound(
                f"There is no note of memory {entry}; notes.enabled in the settings has them written."
            )
        return await asyncio.to_thread(path.read_text, encoding="utf-8", errors="replace")

    async def events(self) -> AsyncIterator[SourceEvent]:
        """One event for all agents whenever the files have changed. The folder is then opened again."""
        before = await asyncio.to_thread(_database_state, self._folder)
        while True:
            await asyncio.sleep(POLL_SECONDS)
            state = await asyncio.to_thread(_database_state, self._folder)
            if state != before:
                before = state
                await self.close()
                yield SourceEvent()

    async def close(self) -> None:
        """Close the folder. The next question opens it again."""
        opening, self._opening = self._opening, None
        if opening is not None:
            await asyncio.wait([opening])
            if opening.exception() is None:
                opening.result()[1].close()

    def _open(self) -> Opened:
        from noodlings.inspect.inspector import Inspector

        with ExitStack() as opened:
            inspector = Inspector(opened.enter_context(self._open_society()))
            return inspector, opened.pop_all()


def _database_state(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Changes whenever anything is committed to the database in the folder."""
    found = []
    for path in sorted(folder.glob("*.db*")):
        try:
            status = path.stat()
        except FileNotFoundError:
            continue
        if not path.name.endswith("-shm"):
            found.append((path.name, status.st_size, status.st_mtime_ns))
    return tuple(found)
