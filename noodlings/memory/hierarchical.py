"""HierarchicalMemory: working memory holds the latest, episodic memory holds what matters.

It can be used alone, without an event loop, a disk or a model. Its rules:

- an importance is computed once and never changes; a later value is kept beside it as an override;
- an entry becomes episodic when its importance passes the threshold, and leaves when it is the weakest;
- world time is the latest timestamp seen (see `noodlings.clock.later`), unless a reader brings its own;
- reading changes nothing;
- several threads may call it: only one public method runs at a time, so nobody sees half of a change.
  Anything slow, such as writing a file, is done outside the lock.
"""

from __future__ import annotations

import inspect
import logging
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import wraps
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from noodlings.clock import later
from noodlings.errors import UserError
from noodlings.logs import quoted
from noodlings.memory.change_journal import ChangeJournal
from noodlings.memory.context import DEFAULT_BUDGET, ContextBudget, assemble, recent
from noodlings.memory.encode import encode, read_affect, unit
from noodlings.memory.episodic import EpisodicMemory, TwoStreams
from noodlings.memory.importance import DEFAULT_WEIGHTS, importance, reinforced, strength_of
from noodlings.memory.likeness import DEFAULT_METRIC, metric_of
from noodlings.memory.saved import Saved, SavedEntry, read, write
from noodlings.memory.stream import Stream
from noodlings.values.affect import Affect
from noodlings.values.audience import Audience, Tier, disclosed
from noodlings.values.fact import Tells
from noodlings.values.memory import Hindsight, ImportanceWeights, MemoryEntry, MemoryStats, Recalled
from noodlings.values.percept import Kind, Percept

T = TypeVar("T")

_UNLOCKED = frozenset({"__init__", "__getstate__", "__setstate__"})


def one_at_a_time(but: Collection[str] = ()) -> Callable[[type[T]], type[T]]:
    """Let every public method of a class, own or inherited, hold `self.lock` while it runs, except `but`.

    The lock is reentrant, so that methods may call each other. Private methods are only called by methods
    that hold it already.
    """

    def decorate(cls: type[T]) -> type[T]:
        for name, method in inspect.getmembers(cls, inspect.isfunction):
            public = not name.startswith("_") or name.startswith("__")
            if public and name not in _UNLOCKED and name not in but:
                setattr(cls, name, _locked(method))
        return cls

    return decorate


def _locked(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def locked(self: Any, *args: Any, **named: Any) -> Any:
        with self.lock:
            return method(self, *args, **named)

    return locked


log = logging.getLogger(__name__)


@one_at_a_time(but=("save", "load"))
class HierarchicalMemory:
    """The conscious memory of one agent. Entries that leave it are not deleted. Threads may share it.

    Args:
        working_capacity: how many of the latest entries are in mind, ≥ 1.
        episodic_capacity: how many entries that matter are in mind, ≥ 1.
        surprise_threshold: an importance above this makes an entry episodic, 0…1. Hosts know it by this name,
            although it is compared with the importance.
        metric: how likeness of feeling is measured, see `noodlings.memory.likeness.METRICS`.
        weights: of the components of importance.
        symbol_capacity: how many symbols the agent's subconscious may hold; only shown in the statistics.
        journal: collects what a store has to keep; without one nothing is collected.
        logged_below: the log quotes entries of a tier below this one.
        hindsight: whether important entries come to mind by their weight in hindsight.

    Attributes:
        last_id: the highest id that was ever given, 0 before the first.
        perceived: how many entries there ever were.
        now: world time: the latest timestamp seen, −inf before there was any.
        lock: held by every method while it runs. A thread holds it around calls that belong together, such as
            reading what the journal collected and writing it.
    """

    hierarchical = True

    def __init__(
        self,
        working_capacity: int = 20,
        episodic_capacity: int = 200,
        surprise_threshold: float = 0.3,
        *,
        metric: str = DEFAULT_METRIC,
        weights: ImportanceWeights = DEFAULT_WEIGHTS,
        symbol_capacity: int = 100,
        journal: ChangeJournal | None = None,
        logged_below: Tier = Tier.SECRET,
        hindsight: bool = True,
    ) -> None:
        for name, value in (("working_capacity", working_capacity), ("episodic_capacity", episodic_capacity)):
            if value < 1:
                raise UserError(f"{name} is {value}: it must be at least 1")
        self.lock = RLock()
        self.weights = weights
        self._journal = journal
        self.last_id = self.perceived = 0
        self.now = -math.inf
        # A turn may still hold an entry that is forgotten meanwhile: its response must not bring it back.
        self._forgotten: set[int] = set()
        self.symbol_capacity = symbol_capacity
        threshold, measure = unit(surprise_threshold, "surprise_threshold"), metric_of(metric)
        self._working = Stream(working_capacity, measure)
        self._episodic = EpisodicMemory(episodic_capacity, measure, threshold, hindsight)
        self._streams = TwoStreams(self._working, self._episodic, journal, logged_below)

    # -- writing

    def add(
        self,
        timestamp: float,
        step: int,
        user_id: str,
        user_text: str,
        affect: Any,
        phenomenal_state: Any = None,
        surprise: float = 0.0,
        response: str | None = None,
        identity_salience: float = 0.0,
        *,
        kind: Kind = Kind.SAY,
        addressed: bool = False,
        remember: bool = False,
        significance: float | None = None,
        audience: Audience | Collection[str] = (),
        place: str = "",
        **extra: Any,
    ) -> MemoryEntry:
        """Encode a percept into working memory, and into episodic memory when it matters.

        Args:
            timestamp: world time in seconds since 1970-01-01 UTC, see `noodlings.clock.moment`.
            step: the host's count of percepts; only kept.
            user_id, user_text: who said or did what.
            affect: five numbers (list, numpy or mlx array of shape (5,) or (1, 5)), an `Affect`, or None or
                an empty list where nothing is known.
            phenomenal_state: 40 numbers, a dict of arrays that are 40 together, or None.
            surprise, identity_salience: 0…1.
            response: what the agent answered, when that is already known.
            kind, place: see `Percept`.
            audience: who may learn of it, or only the ids of those who witnessed it. Nobody else ever learns
                of a whisper or a thought.
            addressed: it was said to this agent.
            remember: somebody asked to keep it.
            significance: see `remember`.
            extra: anything else, kept with the entry.

        Raises:
            UserError: a number is NaN, infinite, out of range or of the wrong shape.
        """
        entry = self.remember(
            Percept(
                user_id, user_text, timestamp, kind=kind, addressed=addressed, audience=audience, place=place
            ),
            step=step,
            affect=affect,
            phenomenal_state=phenomenal_state,
            surprise=surprise,
            identity_salience=identity_salience,
            keep=remember,
            significance=significance,
            extra=extra,
        )
        return entry if response is None else self.complete(entry, response)

    def remember(
        self,
        percept: Percept,
        *,
        step: int,
        affect: Any,
        phenomenal_state: Any = None,
        surprise: float = 0.0,
        identity_salience: float = 0.0,
        keep: float = 0.0,
        significance: float | None = None,
        extra: dict[str, Any] | None = None,
        source: str = "",
        tells: Tells | None = None,
    ) -> MemoryEntry:
        """Encode a percept as `add` does.

        Args:
            keep: how far somebody asked to keep it, 0…1; at 1 it never leaves episodic memory.
            significance: how far its words are worth keeping, 0…1; None where nobody appraised them. It
                shrinks with each entry in mind that has the same words.
            extra: kept with the entry; the percept's data by default.
            source: see `MemoryEntry.source`. An entry with a source was not lived: it becomes episodic when
                it matters, but never enters working memory, and world time does not follow it.
            tells: see `MemoryEntry.tells`.
        """
        entry = encode(
            self.last_id + 1,
            self.weights,
            percept,
            step=step,
            affect=affect,
            phenomenal_state=phenomenal_state,
            surprise=surprise,
            identity_salience=identity_salience,
            remember=keep,
            significance=significance,
            repeats=0 if significance is None else self._said_before(percept),
            extra={"data": percept.data} if extra is None else extra,
            source=source,
            tells=tells,
        )
        self.last_id = entry.id
        self.perceived += 1
        if not source:
            self.now = later(self.now, entry.timestamp)
        if self._journal is not None:
            self._journal.added(entry)
        if source:
            self._streams.consolidate(entry, self.now)
        else:
            self._streams.take_in(entry, self.now)
        return entry

    def complete(self, entry: MemoryEntry, response: str, audience: Audience | None = None) -> MemoryEntry:
        """Add the response to an entry. This may raise its importance, once, and so make it episodic.

        `entry` may have left both streams in the meantime; the new value is returned and recorded anyway.

        Args:
            audience: who may learn of it now, if fewer people may know the answer than the entry.
        """
        changes: dict[str, Any] = {"response": response, "audience": audience or entry.audience}
        answered = importance(replace(entry.parts, answered=1.0), self.weights)
        if entry.override is None and answered > entry.encoded_importance:
            changes |= {"override": answered, "override_by": "response"}
        return self._revise(entry, **changes)

    def reinforce(self, recalled: Iterable[int | MemoryEntry], now: float | None = None) -> None:
        """Let entries that were recalled for a response fade more slowly from now on.

        One that matters and had to leave may come back into episodic memory.

        Args:
            recalled: ids of what is in mind, or entries, which may lie in an archive.
        """
        moment = self.now if now is None else now
        for one in recalled:
            entry = self.find(one) if isinstance(one, int) else self.find(one.id) or one
            if entry is not None:
                self._revise(
                    entry,
                    recall_count=entry.recall_count + 1,
                    last_recalled=moment,
                    stability=reinforced(entry.stability, moment - entry.fresh_at),
                )

    def pin(self, entry: MemoryEntry, pinned: bool = True) -> MemoryEntry:
        """Hold an entry in episodic memory, or let it go again. Raises `UserError` when all room is held."""
        if pinned and entry.id not in self._episodic:
            self.require_room()
        return self._revise(entry, pinned=pinned)

    def require_room(self) -> None:
        """Raise `UserError` when nothing more can be pinned, as all room is held."""
        if self._episodic.all_held:
            raise UserError(
                f"all {self._episodic.capacity} places in episodic memory are pinned; unpin something first"
            )

    def limit(self, entry: MemoryEntry, audience: Audience) -> MemoryEntry:
        """Let nobody but this audience learn of an entry."""
        return self._revise(entry, audience=audience)

    def set_importance(self, entry: MemoryEntry, value: float | None) -> MemoryEntry:
        """Set an importance by hand (0…1), or take that back with None. The value at encoding stays."""
        override = None if value is None else unit(value, "importance")
        by = "" if value is None else "hand"
        return self._revise(entry, override=override, override_by=by, hindsight={})  # this is what it weighs

    def look_back(self, entry: MemoryEntry, hindsight: Mapping[Hindsight, float]) -> MemoryEntry:
        """Give an entry these reasons to weigh more or less, in place of those that it had; it stays where it
        is, or where it is not."""
        seen = replace(entry, hindsight=dict(hindsight))
        self._note_revised(seen)
        self._streams.replace(seen)
        return seen

    def revert(
        self,
        entry: MemoryEntry,
        before: Mapping[str, Any],
        *,
        was_episodic: bool,
        displaced: MemoryEntry | None = None,
    ) -> MemoryEntry:
        """Undo a pin, or an importance set by hand.

        Args:
            before: the fields that were changed, as they were.
            was_episodic: whether it was in episodic memory before; if not, it leaves again, unless it
                matters enough by now.
            displaced: the entry that left for it, and comes back if there is room.

        Raises:
            UserError: it was pinned before, but all room is held by now.
        """
        if before.get("pinned"):
            self.pin(entry)
        reverted = self._revise(entry, **before)
        if not was_episodic and entry.id in self._episodic and not self._episodic.admits(reverted):
            self._streams.leave(entry.id)
        if displaced is not None and displaced.id not in self._forgotten:
            self._streams.consolidate(displaced, self.now)
        return reverted

    # -- as a whole: in a file, in a store, beside a host's list

    def save(self, path: str | PathLike[str]) -> None:
        """Write what is in mind to a file, for hosts without a store; see `noodlings.memory.saved.write`."""
        write(self.saved(), Path(path))

    def load(self, path: str | PathLike[str]) -> int:
        """Restore a saved memory; see `noodlings.memory.saved.read`. The journal does not record it.

        Returns how many entries there were. If there is no file yet, it returns 0 and nothing changes.
        """
        saved = read(Path(path))
        if saved is None:
            return 0
        self.take_up(saved)
        return len(saved.entries)

    def saved(self) -> Saved:
        working = {entry.id: entry for entry in self.retrieve_working()}
        episodic = {entry.id: entry for entry in self.retrieve_episodic(limit=None)}
        stats = self.stats()
        entries = (
            SavedEntry(entry, entry.id in working, entry.id in episodic)
            for _, entry in sorted((episodic | working).items())
        )
        return Saved(tuple(entries), stats.perceived, stats.consolidated, self.last_id)

    def take_up(self, saved: Saved) -> None:
        """Restore a memory as it was when it was saved; what was forgotten since stays forgotten."""
        entries = [kept for kept in saved.entries if kept.entry.id not in self._forgotten]
        self.restore(
            [kept.entry for kept in entries if kept.working],
            [kept.entry for kept in entries if kept.episodic],
            max(saved.perceived, len(saved.entries)),
            saved.consolidated,
            saved.last_id,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Without the lock: a copy has its own."""
        return {name: value for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, lock=RLock())

    def set_working(self, entries: Iterable[MemoryEntry]) -> None:
        """Let working memory hold just these entries, the last that fit. The others are not forgotten."""
        self._streams.set_working(entry for entry in entries if entry.id not in self._forgotten)

    def forget(self, entry_ids: Iterable[int]) -> None:
        """Take entries out of both streams and out of the journal, and never let them in again."""
        ids = list(entry_ids)
        self._forgotten.update(ids)
        if self._journal is not None:
            for entry_id in ids:
                self._journal.forgotten(entry_id)
        self._streams.forget(ids)

    def restore(
        self,
        working: Iterable[MemoryEntry],
        episodic: Iterable[MemoryEntry],
        perceived: int,
        consolidated: int,
        last_id: int,
    ) -> None:
        """Replace everything with what was stored of an agent. The journal does not record it."""
        self.perceived, self.last_id, self.now = perceived, last_id, -math.inf
        working, episodic = list(working), list(episodic)
        for entry in sorted([*working, *episodic], key=lambda entry: entry.id):
            if not entry.source:
                self.now = later(self.now, entry.timestamp)
        self._streams.restore(working, episodic, consolidated, self.now)

    def mirror(self, on_change: Callable[[Collection[int] | None], None]) -> None:
        """Call this, in place of what was called before, with the ids of entries whenever they change, enter
        or leave; with None when that may be all of them."""
        self._streams.on_change = on_change

    def is_forgotten(self, entry_id: int) -> bool:
        """Whether an entry was forgotten, and may not come in again."""
        return entry_id in self._forgotten

    def readmit(self, kept: SavedEntry) -> MemoryEntry:
        """Take in an entry that a host kept: episodic if it was, whatever its importance.

        It gets a new id and counts as perceived, but not as consolidated once more.
        """
        entry = replace(kept.entry, id=self.last_id + 1)
        self.last_id = entry.id
        self.perceived += 1
        self.now = later(self.now, entry.timestamp)
        if self._journal is not None:
            self._journal.added(entry)
        self._streams.readmit(entry, kept.episodic, self.now)
        return entry

    def count_at_least(self, perceived: int, consolidated: int) -> None:
        """Continue the counts of a memory that this one continues."""
        self.perceived = max(self.perceived, perceived)
        self._streams.consolidated = max(self._streams.consolidated, consolidated)

    # -- reading

    def find(self, entry_id: int) -> MemoryEntry | None:
        """The entry with this id, from either stream, or None."""
        return self._working.get(entry_id) or self._episodic.get(entry_id)

    @property
    def consolidated(self) -> int:
        """How often an entry became episodic."""
        return self._streams.consolidated

    @property
    def working_memory(self) -> list[MemoryEntry]:
        """`retrieve_working()` under the name of the first bridges."""
        return self.retrieve_working()

    @property
    def episodic_memory(self) -> list[MemoryEntry]:
        """`retrieve_episodic(limit=None)` under the name of the first bridges."""
        return self.retrieve_episodic(limit=None)

    @property
    def working_capacity(self) -> int:
        """How many of the latest entries are in mind."""
        return self._working.capacity

    def is_working(self, entry_id: int) -> bool:
        return entry_id in self._working

    def holds_working(self, entry_ids: Collection[int]) -> bool:
        """Whether working memory holds just these entries."""
        return len(self._working) == len(entry_ids) and all(one in self._working for one in entry_ids)

    def is_episodic(self, entry_id: int) -> bool:
        return entry_id in self._episodic

    def weight(self, entry: MemoryEntry) -> float:
        """By what an important entry comes to mind, 0…1."""
        return entry.weight if self._episodic.hindsight else entry.importance

    def strength(self, entry: MemoryEntry, now: float | None = None) -> float:
        """How strongly an entry stands, 0…1, at world time `now` (by default the latest timestamp seen)."""
        return strength_of(entry, self.now if now is None else now)

    def retrieve_working(self, last_n: int | None = None) -> list[MemoryEntry]:
        """The latest entries, oldest first: all of working memory, or the last `last_n` (0 gives none)."""
        if last_n is not None and last_n < 0:
            raise UserError(f"last_n is {last_n}: it must be at least 0")
        return self._working.entries(self._working.newest(last_n))

    def retrieve_episodic(
        self,
        user_id: str | None = None,
        min_importance: float = 0.0,
        limit: int | None = 10,
        *,
        present: frozenset[str] | None = None,
    ) -> list[MemoryEntry]:
        """Episodic entries, most important first (equal ones: newer first).

        Args:
            user_id: only what this user said or did.
            min_importance: only entries at least this important, 0…1.
            limit: at most this many; None for all.
            present: who will hear of it, see `context`.
        """
        return self._episodic.important(limit, min_importance, user_id, self._episodic.known_to(present))

    def retrieve_by_affect_similarity(
        self, current_affect: Any, top_k: int = 5, min_similarity: float = 0.7
    ) -> list[MemoryEntry]:
        """Episodic entries that felt like `current_affect`, most alike first."""
        return self._episodic.alike(Affect.of(current_affect), top_k, min_similarity)

    def recall_by_affect(
        self,
        current_affect: Any,
        top_k: int = 5,
        min_similarity: float = 0.7,
        *,
        present: frozenset[str] | None = None,
    ) -> list[Recalled]:
        """The same, each with the likeness as its score; `present` as in `context`."""
        return self._episodic.recall_alike(
            Affect.of(current_affect), top_k, min_similarity, self._episodic.known_to(present)
        )

    def context(
        self,
        user_id: str | None,
        current_affect: Any,
        budget: ContextBudget = DEFAULT_BUDGET,
        *,
        also: Sequence[Recalled] = (),
        present: frozenset[str] | None = None,
        without: Collection[int] = (),
        min_similarity: float = 0.7,
    ) -> list[Recalled]:
        """What to have in mind when answering, oldest to newest, each with the reason why.

        Args:
            user_id: whose important entries to bring; None for anybody's.
            current_affect: what is felt now, as in `add`; None leaves the affect slots empty.
            also: entries recalled by other means (words, meaning, links).
            present: who will hear the answer; entries that one of them may not learn of are left out. None
                for no limit.
            without: ids to leave out, such as the entry that is being answered.
            min_similarity: how alike a feeling must be, 0…1.
        """
        working, episodic, felt = self._working, self._episodic, read_affect(current_affect)
        rows = working.newest(max(budget.working, budget.total or 0), working.allowed(present, without))
        latest = working.entries(rows)[::-1]
        missing = (budget.total or 0) - len(latest)
        if missing > 0:
            seen = [entry.id for entry in latest]
            rows = episodic.newest(missing, episodic.allowed(present, [*without, *seen]))
            latest += episodic.entries(rows)[::-1]
        taken = [entry.id for entry in latest[: budget.working]]
        allowed = episodic.allowed(present, [*without, *taken])
        important = episodic.recall_important(budget.episodic, user_id, allowed)
        alike = list[Recalled]()
        if felt is not None:
            alike = episodic.recall_alike(felt, budget.affect_similar, min_similarity, allowed)
        known = also if present is None else disclosed(also, present)
        brought = [found for found in known if found.entry.id not in without]
        context = assemble(recent(latest), (brought, important, alike), budget)
        for found in context if log.isEnabledFor(logging.INFO) else ():
            words = quoted(found.entry, self._streams.logged_below)
            log.info(
                "retrieved: %s: %s (importance %.2f, %s)",
                found.entry.user_id, words, found.entry.importance, found.why[0],
            )  # fmt: skip
        return context

    def get_context_for_response(
        self,
        user_id: str | None,
        current_affect: Any,
        working_n: int = 5,
        episodic_n: int = 3,
        affect_similar_n: int = 2,
        total_size: int | None = None,
    ) -> list[MemoryEntry]:
        """The entries of `context`, for hosts that cut and print them: oldest to newest, without duplicates.

        With `total_size` there are exactly that many, as far as memory has them. What was told in private and
        `user_id` does not know is left out; if others listen too, use `context(present=…)`.
        """
        budget = ContextBudget(working_n, episodic_n, affect_similar_n, total_size)
        present = None if user_id is None else frozenset((user_id,))
        return [found.entry for found in self.context(user_id, current_affect, budget, present=present)]

    def stats(self) -> MemoryStats:
        """How full the memory is; `symbols` is filled in by whoever knows the subconscious."""
        importances = self._episodic.importances()
        return MemoryStats(
            hierarchical=self.hierarchical,
            working=len(self._working),
            working_capacity=self._working.capacity,
            episodic=len(self._episodic),
            episodic_capacity=self._episodic.capacity,
            symbols=0,
            symbol_capacity=self.symbol_capacity,
            perceived=self.perceived,
            consolidated=self._streams.consolidated,
            consolidation_rate=self._streams.consolidated / self.perceived if self.perceived else 0.0,
            average_importance=float(importances.mean()) if len(importances) else 0.0,
            pinned=int(self._episodic.pinned.sum()),
        )

    def get_stats(self) -> dict[str, Any]:
        """`stats` as a dict, for hosts."""
        return asdict(self.stats())

    def _revise(self, entry: MemoryEntry, **changes: Any) -> MemoryEntry:
        """Change an entry wherever it is held. A forgotten entry is held nowhere."""
        revised = replace(entry, **changes)
        self._note_revised(revised)
        if entry.id not in self._forgotten:
            self._streams.revise(revised, self.now)
        return revised

    def _said_before(self, percept: Percept) -> int:
        """How many entries in mind have the same words by the same speaker.

        Those of other speakers do not count, because the importance would give them away.
        """
        same = (stream.saying(percept.user_id, percept.text) for stream in (self._working, self._episodic))
        return len(frozenset().union(*same))

    def _note_revised(self, entry: MemoryEntry) -> None:
        if self._journal is not None and entry.id not in self._forgotten:
            self._journal.updated(entry)
