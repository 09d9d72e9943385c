"""Keeping the notes equal to what is stored: in the background after each commit, or all at once.

- `NoteWriter` makes notes equal to the store, memory by memory. It holds one lock from reading the store to
  writing the file, so that a note never shows what was forgotten meanwhile.
- `NoteSync` hands committed memories to a thread with a bounded queue, each of them once, and removes the
  notes of what is forgotten, here or elsewhere. The thread pauses before every note, so that an event waits
  for one note at most, and a memory that changes several times in a turn is written once. What does not fit,
  fails, or is still waiting when the process is killed is not written.
- Pages (`noodlings.notes.pages`) are made of all that an agent remembers, so they are written some seconds
  after a change, by the same thread, with pauses, and between other notes.
- `rebuild` writes all notes again and removes those of memories that are not stored.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Condition, Lock, Thread
from time import monotonic
from typing import Any, TypeVar, cast

from noodlings.errors import StoreError
from noodlings.notes.note import Note, path_of
from noodlings.notes.notebook import Notebook
from noodlings.notes.pages import paths_of, render_page
from noodlings.ports import Changes, Forgotten, Repository, StoreSnapshot
from noodlings.values.affect import Affect
from noodlings.values.audience import Tier
from noodlings.values.memory import Link, MemoryEntry, Order
from noodlings.values.page import Page

log = logging.getLogger(__name__)

Item = TypeVar("Item")

NOTES_AT_ONCE = 20
"""Notes that are written under one lock: forgetting waits for so many at most."""

MakePages = Callable[[str], Coroutine[Any, Any, Sequence[Page]]]
"""Makes the pages of an agent from what is stored. It awaits nothing but `asyncio.sleep(0)`, and often."""


class NoteWriter:
    """Writes and removes notes. Safe to use from any thread.

    Args:
        repository: what is stored; safe to use from any thread.
        notebook: where the notes are.
        feeling: the word for an affect.
        below: only memories of a tier below this one have notes; the others are encrypted.
        make_pages: makes the pages, or None for none.
        lock: what is held meanwhile, where other processes write to the notebook, too. It raises an `OSError`
            rather than wait for long.
    """

    def __init__(
        self,
        repository: Repository,
        notebook: Notebook,
        feeling: Callable[[Affect | None], str],
        below: Tier = Tier.SECRET,
        lock: AbstractContextManager[object] | None = None,
        make_pages: MakePages | None = None,
    ) -> None:
        self.notebook = notebook
        self._repository = repository
        self._feeling = feeling
        self._below = below
        self._lock = lock or Lock()
        self._make_pages = make_pages
        self._making = Lock()
        self._cited: dict[str, set[int]] = {}  # agent → what its pages rest on, once that is known

    def refresh(
        self, agent_id: str, ids: Collection[int], new: Collection[int] = frozenset()
    ) -> dict[int, Path]:
        """Write the notes of these memories as they are by now.

        Args:
            agent_id: whose.
            ids: memories that may have changed; one that has no note gets none, unless it is in `new`.
            new: which of them get a note in any case.

        A memory that is encrypted has no note, and loses one that it had.

        Returns:
            The notes that were written, by id of the memory. One that is not stored is not among them.

        Raises:
            OSError: a note cannot be written.
            StoreError: the store cannot be read.
        """
        written: dict[int, Path] = {}
        for some in _portions(sorted(ids), NOTES_AT_ONCE):
            with self._lock:
                entries = self._repository.entries(agent_id, some).values()
                if private := {entry.id for entry in entries if entry.private} & self._cited_by(agent_id):
                    self.notebook.discard_pages(agent_id, private)
                encrypted = {entry.id for entry in entries if entry.tier >= self._below}
                if any(self.notebook.holds(agent_id, entry) for entry in entries if entry.id in encrypted):
                    self.notebook.remove(agent_id, encrypted)
                noted = [
                    entry
                    for entry in entries
                    if entry.id not in encrypted and (entry.id in new or self.notebook.holds(agent_id, entry))
                ]
                links = self._links(agent_id, {entry.id for entry in noted})
                for entry in noted:
                    note = Note(agent_id, entry, self._feeling(entry.affect), tuple(links[entry.id]))
                    written[entry.id] = self.notebook.write(note)
        return written

    @property
    def has_encrypted(self) -> bool:
        """Whether more is encrypted than what never had a note, and there are notes."""
        return self._below < Tier.SECRET and bool(self.notebook.files() or self.notebook.pages())

    def prune(self) -> None:
        """Remove the notes of memories that are encrypted by now. Raises as `refresh` does."""
        if self._below == Tier.OPEN:
            with self._lock:
                for path in (*self.notebook.files(), *self.notebook.pages()):
                    self.notebook.discard(path)
            return
        for agent_id in self._repository.agents() if self._below < Tier.SECRET else ():
            self.refresh(agent_id, self.notebook.ids(agent_id))

    def forget(self, agent_id: str, ids: Collection[int], delete: Callable[[], Forgotten]) -> Forgotten:
        """Let memories be deleted by `delete`, and leave nothing of them in any note.

        If we are killed meanwhile, `resume` finds a mark. When notes could not be removed the log says why,
        and the result that not everything is erased.
        """
        links = self._repository.links_of(agent_id, list(ids))
        linked = {end for link in links for end in (link.source, link.target)} - set(ids)
        try:
            self.notebook.mark(agent_id)
        except OSError as error:
            log.warning("a kill while something is forgotten would leave notes of it: %s", error)
        forgotten = delete()
        try:
            with self._lock:
                self.notebook.remove(agent_id, ids)
                self.notebook.discard_pages(agent_id, ids)
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

    def resume(self, agent_id: str) -> bool:
        """Make all notes of an agent anew, and remove those of what is not stored, with its pages.

        For when forgetting was cut off, or was done by a process with a notebook of its own.

        Returns whether pages are to be made anew.
        """
        ids = self.notebook.ids(agent_id)
        self.refresh(agent_id, ids)
        with self._lock:
            gone = {*ids}.difference(self._repository.in_order(agent_id, Order.WHEN, False, among=ids))
            self.notebook.remove(agent_id, gone)
            cited = set[int]().union(*filter(None, self.notebook.pages(agent_id).values()))
            kept = self._repository.in_order(agent_id, Order.WHEN, False, among=sorted(cited))
            self.notebook.discard_pages(agent_id, lost := cited.difference(kept))
            self.notebook.unmark(agent_id)
        return self._make_pages is not None and bool(lost)

    @property
    def with_pages(self) -> list[str]:
        """Ids of agents that there are pages of."""
        return [agent_id for agent_id in self._repository.agents() if self.notebook.pages(agent_id)]

    def write_pages(self, agent_id: str, go_on: Callable[[], bool] = lambda: True) -> set[Path]:
        """Make the pages of an agent anew, and remove those of nobody and of no day.

        A page is written only if all that it rests on is stored by then and open to everybody, and only if it
        says something else than before.

        Args:
            go_on: called between two steps of a few milliseconds; False ends it, with the pages as they were.

        Returns:
            The pages that there are now. Raises as `refresh` does.
        """
        with self._making:
            pages: Sequence[Page] | None = ()
            if self._make_pages is not None and self._below > Tier.OPEN:
                pages = _made(self._make_pages(agent_id), go_on)
            if pages is None:
                return set()
            written = set[Path]()
            for path, page in zip(paths_of(agent_id, pages), pages, strict=True):
                with self._lock:
                    entries = self._repository.entries(agent_id, sorted(page.evidence))
                    if len(entries) < len(page.evidence) or any(one.private for one in entries.values()):
                        continue
                    self._cited_by(agent_id).update(page.evidence)
                    notes = {number: self._note_of(agent_id, entry) for number, entry in entries.items()}
                    self.notebook.write_page(path, render_page(agent_id, page, notes))
                    written.add(self.notebook.folder / path)
            with self._lock:
                for path in self.notebook.pages(agent_id).keys() - written:
                    self.notebook.discard(path)
        return written

    def _cited_by(self, agent_id: str) -> set[int]:
        """The memories that the pages of an agent rest on, or did since they were first looked at."""
        if agent_id not in self._cited:
            pages = self.notebook.pages(agent_id).values()
            self._cited[agent_id] = set[int]().union(*filter(None, pages))
        return self._cited[agent_id]

    def _note_of(self, agent_id: str, entry: MemoryEntry) -> str:
        """The path of the note of a memory without its suffix, "" where it has none."""
        noted = self.notebook.holds(agent_id, entry)
        return path_of(agent_id, entry).with_suffix("").as_posix() if noted else ""

    def _links(self, agent_id: str, ids: Collection[int]) -> dict[int, list[Link]]:
        """The links from and to each of these entries."""
        links: dict[int, list[Link]] = {entry_id: [] for entry_id in ids}
        for link in self._repository.links_of(agent_id, sorted(ids)):
            for end in (link.source, link.target):
                if end in links:
                    links[end].append(link)
        return links


def _made(pages: Coroutine[Any, Any, Sequence[Page]], go_on: Callable[[], bool]) -> Sequence[Page] | None:
    """Let pages be made, step by step. None if they are not to be."""
    try:
        while go_on():
            pages.send(None)
    except StopIteration as made:
        return cast("Sequence[Page]", made.value)
    finally:
        pages.close()
    return None


def _portions(items: Iterable[Item], most: int) -> Iterator[list[Item]]:
    rest = iter(items)
    while some := list(islice(rest, most)):
        yield some


CAPACITY = 100_000
"""Notes that may be due."""
PAUSE = 0.05
"""Real seconds before each note, until the end."""
PATIENCE = 5.0
"""Real seconds that are given at the end to what is still due."""
PAGES_PATIENCE = 1.0
"""The same for pages: those of some thousand memories are made by then."""
EVERY = -1
"""No memory's id: all notes of an agent are due, see `NoteWriter.resume`."""
PAGES_AFTER = 10.0
"""Real seconds between a change and the pages that tell of it, at least."""
PAGES_REST = 9.0
"""After pages no others are made for so many times as long as they took, to leave the processor alone."""


class NoteSync:
    """The port `Notes`, over Markdown files, which a thread writes in the order in which they came to be due.

    The thread begins with the first work, and first removes the notes of what is encrypted by now. The first
    note that is not written is logged as a warning, with the reason; others are not, for when a disk is full
    there are many.

    Args:
        writer: writes the notes. Forgetting that a kill interrupted is finished now.
        enabled: whether notes are written. Those of what is forgotten are removed in any case.
    """

    def __init__(self, writer: NoteWriter, enabled: bool = True) -> None:
        self._writer = writer
        self._enabled = enabled
        self._due: dict[tuple[str, int], bool] = {}  # agent and id → whether it gets a note in any case
        self._pages: dict[str, float] = {}  # agent → when its pages are due
        self._making = ""  # the agent whose pages are being made
        self._end = math.inf  # when that is given up
        self._rested = -math.inf  # when the next may be made
        self._changed = Condition()
        self._closing = False
        self._thread: Thread | None = None
        self._warned = False
        if writer.has_encrypted:
            self._start()
        for agent_id in _unfinished(writer):
            self.forgot_elsewhere(agent_id)

    def follow(self, changes: Changes) -> None:
        if not self._enabled:
            return
        updated = {entry.id for entry in changes.updated}
        known = updated | {entry.id for entry in changes.added}
        # Whatever only left episodic memory has had its note since it came there.
        new = known & {*changes.episodic, *changes.evicted}
        changed = (*changes.links, *changes.unlinked)
        linked = {end for link in changed for end in (link.source, link.target)}
        due = new | updated | linked
        if due:
            self.add(changes.agent_id, due, new)
        if any(not entry.private for entry in (*changes.added, *changes.updated)):
            self.add_pages(changes.agent_id)

    def forget(self, agent_id: str, ids: Sequence[int], delete: Callable[[], Forgotten]) -> Forgotten:
        forgotten = self._writer.forget(agent_id, ids, delete)
        if agent_id in _unfinished(self._writer):  # perhaps another process stood still over the notes
            self.forgot_elsewhere(agent_id)
        if self._enabled:
            self.add_pages(agent_id)
        return forgotten

    def forgot_elsewhere(self, agent_id: str) -> None:
        self.add(agent_id, {EVERY}, ())

    def read(self, agent_id: str, entry_id: int) -> str | None:
        try:
            path = self._writer.notebook.find(agent_id, entry_id)
            return None if path is None else path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"the note of memory {entry_id} cannot be read: {error.strerror}") from None

    def add(self, agent_id: str, ids: Collection[int], new: Collection[int]) -> None:
        """Have the notes of these memories written soon, see `NoteWriter.refresh`. Never waits."""
        with self._changed:
            waits = not self._due  # else it knows that there is work: to wake it would cost an event its turn
            for entry_id in ids:
                key = (agent_id, entry_id)
                if key in self._due or len(self._due) < CAPACITY:
                    self._due[key] = self._due.get(key, False) or entry_id in new
                else:
                    self._warn(f"{CAPACITY:,} are due already")
            if waits:
                self._changed.notify()
        self._start()

    def add_pages(self, agent_id: str) -> None:
        """Have the pages of an agent written in some seconds, however much changes until then."""
        with self._changed:
            if agent_id not in self._pages:
                self._pages[agent_id] = monotonic() + PAGES_AFTER
                self._changed.notify()
        self._start()

    def flush(self) -> None:
        """Write what is due, at once, and all pages, for names may have changed; in its turn due again."""
        with self._changed:
            due = dict(self._due)
            agents = {*self._pages, self._making} - {""}
            end, self._end = self._end, -math.inf
        for key, new in due.items():
            self._write(key, new)
        for agent_id in agents.union(self._writer.with_pages):
            self._attempt(partial(self._writer.write_pages, agent_id))
        self._end = end

    def close(self, patience: float = PATIENCE) -> None:
        """Write what is due, without pauses, for some seconds. A second time it does nothing."""
        with self._changed:
            self._closing = True
            self._end = min(self._end, monotonic() + min(patience, PAGES_PATIENCE))
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(patience)
            if self._thread.is_alive():
                self._warn(f"{len(self._due):,} were still due at the end")
            self._thread = None

    def _start(self) -> None:
        if self._thread is None:
            # A disk that does not answer must not keep the process alive: no note is ever half written.
            self._thread = Thread(target=self._work, name="noodlings-notes", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        self._attempt(self._writer.prune)
        while (write := self._take()) is not None:
            write()

    def _write(self, key: tuple[str, int], new: bool) -> None:
        agent_id, entry_id = key
        if entry_id == EVERY:
            self._attempt(partial(self._resume, agent_id))
        else:
            self._attempt(partial(self._writer.refresh, agent_id, {entry_id}, {entry_id} if new else ()))

    def _write_pages(self, agent_id: str) -> None:
        began = monotonic()
        self._attempt(partial(self._writer.write_pages, agent_id, self._go_on))
        self._making, now = "", monotonic()
        self._rested = now + PAGES_REST * (now - began)

    def _resume(self, agent_id: str) -> None:
        if self._writer.resume(agent_id):
            self.add_pages(agent_id)

    def _take(self) -> Callable[[], None] | None:
        """Writes what is due next, when it is time; None when there is nothing more and never will be."""
        with self._changed:
            while not self._due:
                now = monotonic()
                for agent_id, moment in self._pages.items():
                    if max(moment, self._rested) <= now or self._closing:
                        del self._pages[agent_id]
                        self._making = agent_id
                        return partial(self._write_pages, agent_id)
                if self._closing:
                    return None
                soonest = min(self._pages.values(), default=math.inf)
                self._changed.wait(None if soonest == math.inf else max(soonest, self._rested) - now)
            self._changed.wait_for(lambda: self._closing, PAUSE)
            return partial(self._write, *self._pop())

    def _pop(self) -> tuple[tuple[str, int], bool]:
        key = next(iter(self._due))
        return key, self._due.pop(key)

    def _go_on(self) -> bool:
        """Between two steps of making pages: write the notes that are due, and pause. False near the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._closing, PAUSE)
            due = [self._pop() for _ in range(len(self._due))]
        for key, new in due:
            self._write(key, new)
        return monotonic() < self._end

    def _attempt(self, write: Callable[[], object]) -> None:
        try:
            write()
        except (OSError, StoreError) as error:
            self._warn(str(error))

    def _warn(self, why: str) -> None:
        if not self._warned:
            log.warning(
                "not every note is written (%s); memories are kept all the same, and this writes what is"
                " missing: noodlings notes rebuild",
                why,
            )
        self._warned = True


def _unfinished(writer: NoteWriter) -> list[str]:
    try:
        return writer.notebook.marked()
    except OSError as error:
        log.warning("notes of what was forgotten may still be there: %s", error)
        return []


REBUILT_AT_ONCE = 500
"""Memories that are looked at between two steps of the progress."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """How many notes there are now, how many were removed, and how many memories could not be read."""

    written: int
    removed: int
    left_out: int


def rebuild(kept: StoreSnapshot, writer: NoteWriter, done: Callable[[int], None]) -> Rebuilt:
    """Make all notes anew. Nobody else may write to the data folder meanwhile.

    Args:
        kept: which memories there are.
        writer: writes the notes.
        done: called with the number of memories that were looked at so far.

    Raises:
        StoreError: the notes cannot be written, or the store cannot be read.
    """
    looked_at, written = 0, set[Path]()
    try:
        for agent_id in kept.agents():
            for some in _portions(kept.entries(agent_id), REBUILT_AT_ONCE):
                ids = {known.entry.id for known in some if known.consolidated}
                written.update(writer.refresh(agent_id, ids, ids).values())
                looked_at += len(some)
                done(looked_at)
            written |= writer.write_pages(agent_id)
        # The note of a memory that cannot be read any more may be all that is left of it.
        removed = 0 if kept.left_out else _remove_others(writer.notebook, written)
    except OSError as error:
        raise StoreError(f"the notes cannot be written: {error}") from None
    return Rebuilt(len(written), removed, kept.left_out)


def _remove_others(notebook: Notebook, written: set[Path]) -> int:
    others = [path for path in (*notebook.files(), *notebook.pages()) if path not in written]
    for path in others:
        notebook.discard(path)
    for agent_id in notebook.marked():
        notebook.unmark(agent_id)
    return len(others)
