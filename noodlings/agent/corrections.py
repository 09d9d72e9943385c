"""Corrections: what people change in a memory after the fact. Forget, pin, weigh; one module for every window.

Who may: an admin everything; anybody may have forgotten what they themselves told an agent; nobody else
anything. Pins and weights can be taken back for a while; forgetting cannot, because nothing is left to give back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from noodlings.agent.agent import Agent
from noodlings.errors import Forbidden, NotFound, UserError
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import MemoryEntry
from noodlings.values.percept import Kind

if TYPE_CHECKING:
    from noodlings.agent.society import Society

UNDO_SECONDS = 600.0
"""World time for which a pin or a weight can be taken back."""
UNDO_STEPS = 20
PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Correction:
    """A change that can be taken back: the entry before it, what was done in words, and when (world time)."""

    before: MemoryEntry
    what: str
    at: float


class Corrections:
    """Changes to the memories of one society."""

    def __init__(self, society: Society) -> None:
        self._society = society
        self._done: dict[str, deque[Correction]] = {}

    def forget(self, caller: Caller, name: str, entry_ids: Iterable[int]) -> int:
        """Delete entries for good, wherever anything of them is kept. Returns how many.

        Raises:
            NotFound: one does not exist; nothing was forgotten.
            Forbidden: one is not the caller's; nothing was forgotten.
        """
        agent = self._society.find(name)
        entries = self._entries(agent, caller, entry_ids)
        for entry in entries:
            if not (caller.role is Role.ADMIN or _is_own(caller, entry)):
                raise _none(agent, entry.id)
        return self._forget(agent, caller, [entry.id for entry in entries])

    def forget_user(self, caller: Caller, name: str, user_id: str) -> int:
        """Delete everything from one user, the whole archive through. Returns how many entries."""
        agent = self._society.find(name)
        if caller.role is not Role.ADMIN and user_id != caller.user_id:
            raise Forbidden("You may only have forgotten what you yourself told a character.")
        ids: list[int] = []
        page = self._society.store.archive(agent.id, limit=PAGE)
        while page:
            ids += [entry.id for entry in page if entry.user_id == user_id]
            page = self._society.store.archive(agent.id, after_id=page[-1].id, limit=PAGE)
        return self._forget(agent, caller, ids)

    def pin(self, caller: Caller, name: str, entry_id: int, pinned: bool = True) -> MemoryEntry:
        """Hold an entry in episodic memory, or let it go again."""
        caller.require_admin("pin a memory")
        agent = self._society.find(name)
        (before,) = self._entries(agent, caller, [entry_id])
        after = agent.memory.pin(before, pinned)
        return self._kept(agent, before, after, "pinned" if pinned else "unpinned")

    def set_importance(self, caller: Caller, name: str, entry_id: int, value: float | None) -> MemoryEntry:
        """Set an importance by hand, 0…1, or with None give the word back to the value at encoding."""
        caller.require_admin("set an importance")
        agent = self._society.find(name)
        (before,) = self._entries(agent, caller, [entry_id])
        after = agent.memory.set_importance(before, value)
        return self._kept(agent, before, after, "weighed")

    def undo(self, caller: Caller, name: str) -> tuple[MemoryEntry, str]:
        """Take back the last pin or weight of an agent: the entry as it is again, and what was taken back."""
        caller.require_admin("take a correction back")
        agent = self._society.find(name)
        done = self._done.get(agent.id, deque())
        if not done or self._society.clock.now() - done[-1].at > UNDO_SECONDS:
            raise UserError(
                f"There is nothing to take back for {agent.persona.name}: pins and weights can be taken back"
                f" for {UNDO_SECONDS / 60:.0f} minutes, and what was forgotten is gone."
            )
        last = done.pop()
        (now,) = self._entries(agent, caller, [last.before.id])
        return agent.revert(now, last.before), last.what

    def _forget(self, agent: Agent, caller: Caller, ids: list[int]) -> int:
        if ids:
            agent.forget(ids, caller.user_id, self._society.clock.now())
            gone = set(ids)
            done = self._done.get(agent.id, deque())
            self._done[agent.id] = deque(
                (step for step in done if step.before.id not in gone), maxlen=UNDO_STEPS
            )
        return len(ids)

    def _kept(self, agent: Agent, before: MemoryEntry, after: MemoryEntry, what: str) -> MemoryEntry:
        agent.keep()
        done = self._done.setdefault(agent.id, deque(maxlen=UNDO_STEPS))
        done.append(Correction(before, what, self._society.clock.now()))
        return after

    def _entries(self, agent: Agent, caller: Caller, ids: Iterable[int]) -> list[MemoryEntry]:
        """The entries, from mind or archive, in the order asked. Raises `NotFound` for the first missing."""
        wanted = list(dict.fromkeys(ids))
        found = self._society.store.entries(agent.id, wanted)
        for entry_id in wanted:
            if entry_id not in found:
                raise _none(agent, entry_id)
        return [agent.memory.find(entry_id) or found[entry_id] for entry_id in wanted]


def _is_own(caller: Caller, entry: MemoryEntry) -> bool:
    return entry.user_id == caller.user_id and entry.kind is not Kind.THOUGHT


def _none(agent: Agent, entry_id: int) -> NotFound:
    """The same words for what does not exist and for what is not the caller's: ids tell nobody anything."""
    return NotFound(f"{agent.persona.name} has no memory {entry_id} that you could change.")
