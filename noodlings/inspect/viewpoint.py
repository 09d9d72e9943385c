"""One caller looking at one agent at one moment: which entries it may read, and how they appear.

What a caller may read of an agent's memory is decided here and nowhere else. Admins and viewers read
everything. Everybody else reads only what they themselves told or did to the agent: to have stood beside
somebody who spoke is not enough, and the agent's own thoughts are private.

Texts come out as clean single lines. What the caller may not read is only counted.
"""

from __future__ import annotations

import asyncio
import difflib
import math
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, TypeVar

from noodlings.affect.feeling import FAMILIES, family, feeling
from noodlings.errors import Forbidden, NotFound, UserError, there_are
from noodlings.inspect.views import AffectGroupsView, AffectGroupView, EntriesView, EntryView, FeltView, iso
from noodlings.memory.importance import INITIAL_STABILITY
from noodlings.recall.filters import Filters
from noodlings.text import clean, folded, shorten
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.audience import Tier, may_learn
from noodlings.values.caller import Caller, display_name, user_id_of
from noodlings.values.circumstances import NOTHING, Circumstances
from noodlings.values.memory import ImportanceParts, MemoryEntry, Order, circumstances_of, tags_of
from noodlings.values.percept import INNER, Kind

if TYPE_CHECKING:
    from noodlings.agent.agent import Agent
    from noodlings.agent.society import Society


T = TypeVar("T")


def may_read(caller: Caller, entry: MemoryEntry) -> bool:
    """Whether this caller may know the words and the feelings of this entry. Sealed entries have no words."""
    own = entry.user_id == caller.user_id and entry.kind not in INNER
    return caller.sees_all or (own and may_learn(frozenset({caller.user_id}), entry.audience, Tier.SEALED))


def readable_by(caller: Caller, filters: Filters) -> Filters:
    """These filters, narrowed to what `may_read` allows."""
    if caller.sees_all:
        return filters
    kinds = (filters.kinds or frozenset(Kind)) - INNER
    nothing = not kinds or filters.user not in (None, caller.user_id)
    among = frozenset() if nothing else filters.among
    user = caller.user_id
    return replace(filters, user=user, kinds=kinds, among=among, present=frozenset({user}))


def require_all_history(caller: Caller) -> None:
    """Raise `Forbidden` unless this caller may read what others shared with an agent."""
    if not caller.sees_all:
        raise Forbidden("You may only read what you yourself shared with a character; add --user me.")


PAGE = 20
"""Memories read at a time."""
PATIENCE = 0.005
"""Seconds of work after which other tasks have their turn."""
_ASIDE = ThreadPoolExecutor(1, "reading")
"""One thread for all readers: with more of them the event loop would have to wait for each in turn."""
STEPS = 4
"""Steps between 0 and 1 in which a player sees figures that others had a part in."""


class Viewpoint:
    """What one caller sees of one agent now. It is cheap, and made anew for every question.

    Attributes:
        name: of the agent, as shown.
        settings: of the society.
        names: user id → shown name, of everybody who is known.
        store: what is kept of all agents; not all of it is for the caller.
        now: world time.
        characters: ids of all agents.
    """

    def __init__(self, society: Society, agent: Agent, caller: Caller) -> None:
        self.caller = caller
        self.agent = agent
        self.settings = society.settings
        self.persona = agent.persona
        self.archive = agent.archive
        self.agent_id = agent.persona.id
        self.name = clean(agent.persona.name)
        self.store = society.store
        self.names = society.names()
        self.now = society.clock.now()
        self.characters: Collection[str] = society.agents.keys()
        self._readers = society.readers

    @property
    def of_agent(self) -> tuple[str, str]:
        """What every `ViewOfAgent` begins with: the id and the name of the agent."""
        return self.agent_id, self.name

    def may_read(self, entry: MemoryEntry) -> bool:
        return may_read(self.caller, entry)

    def stored(self, ids: Sequence[int]) -> dict[int, MemoryEntry]:
        """Entries of the agent by id. Ask `may_read` about each of them."""
        return self.store.entries(self.agent_id, ids)

    def readable(self, ids: Sequence[int]) -> dict[int, MemoryEntry]:
        """Those of the agent's entries that the caller may read, by id."""
        return {number: entry for number, entry in self.stored(ids).items() if self.may_read(entry)}

    def readable_among(
        self, items: Iterable[T], entry_of: Callable[[T], MemoryEntry | None]
    ) -> tuple[list[T], int]:
        """The items whose entry may be read, in their order, and how many were left out.

        Args:
            entry_of: the entry behind an item. Where it is None, the entry is gone and nobody knows whose it
                was; such an item is only for callers who see everything.
        """
        kept, hidden = [], 0
        for item in items:
            entry = entry_of(item)
            if self.caller.sees_all if entry is None else self.may_read(entry):
                kept.append(item)
            else:
                hidden += 1
        return kept, hidden

    def readable_entries(self, entries: Iterable[MemoryEntry]) -> tuple[list[MemoryEntry], int]:
        """The entries that may be read, in their order, and how many were left out."""
        return self.readable_among(entries, lambda entry: entry)

    def readable_ids(self) -> list[int]:
        """Ids of what the caller may read, oldest first. `may_read` must still be asked about each entry."""
        if self.caller.sees_all:
            return self.store.in_order(self.agent_id, Order.WHEN, falling=False)
        return self.store.told_by(self.agent_id, self.caller.user_id)

    async def read(self, ids: Sequence[int] | None = None) -> AsyncIterator[MemoryEntry]:
        """Those of these memories (None: of all) that the caller may read, in this order, however many there
        are: other tasks run in between."""
        wanted = self.readable_ids() if ids is None else ids
        began = time.perf_counter()
        for at in range(0, len(wanted), PAGE):
            page = wanted[at : at + PAGE]
            entries = self.readable(page)
            for entry_id in page:
                if entry_id in entries:
                    yield entries[entry_id]
                if time.perf_counter() - began > PATIENCE:
                    await self.pause()
                    began = time.perf_counter()

    async def pause(self) -> None:
        """Let others have their turn, among them those who read much at this moment, too."""
        await self._readers.turn(self.caller.user_id)

    async def aside(self, work: Callable[[], T]) -> T:
        """The result of long work that shares nothing with the event loop, which goes on meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(_ASIDE, work)

    def called(self, user_id: str) -> str:
        """The name of somebody as shown."""
        return clean(display_name(user_id, self.names))

    def since(self, timestamp: float) -> float:
        """Seconds since then, at least 0."""
        return max(self.now - timestamp, 0.0)

    def unread(self, read: int) -> int:
        """How many memories the caller may not read, who read so many."""
        return 0 if self.caller.sees_all else max(self.agent.memory.stats().perceived - read, 0)

    def memory(self, entry_id: int) -> MemoryEntry:
        """One entry of the agent.

        Raises:
            NotFound: there is none, or the caller may not read it. The words are the same for both, so that
                ids tell nobody anything.
        """
        entry = self.readable([entry_id]).get(entry_id)
        if entry is None:
            raise NotFound(f"{self.name} has no memory {entry_id} that you could read.")
        return entry

    def figure(self, value: float) -> float:
        """A figure as the caller may see it: with all its digits, or for a player the nearest step.

        What others said has a part in it, and six digits would tell whether somebody said the same.
        """
        return value if self.caller.sees_all else round(value * STEPS) / STEPS

    def least(self, importance: float) -> float:
        """The lowest importance that the caller would see as at least this.

        For a player it is the edge of a step: a player could find out all digits of an importance by asking
        again and again with limits that differ a little.
        """
        if self.caller.sees_all or importance <= 0.0:
            return importance
        return (math.ceil(importance * STEPS) - 0.5) / STEPS

    def apart(self, entry: MemoryEntry) -> MemoryEntry:
        """An entry as the caller may see it: for a player, as if it had never been recalled.

        What others say recalls it, too. Whoever tells a guess would see that somebody confided the same.
        """
        if self.caller.sees_all:
            return entry
        return replace(entry, recall_count=0, last_recalled=None, stability=INITIAL_STABILITY, hindsight={})

    def strength(self, entry: MemoryEntry) -> float:
        """How strongly an entry stands now, 0…1, as the caller may see it."""
        return self.figure(self.agent.memory.strength(self.apart(entry), self.now))

    def weight(self, entry: MemoryEntry) -> tuple[float, int]:
        """Sort key: the most important first, as the caller sees it, and the later one first among equals."""
        return (-self.figure(entry.importance), -entry.id)

    def figures(self, values: Mapping[str, float]) -> dict[str, float]:
        """Named figures as the caller may see them."""
        return {name: self.figure(value) for name, value in values.items()}

    def parts(self, parts: ImportanceParts) -> ImportanceParts:
        """The components of an importance as the caller may see them."""
        return ImportanceParts(**self.figures(asdict(parts)))

    def state(self, affect: Affect) -> FeltView:
        """A feeling that others had a part in, in the steps that the caller may see, and the word for it."""
        seen = affect if self.caller.sees_all else Affect(*map(self.figure, affect.as_list()))
        return FeltView(seen, feeling(affect), family(affect))

    def affect(self) -> Affect:
        """What the agent felt last; for a player, about what this player told or did last."""
        if self.caller.sees_all:
            return self.agent.affect
        own, _ = self.readable_entries(self.in_mind())
        return next((entry.affect for entry in reversed(own) if entry.affect is not None), NEUTRAL)

    def in_mind(self) -> list[MemoryEntry]:
        """Working and episodic memory, each entry once, oldest first. Rights are not checked yet."""
        memory = self.agent.memory
        entries = (*memory.retrieve_episodic(limit=None), *memory.retrieve_working())
        by_id = {entry.id: entry for entry in entries}
        return [by_id[number] for number in sorted(by_id)]

    def entry(self, entry: MemoryEntry) -> EntryView:
        """An entry as it appears now. The caller's right to read it was checked before."""
        answered = entry.override_by == "response"  # else the answer did not raise the importance
        parts = replace(entry.parts, answered=1.0) if answered else entry.parts
        entry = self.apart(entry)
        return EntryView(
            id=entry.id,
            user=entry.user_id,
            name=self.called(entry.user_id),
            text=clean(entry.user_text),
            response=None if entry.response is None else clean(entry.response),
            timestamp=entry.timestamp,
            when=iso(entry.timestamp),
            age=self.since(entry.timestamp),
            affect=entry.affect,
            feeling=feeling(entry.affect),
            family=family(entry.affect),
            surprise=self.figure(entry.surprise),
            importance=self.figure(entry.importance),
            encoded_importance=self.figure(entry.encoded_importance),
            override=None if entry.override is None else self.figure(entry.override),
            override_by=entry.override_by,
            parts=self.parts(parts),
            strength=self.figure(self.agent.memory.strength(entry, self.now)),
            kind=entry.kind.value,
            pinned=entry.pinned,
            recall_count=entry.recall_count,
            private=entry.private,
            intensity=None if entry.affect is None else entry.affect.intensity,
            tags=tuple(sorted(filter(None, map(clean, tags_of(entry))))),
            tier=int(entry.tier),
            source=clean(entry.source),
            weight=self.figure(self.agent.memory.weight(entry)),
            hindsight={reason.value: shift for reason, shift in entry.hindsight.items()},
            circumstances=self._circumstances(entry),
        )

    def _circumstances(self, entry: MemoryEntry) -> Circumstances | None:
        """The circumstances as the caller may see them."""
        given = circumstances_of(entry)
        seen = given if self.caller.sees_all else replace(given, emotions=(), inferences=())
        return None if seen == NOTHING else seen

    def page(
        self,
        view: str,
        entries: Sequence[MemoryEntry],
        limit: int | None,
        offset: int,
        user: str = "",
        least: float | None = None,
    ) -> EntriesView:
        """`limit` readable entries from `offset` on, in the order given.

        Args:
            least: only entries of at least this importance, 0…1, the most important first.
        """
        kept, hidden = self.readable_entries(entries)
        if least is not None:
            kept = sorted((entry for entry in kept if entry.importance >= least), key=self.weight)
        return self.entries(view, cut(kept, limit, offset), offset, len(kept), hidden, user)

    def entries(
        self,
        view: str,
        shown: Iterable[MemoryEntry],
        offset: int,
        total: int,
        hidden: int,
        user: str = "",
    ) -> EntriesView:
        """The view of one page. The caller's right to read the entries was checked before."""
        seen = tuple(map(self.entry, shown))
        hierarchical = self.agent.memory.hierarchical
        return EntriesView(*self.of_agent, view, hierarchical, user, seen, offset, total, hidden)

    def latest_page(
        self, view: str, entries: Sequence[MemoryEntry], limit: int | None, offset: int, user: str = ""
    ) -> EntriesView:
        """A page of entries that are oldest first; the limit and the offset count from the latest."""
        page = self.page(view, entries[::-1], limit, offset, user)
        return replace(page, entries=page.entries[::-1])

    def user(self, who: str) -> str:
        """The id of whoever is meant by an id, a shown name, or "me".

        Raises:
            Forbidden: the caller may not read what that user shared. This is checked before anything is
                looked up, so that nobody learns who else there is.
            NotFound: it is a name, and nobody is called that.
            UserError: several people are.
        """
        wanted = folded(who)
        if wanted in ("me", folded(self.caller.user_id), folded(self.caller.name)):
            return self.caller.user_id
        require_all_history(self.caller)
        users = {entry.user_id for entry in self.in_mind()} | self.names.keys()
        people = {user: display_name(user, self.names) for user in users}
        if who in people:
            return who
        meant = [user for user, name in people.items() if wanted in (folded(user), folded(name))]
        if len(meant) == 1:
            return meant[0]
        if meant:
            raise UserError(f"Several are called {shorten(clean(who), 30)}: {', '.join(sorted(meant)[:5])}.")
        if user_id_of(wanted) == wanted:  # an id: somebody new, who has no history yet
            return clean(who)
        names = sorted({clean(name) for name in people.values()}, key=str.casefold)
        near = difflib.get_close_matches(wanted, [name.casefold() for name in names], n=1, cutoff=0.5)
        known = f"{there_are(names[:10])}." if names else "there are none yet."
        hint = f"did you mean {near[0]}?" if near else known
        raise NotFound(f"{self.name} does not know anybody called {shorten(clean(who), 30)}; {hint}")


def felt(affect: Affect) -> FeltView:
    return FeltView(affect, feeling(affect), family(affect))


def cut(items: Sequence[T], limit: int | None, offset: int = 0) -> Sequence[T]:
    """`limit` items (None: all) from `offset` on. Raises `UserError` for a limit below 1, offset below 0."""
    if limit is not None and limit < 1:
        raise UserError(f"a limit must be at least 1, not {limit}")
    if offset < 0:
        raise UserError(f"an offset must be at least 0, not {offset}")
    return items[offset:] if limit is None else items[offset : offset + limit]


def grouped(viewpoint: Viewpoint, limit: int | None = 3) -> AffectGroupsView:
    """What is in mind, by sort of feeling in the order of `FAMILIES`, without empty ones; of each sort the
    `limit` most important."""
    kept, hidden = viewpoint.readable_entries(sorted(viewpoint.in_mind(), key=viewpoint.weight))
    sorts: dict[str, list[MemoryEntry]] = {sort: [] for sort in FAMILIES}
    for entry in kept:
        sorts[family(entry.affect)].append(entry)
    return AffectGroupsView(
        *viewpoint.of_agent,
        hierarchical=viewpoint.agent.memory.hierarchical,
        groups=tuple(
            AffectGroupView(
                family=sort,
                count=len(entries),
                average_importance=sum(viewpoint.figure(entry.importance) for entry in entries)
                / len(entries),
                entries=tuple(map(viewpoint.entry, cut(entries, limit))),
            )
            for sort, entries in sorts.items()
            if entries
        ),
        total=len(kept),
        hidden=hidden,
    )
