"""Corrections that people make in a memory. Every window uses this module.

An admin may do everything; players may only delete what they told an agent themselves. Pins and importances
can be undone for a while; deletions cannot.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any
from weakref import WeakValueDictionary

from noodlings.agent.agent import Agent
from noodlings.agent.recollection import newer_forms
from noodlings.agent.unit_of_work import MADE_OF
from noodlings.errors import Forbidden, NotFound, StoreError, UserError
from noodlings.ports import Clock, Forgotten, ReadTraces, Repository
from noodlings.recall.filters import EVERYTHING
from noodlings.scheduling import FairScheduler, LongAnswers
from noodlings.text import clean
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import Link, LinkType, MemoryEntry, written_by
from noodlings.values.percept import INNER

UNDO_SECONDS = 600.0
"""World time for which a correction can be undone."""
UNDO_STEPS = 20
"""Corrections of an agent that can be undone, the last one first."""

KNOWING = "write what a character knows of somebody"
LONGEST_CORRECTION = 2_000
"""Characters of corrected words."""
LONGEST_FACT = 160
"""Characters of a hand-written fact; a person card cuts longer ones."""
READ_AT_ONCE = 250
"""Memories that are read in one step: some ten milliseconds, in which nothing else runs."""
FORGOTTEN_AT_ONCE = 400
"""Memories that are forgotten in one step, in which nothing else runs."""
ERASING_REST = 9.0
"""How many times as long as the last erasure took is waited before the next one."""

_CORRECTED = ("pinned", "override", "override_by")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Correction:
    """A change that can be undone.

    Attributes:
        what: what was done, in words ("pinned").
        at: when, world time.
        before: the fields that it changed, as they were.
        was_episodic: whether the entry was in episodic memory then.
        displaced: the entry that had to leave episodic memory for it, or None.
    """

    entry_id: int
    what: str
    at: float
    before: dict[str, Any]
    was_episodic: bool
    displaced: int | None


class Erasures:
    """Erases what was deleted from the disk; who deletes meanwhile shares the next erasure.

    Everybody waits while the database is written anew, which may take a second. So erasures take a tenth of
    the time at most, however much is deleted: whoever deletes waits for the next one, and nobody else does.

    Args:
        monotonic, sleep: a clock in seconds, and what waits for some of them.
    """

    def __init__(
        self,
        store: Repository,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._store, self._monotonic, self._sleep = store, monotonic, sleep
        self._not_before = 0.0
        self._next: asyncio.Task[bool] | None = None

    async def done(self) -> bool:
        """Wait until nothing is left of what was deleted before; False as of `Repository.erase`."""
        if self._next is None or self._next.done():
            self._next = asyncio.create_task(self._erase())
        return await asyncio.shield(self._next)  # the others wait for it, too

    async def _erase(self) -> bool:
        await self._sleep(self._not_before - self._monotonic())
        began = self._monotonic()
        try:
            return self._store.erase()
        except StoreError as error:
            log.warning("what was forgotten is erased from the disk later: %s", error)
            return False
        finally:
            ended = self._monotonic()
            self._not_before = ended + ERASING_REST * (ended - began)


class Corrections:
    """Changes to the memories of one society.

    Args:
        find: `Society.find`.
        long_answers: for how many answers that take long each caller waits.
        admit: raises `UserError` for a user of whom nothing may be kept now.
        before_forgetting: called before anything is forgotten.
    """

    def __init__(
        self,
        find: Callable[[str], Agent],
        store: Repository,
        clock: Clock,
        long_answers: LongAnswers,
        admit: Callable[[str], None] = lambda user_id: None,
        before_forgetting: Callable[[], None] = lambda: None,
    ) -> None:
        self._admit = admit
        self._before_forgetting = before_forgetting
        self._find = find
        self._store = store
        self._clock = clock
        self._long_answers = long_answers
        self._erasures = Erasures(store)
        self._scheduler = FairScheduler()
        self._under_way = set[asyncio.Task[Forgotten]]()
        self._one_at_a_time = WeakValueDictionary[str, asyncio.Lock]()
        """Of each agent that forgets in parts, as all of its turns are read for it."""
        self._done: dict[str, deque[Correction]] = {}

    def own(self, caller: Caller, name: str, entry_ids: Iterable[int]) -> list[MemoryEntry]:
        """The entries that this caller may delete, in the order asked.

        Raises:
            Forbidden: the caller may delete nothing.
            NotFound: one does not exist, or is somebody else's. The words are the same, so that ids reveal
                nothing.
        """
        agent = self._agent_for_deletion(caller, name)
        entries = []
        for entry_id in dict.fromkeys(entry_ids):
            entry = _entry(agent, entry_id)
            if not (caller.role is Role.ADMIN or _is_own(caller, entry)):
                raise _not_found(agent, entry_id)
            entries.append(entry)
        return entries

    async def count_of(self, caller: Caller, name: str, user_id: str) -> int:
        """How many memories, and records that wait to be taken in, `forget_user` would delete.

        Others go on in between, as many memories may be read for it.
        """
        agent, ids = self._told_by(caller, name, user_id)
        count = self._waiting(agent.id, user_id)
        for at in range(0, len(ids), READ_AT_ONCE):
            await self.turn()
            count += len(self._not_by_hand(caller, agent, ids[at : at + READ_AT_ONCE]))
        return count

    def forget(self, caller: Caller, name: str, entry_ids: Iterable[int]) -> Forgotten:
        """Delete entries for good, with everything made of them: all of them or none, see `own`.

        Whoever asks for it over a network waits for a `turn` before, and until it is `erased`, too, after it.

        Players are told only of their own entries and answers: no number shows what others were told.
        """
        return self._forget(caller, name, [entry.id for entry in self.own(caller, name, entry_ids)])

    def forget_user(self, caller: Caller, name: str, user_id: str) -> Forgotten:
        """As `forget`, everything that one user told an agent, in the whole archive, also what waits to be
        taken in; for an admin with facts that were written about them by hand.

        Raises `Forbidden` when that user is not the caller, who is no admin.
        """
        agent, ids = self._told_by(caller, name, user_id)
        return self._forget(caller, name, self._not_by_hand(caller, agent, ids), user_id)

    async def forget_user_in_parts(self, caller: Caller, name: str, user_id: str) -> Forgotten:
        """As `forget_user`, in parts, between which others go on, until it is `erased`.

        Each part is forgotten for good, with everything made of it. It goes on to the end when whoever asked
        is gone. What was forgotten before an error or a kill stays so; the rest is there as before, and goes
        when somebody asks again. An agent does one such thing at a time.

        Raises `Busy` where the caller waits for too many answers that take long.
        """
        work = asyncio.create_task(self._forget_in_parts(caller, name, user_id))
        self._under_way.add(work)
        work.add_done_callback(self._under_way.discard)
        return await asyncio.shield(work)

    async def _forget_in_parts(self, caller: Caller, name: str, user_id: str) -> Forgotten:
        agent, _ = self._told_by(caller, name, user_id)
        done = Forgotten()
        with self._long_answers.admitted(caller.user_id):
            try:
                async with self._one_at_a_time.setdefault(agent.id, asyncio.Lock()):
                    ids = self._store.told_by(agent.id, user_id)
                    known: ReadTraces = {}
                    if len(ids) > FORGOTTEN_AT_ONCE:  # each part looks through all turns
                        known = await asyncio.to_thread(self._store.read_traces, agent.id)
                    # The latest first: what repeats a memory is later, and is not redacted where it is gone.
                    for end in range(len(ids), 0, -FORGOTTEN_AT_ONCE) or (0,):  # what waits goes in any case
                        await self.turn()
                        began = time.monotonic()
                        left = set(self._store.told_by(agent.id, user_id))  # by now
                        some = [one for one in ids[max(end - FORGOTTEN_AT_ONCE, 0) : end] if one in left]
                        some = self._not_by_hand(caller, agent, some)
                        part = self._forget(caller, name, some, user_id, known)
                        redacted = {*done.redacted, *part.redacted}.difference(ids)
                        erased = done.erased and part.erased
                        done = Forgotten(done.count + part.count, tuple(sorted(redacted)), erased)
                        await asyncio.sleep(time.monotonic() - began)  # half of the time is for others
            except StoreError as error:
                what = f"{agent.id} has forgotten only a part of what was told by {user_id}"
                log.warning("%s: %s", what, error)
                raise
            finally:
                done = await self.erased(done)
        return done

    async def turn(self) -> None:
        """Let others go on where much is deleted at the same moment."""
        await self._scheduler.turn()

    async def erased(self, forgotten: Forgotten) -> Forgotten:
        """What was forgotten just now, as soon as no byte of it is on the disk any more; see `Erasures`."""
        if not forgotten.count:
            return forgotten
        return replace(forgotten, erased=await self._erasures.done() and forgotten.erased)

    def pin(self, caller: Caller, name: str, entry_id: int, pinned: bool = True) -> MemoryEntry:
        """Keep an entry in episodic memory, or release it."""
        caller.require_admin("pin a memory")
        what = "pinned" if pinned else "unpinned"
        return self._correct(name, entry_id, what, lambda agent, entry: agent.memory.pin(entry, pinned))

    def set_importance(self, caller: Caller, name: str, entry_id: int, value: float | None) -> MemoryEntry:
        """Set an importance by hand, 0…1, or with None return to the value at encoding.

        Raises `UserError` for an entry that was corrected: it would come to mind again.
        """
        caller.require_admin("set an importance")
        self._require_latest(self._find(name), entry_id)
        return self._correct(
            name,
            entry_id,
            "given an importance",
            lambda agent, entry: agent.memory.set_importance(entry, value),
        )

    async def know(self, caller: Caller, name: str, about: str, text: str) -> MemoryEntry:
        """Add a fact about somebody.

        Raises `UserError` when it is empty or too long, and while that one or the caller is being forgotten.
        """
        caller.require_admin(KNOWING)
        agent, said = self._find(name), clean(text)
        if not 0 < len(said) <= LONGEST_FACT:
            raise UserError(f"A fact must have 1 to {LONGEST_FACT} characters, such as: is allergic to nuts.")
        for user_id in (about, caller.user_id):
            self._admit(user_id)
        return await agent.know(about, said, caller.user_id)

    def link(self, caller: Caller, name: str, from_id: int, to_id: int) -> Link:
        """Link two entries by hand with strength 1, until one of them is forgotten.

        Raises `NotFound` when one does not exist, `UserError` when they are the same.
        """
        caller.require_admin("link memories")
        agent = self._find(name)
        source, target = _entry(agent, from_id).id, _entry(agent, to_id).id
        made = Link(source, target, LinkType.BY_HAND, 1.0, self._clock.now())
        agent.link([made])
        return made

    def unlink(self, caller: Caller, name: str, from_id: int, to_id: int) -> list[Link]:
        """Remove the links between two entries, in either direction. Returns those that are gone.

        What was made of an entry, or has replaced it, stays linked with it, as it is forgotten with it.

        Raises `NotFound` when one does not exist, `UserError` when there is no link that may be removed.
        """
        caller.require_admin("remove a link")
        agent = self._find(name)
        ends = {_entry(agent, from_id).id, _entry(agent, to_id).id}
        between = [
            link
            for link in self._store.links_of(agent.id, sorted(ends))
            if {link.source, link.target} == ends
        ]
        gone = [link for link in between if link.type not in (*MADE_OF, LinkType.REPLACED)]
        if not gone:
            why = "one was made of the other, and is forgotten with it" if between else "they are not linked"
            raise UserError(f"Memories {from_id} and {to_id} have no link that can be removed: {why}.")
        agent.unlink(gone)
        return gone

    def correct(self, caller: Caller, name: str, entry_id: int, text: str) -> MemoryEntry:
        """Give an entry other words; see `Agent.correct`. Returns the new entry.

        Raises `NotFound` when it does not exist, `UserError` when it was corrected before, or the words are
        none, too long or the same.
        """
        caller.require_admin("correct a memory")
        agent, said = self._find(name), clean(text)
        entry = _entry(agent, entry_id)
        if not 0 < len(said) <= LONGEST_CORRECTION:
            raise UserError(f"The corrected words must have 1 to {LONGEST_CORRECTION:,} characters.")
        if said == entry.user_text:
            raise UserError(f"Memory {entry_id} says that already.")
        self._require_latest(agent, entry_id)
        made = agent.correct(entry, said)
        self._drop_steps(agent.id, {entry_id})
        return made

    def undo(self, caller: Caller, name: str) -> tuple[MemoryEntry, str]:
        """Undo the last pin or importance of an agent. Returns the entry, and what was undone."""
        caller.require_admin("undo a correction")
        agent = self._find(name)
        done = self._done.get(agent.id, deque())
        if not done or self._clock.now() - done[-1].at > UNDO_SECONDS:
            raise UserError(
                f"There is nothing to take back for {agent.persona.name}: a pin or an importance can be"
                f" taken back for {UNDO_SECONDS / 60:.0f} minutes, a deletion never."
            )
        last = done[-1]
        entry = agent.memory.revert(
            _entry(agent, last.entry_id),
            last.before,
            was_episodic=last.was_episodic,
            displaced=None if last.displaced is None else agent.entry(last.displaced),
        )
        agent.keep()
        done.pop()
        return entry, last.what

    def _told_by(self, caller: Caller, name: str, user_id: str) -> tuple[Agent, list[int]]:
        """An agent, and the ids of everything from this user, rising. Raises as `forget_user` does."""
        agent = self._agent_for_deletion(caller, name)
        if caller.role is not Role.ADMIN and user_id != caller.user_id:
            raise Forbidden("You can only delete what you told the character yourself: --user me.")
        return agent, self._store.told_by(agent.id, user_id)

    def _not_by_hand(self, caller: Caller, agent: Agent, ids: list[int]) -> list[int]:
        """Those of these ids that are no facts by hand, unless the caller is an admin."""
        if caller.role is Role.ADMIN:
            return ids
        kept = self._store.entries(agent.id, ids)  # without damaged ones, which may go
        return [number for number in ids if number not in kept or not written_by(kept[number])]

    def _forget(
        self,
        caller: Caller,
        name: str,
        ids: list[int],
        told_by: str = "",
        known: ReadTraces = MappingProxyType({}),
    ) -> Forgotten:
        agent = self._find(name)
        waiting = self._waiting(agent.id, told_by)
        if not ids and not waiting:
            return Forgotten()
        self._before_forgetting()
        forgotten = agent.forget(ids, caller.user_id, self._clock.now(), told_by, known)
        self._drop_steps(agent.id, set(ids))
        if caller.role is Role.ADMIN:
            return forgotten
        answered = self._store.entries(agent.id, forgotten.redacted).values()
        own = tuple(entry.id for entry in answered if _is_own(caller, entry))
        return replace(forgotten, count=len(ids) + waiting, redacted=own)

    def _require_latest(self, agent: Agent, entry_id: int) -> None:
        """Raise `UserError` when an entry was corrected or replaced."""
        entry = _entry(agent, entry_id)
        if newer := newer_forms(agent.id, self._store, {entry_id: entry}, EVERYTHING).get(entry_id):
            raise UserError(f"Memory {entry_id} was replaced by {newer}; change that one.")

    def _drop_steps(self, agent_id: str, entry_ids: set[int]) -> None:
        """Let nothing be undone any more that was done to these entries."""
        kept = [step for step in self._done.get(agent_id, ()) if step.entry_id not in entry_ids]
        self._done[agent_id] = deque(kept, maxlen=UNDO_STEPS)

    def _waiting(self, agent_id: str, told_by: str) -> int:
        """How many records of this user wait to be taken in."""
        after, count = ("", ""), 0
        while told_by and (some := self._store.parked(agent_id, after)):
            count += sum(taken.user_id == told_by for taken in some)
            after = some[-1].source, some[-1].id
        return count

    def _correct(
        self, name: str, entry_id: int, what: str, change: Callable[[Agent, MemoryEntry], MemoryEntry]
    ) -> MemoryEntry:
        agent = self._find(name)
        before, members = _entry(agent, entry_id), _episodic(agent)
        after = change(agent, before)
        agent.keep()
        changed = {
            name: getattr(before, name)
            for name in _CORRECTED
            if getattr(before, name) != getattr(after, name)
        }
        if changed:
            left = min(members - _episodic(agent), default=None)
            step = Correction(entry_id, what, self._clock.now(), changed, entry_id in members, left)
            self._done.setdefault(agent.id, deque(maxlen=UNDO_STEPS)).append(step)
        return after

    def _agent_for_deletion(self, caller: Caller, name: str) -> Agent:
        if caller.role not in (Role.ADMIN, Role.PLAYER):
            raise Forbidden("Only a player or an admin may delete memories.")
        return self._find(name)


def _entry(agent: Agent, entry_id: int) -> MemoryEntry:
    entry = agent.entry(entry_id)
    if entry is None:
        raise _not_found(agent, entry_id)
    return entry


def _is_own(caller: Caller, entry: MemoryEntry) -> bool:
    return entry.user_id == caller.user_id and entry.kind not in INNER and not written_by(entry)


def _episodic(agent: Agent) -> set[int]:
    return {entry.id for entry in agent.memory.retrieve_episodic(limit=None)}


def _not_found(agent: Agent, entry_id: int) -> NotFound:
    return NotFound(f"{agent.persona.name} has no memory {entry_id} that you may change.")
