"""A data folder as a source: only looked at; what a running game writes is seen soon after.

Whatever reads memories is imported with the first question, in a thread, so that the screen is there before.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from inspect import isawaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noodlings.errors import Forbidden, NoodlingsError, NotFound, StoreError
from noodlings.inspect.questions import AGENTS, Question, V
from noodlings.values.caller import Caller
from studio.source import Action, Sign

if TYPE_CHECKING:
    from noodlings.agent.society import Society
    from noodlings.inspect.inspector import Inspector

EVERY = 1.0
"""Seconds between two looks at whether the folder has changed."""

OpenSociety = Callable[[], AbstractContextManager["Society"]]
Opened = tuple["Inspector", ExitStack]


class LocalSource:
    """The agents in a data folder, read-only.

    Args:
        folder: where they are kept.
        open_society: opens what is kept there for reading.
        caller: who looks.
        note_of: path of the Markdown note of a memory of an agent.
    """

    changeable = False

    def __init__(
        self,
        folder: Path,
        open_society: OpenSociety,
        caller: Caller,
        note_of: Callable[[str, int], Path | None],
    ) -> None:
        self.label = str(folder)
        self._folder = folder
        self._open_society = open_society
        self._caller = caller
        self._note_of = note_of
        self._opening: asyncio.Future[Opened] | None = None

    async def ask(self, question: Question[V], agent: str = "", **how: Any) -> V:
        """See `studio.source.Source`."""
        while True:
            opening = self._opening or self._open()
            try:
                inspector, _ = await asyncio.shield(opening)
            except NoodlingsError:
                if opening is self._opening:
                    self._opening = None  # whoever asks next tries again
                raise
            try:
                return await _answer(inspector, question, self._caller, agent, how)
            except StoreError:
                if opening is self._opening:
                    raise
                # It was let go of in the midst of that, and is opened anew.

    async def act(self, action: Action, agent: str, **how: Any) -> Mapping[str, Any]:
        """A file is only looked at."""
        raise Forbidden(
            "This only reads the folder. To speak or change anything, connect to a running server with --url."
        )

    async def note(self, agent: str, entry: int) -> str:
        """See `studio.source.Source`."""
        path = self._note_of(agent, entry)
        if path is None:
            raise NotFound(
                f"There is no note of memory {entry}; notes.enabled in the settings has them written."
            )
        return await asyncio.to_thread(path.read_text, encoding="utf-8", errors="replace")

    async def happenings(self) -> AsyncIterator[Sign]:
        """One sign for all agents whenever the files have changed; what was read before is then read anew."""
        before = await asyncio.to_thread(_stamp, self._folder)
        while True:
            await asyncio.sleep(EVERY)
            stamp = await asyncio.to_thread(_stamp, self._folder)
            if stamp != before:
                before = stamp
                await self.close()
                yield Sign()

    async def close(self) -> None:
        """Let go of the file; whoever asks after that opens it again."""
        opening, self._opening = self._opening, None
        if opening is not None:
            await asyncio.wait([opening])
            if opening.exception() is None:
                opening.result()[1].close()

    def _open(self) -> asyncio.Future[Opened]:
        self._opening = asyncio.ensure_future(asyncio.to_thread(self._read))
        return self._opening

    def _read(self) -> Opened:
        from noodlings.inspect.inspector import Inspector

        with ExitStack() as opened:
            inspector = Inspector(opened.enter_context(self._open_society()))
            return inspector, opened.pop_all()


async def _answer(
    inspector: Inspector, question: Question[V], caller: Caller, agent: str, how: dict[str, Any]
) -> V:
    method = getattr(inspector, question.name)
    about = () if question is AGENTS else (agent,)
    view: V = method(caller, *about, **question.values(how))
    return await view if isawaitable(view) else view


def _stamp(folder: Path) -> tuple[tuple[str, int, int], ...]:
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
