"""The unit of work: commits what changed in an agent, and updates archive and notes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

from noodlings.agent.services import AgentServices
from noodlings.agent.state import AgentCore
from noodlings.agent.turn import Turn
from noodlings.errors import AgentElsewhere, StoreError
from noodlings.ports import AgentRecord, AgentState, Changes, Forgotten, ReadTraces
from noodlings.text import forget_texts
from noodlings.values.memory import Link, LinkType, MemoryEntry
from noodlings.values.percept import INNER, Kind
from noodlings.values.trace import Trace

_REFLECTED = INNER | {Kind.FACT}
MADE_OF = frozenset({LinkType.REFLECTED, LinkType.UNDERSTOOD, LinkType.UNDERSTOOD_WITH})
"""Types of links from what was made of an entry to that entry."""
ALL_TRACES = 1_000_000
"""More traces than any agent has."""


@dataclass(eq=False)
class UnitOfWork:
    """Everything of one agent that outlives the process.

    Attributes:
        abandoned: whether it keeps nothing any more: the agent was changed elsewhere, and is loaded anew.
        under_way: the turns that are not finished yet.
    """

    core: AgentCore
    services: AgentServices
    _unreadable: bool = False
    abandoned: bool = False
    under_way: list[Turn] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._initial_state = self.core.state()

    def commit(self, trace: Trace | None = None) -> None:
        """Keep what changed, with the trace of a finished turn.

        Raises `StoreError`: nothing was kept, and the agent is back in its stored state.
        """
        self._commit(self.core.state(), trace)

    def commit_memory(self) -> None:
        """Keep what changed in memory, where the state was kept just before or will be in a moment.

        The state is by far the larger part of a commit. Raises `StoreError` as `commit` does.
        """
        self._commit(None, None)

    def commit_told(self, first: Callable[[], None] = lambda: None) -> None:
        """Keep what a source told, after `first`. What fewer may know of than before loses its notes, as if
        it were forgotten, also where none are written now. Raises `StoreError` as `commit` does.
        """
        core, notes = self.core, self.services.notes
        try:
            first()
            private = {entry.id: entry for entry in core.journal.changes().updated if entry.private}
            stored = self.services.store.entries(core.id, sorted(private))
            narrowed = [
                number for number, entry in stored.items() if entry.audience != private[number].audience
            ]
            if notes is None or not narrowed:
                self.commit_memory()
            else:
                notes.forget(core.id, narrowed, self._narrow)
        except StoreError:
            if not self.abandoned:
                self._reload()
            raise

    def _narrow(self) -> Forgotten:
        """Keep it, with nothing deleted."""
        self.commit_memory()
        return Forgotten()

    def commit_percept(self) -> None:
        """Keep a percept that is answered next. Raises `StoreError` as `commit` does.

        A model takes time to answer, so the state is kept too. The offline voice answers within milliseconds;
        a kill in between loses only what the percept did to the mood.
        """
        if self.services.voice is None:
            self.commit_memory()
        else:
            self.commit()

    def _commit(self, state: AgentState | None, trace: Trace | None) -> None:
        changes = self.core.journal.changes(self.core.id, state, trace)
        if self.abandoned:
            raise AgentElsewhere(self.core.id)
        try:
            if self._unreadable:
                raise StoreError(f"the data of {self.core.id} could not be read just now; try again")
            self.services.store.commit(self.core.journal.with_words(changes))
        except AgentElsewhere:
            self.abandoned = True
            raise
        except StoreError:
            self._reload()
            raise
        self.core.journal.clear()
        self._committed(changes)

    def forgot_elsewhere(self) -> None:
        """Another process has forgotten something: keep nothing of what was read before, see `Agent`."""
        forget_texts()
        self.services.appraiser.let_go()
        self.services.heard.let_go()
        self.count_forgetting()
        self.abandoned = True

    def count_forgetting(self, entry_ids: Collection[int] = (), user_ids: Collection[str] = ()) -> None:
        """Let answers under way that may be made of these entries, said by these users, be thought out anew;
        without any, all."""
        self.services.forgettings[self.core.id] += 1
        for turn in self.under_way:
            turn.forgotten.update(entry_ids or {turn.entry.id})
            turn.forgotten_of.update(user_ids)

    def _committed(self, changes: Changes) -> None:
        if self.core.archive is not None:
            self.core.archive.kept(changes)
        if self.services.notes is not None:
            self.services.notes.follow(changes)

    def _reload(self) -> None:
        """Reload what is kept, after a failed commit. If that cannot be read, the next commit fails too."""
        self.core.journal.clear()
        self._unreadable = True
        record = self.services.store.load(self.core.id) or AgentRecord(self._initial_state)
        self.core.restore(record if record.state.data else replace(record, state=self._initial_state))
        self._unreadable = False

    def forget(
        self,
        entry_ids: Sequence[int],
        by_user: str,
        now: float,
        told_by: str = "",
        known: ReadTraces = MappingProxyType({}),
    ) -> Forgotten:
        """Delete entries for good, with what was made of them; see `Agent.forget`."""
        core, store = self.core, self.services.store
        ids = [*entry_ids, *self.corrected_by(entry_ids)]
        ids += self.made_of(ids)
        # The state goes first, so that erasing takes the old one off the disk with the rest.
        forget_texts()
        self.services.appraiser.let_go()
        self.services.heard.let_go()
        game = core.feelings.game
        entries = store.entries(core.id, ids).values()
        core.let_go({entry.timestamp for entry in entries})
        self.commit()
        delete = partial(
            store.forget, core.id, ids, by_user=by_user, timestamp=now, told_by=told_by, known=known
        )
        notes = self.services.notes
        forgotten = delete() if notes is None else notes.forget(core.id, ids, delete)
        # Notes of a game are in every prompt.
        reached = {*ids, *forgotten.redacted} if core.feelings.game == game else ()
        self.count_forgetting(reached, {entry.user_id for entry in entries})
        core.subconscious.forget(ids)
        if core.archive is not None:
            core.archive.forget(ids, forgotten.redacted)
        record = store.load(core.id)
        if record is not None:
            core.recollect(record)
        # The answers that are gone may have lent them words; a journal is made of none.
        if made := self.made_of(forgotten.redacted, _REFLECTED - {Kind.JOURNAL}):
            more = self.forget(made, by_user, now, known=known)
            forgotten = replace(
                forgotten,
                count=forgotten.count + more.count,
                redacted=tuple(sorted({*forgotten.redacted, *more.redacted})),
                erased=forgotten.erased and more.erased,
            )
        return forgotten

    def part_from(self, user_ids: frozenset[str], names: Collection[str]) -> None:
        """Take users out of every audience, and out of what they did; see `Agent.part_from`.

        What was said before them is no longer familiar, and an own line that they heard may come again.

        Whoever uses one of their ids later was not there, and is not told what they were told.
        """
        core, store = self.core, self.services.store
        store.make_nameless(core.id, user_ids, names)
        after, moments = -1, set[float]()
        while page := store.archive(core.id, after):
            after = page[-1].id
            changed = tuple(
                replace(entry, audience=entry.audience.without(user_ids))
                for entry in page
                if not user_ids.isdisjoint(entry.audience.witnesses)
            )
            if changed:
                moments.update(entry.timestamp for entry in changed)
                changes = Changes(core.id, updated=changed)
                store.commit(changes)
                self._committed(changes)
        for trace in store.traces(core.id, ALL_TRACES):
            if not user_ids.isdisjoint(trace.audience.witnesses):
                store.commit(
                    Changes(core.id, trace=replace(trace, audience=trace.audience.without(user_ids)))
                )
        core.mind.forget(moments)
        core.prompts.clear()
        others = [line for line in core.said if user_ids.isdisjoint(line.audience.witnesses)]
        core.said.clear()
        core.said.extend(others)
        record = store.load(core.id)
        if record is not None:
            core.recollect(record)
            self.commit()

    def corrected_by(self, entry_ids: Sequence[int]) -> list[int]:
        """What these entries corrected, which has much the same words."""
        store, agent_id = self.services.store, self.core.id
        known, former, newest = set(entry_ids), list[int](), list(entry_ids)
        while newest:
            links = store.links_of(agent_id, newest)
            earlier = [one for one in links if one.type is LinkType.REPLACED and one.source in newest]
            found = store.entries(agent_id, [end for one in earlier for end in (one.source, one.target)])
            newest = [one.target for one in earlier if one.target not in known and _same(one, found)]
            known.update(newest)
            former += newest
        return former

    def made_of(self, entry_ids: Sequence[int], kinds: Collection[Kind] = _REFLECTED) -> list[int]:
        """Thoughts about these entries, what a model made of them (facts, sentences of a journal), and what
        was made of those, as far as it is of these kinds."""
        store, agent_id = self.services.store, self.core.id
        known, made, newest = set(entry_ids), list[int](), list(entry_ids)
        while newest:
            links = store.links_of(agent_id, newest)
            about = {link.source for link in links if link.type in MADE_OF} - known
            found = store.entries(agent_id, sorted(about))
            newest = [number for number, entry in found.items() if entry.kind in kinds]
            known.update(newest)
            made += newest
        return made


def _same(link: Link, found: Mapping[int, MemoryEntry]) -> bool:
    """Whether an entry that was replaced is there, and is no fact of another moment."""
    new, old = found.get(link.source), found.get(link.target)
    return old is not None and (
        old.kind is not Kind.FACT or (new is not None and new.timestamp == old.timestamp)
    )
