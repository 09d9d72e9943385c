"""Turns as they happen, for onlookers: each reader has a bounded queue and sees what it may read.

No agent ever waits for a reader. A reader that is too slow loses the oldest events and is told how many. What
was forgotten while it waited in a queue is not shown any more.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from noodlings.agent.turn import trace_of
from noodlings.inspect.viewpoint import Viewpoint, may_read
from noodlings.inspect.views import ViewOfAgent
from noodlings.inspect.why import WhyView, as_seen
from noodlings.values.caller import Caller
from noodlings.values.percept import Percept
from noodlings.values.trace import Trace, TurnEvent

if TYPE_CHECKING:
    from noodlings.agent.agent import Agent
    from noodlings.agent.society import Society

TURN = "turn"
"""The step at which a turn is finished."""
KEPT = 256
"""How many views of turns are cached, so that a hundred readers cost little."""


@dataclass(frozen=True, slots=True)
class TurnEventView(ViewOfAgent):
    """A step of an agent's turn.

    Attributes:
        entry: the memory of what it perceives.
        step: "perceived", the steps of a turn as they are done, "thinking" when a reply is late,
            "speech" with each part of a reply as soon as it may be heard, "turn" at the end.
        turn: the whole turn, with "turn"; else None.
        said: with "speech", one or more whole sentences of the reply.
    """

    entry: int
    step: str
    turn: WhyView | None
    said: str = ""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """An event in a queue, and how often its agent had forgotten something by then.

    It holds the agent, so that reading wakes no agent that fell asleep meanwhile.
    """

    turn_event: TurnEvent
    agent: Agent
    forgettings: int


class FeedReader:
    """The queue of one onlooker. Made by `Feed.reading`; use it within a running event loop.

    Attributes:
        agent_id: whose events it reads; "" for all.
    """

    def __init__(self, feed: Feed, caller: Caller, agent_id: str, capacity: int) -> None:
        self.caller, self.agent_id = caller, agent_id
        self._feed = feed
        self._waiting = deque[_Waiting](maxlen=capacity)
        self._untold = 0
        self._there = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    def hand(self, waiting: _Waiting) -> int:
        """Add an event. Returns how many had to be dropped for it, 0 or 1."""
        dropped = int(len(self._waiting) == self._waiting.maxlen)
        self._untold += dropped
        self._waiting.append(waiting)
        self._there.set()
        return dropped

    def take(self) -> tuple[int, TurnEventView] | None:
        """The next event, and how many were lost before it; None if nothing waits."""
        while self._waiting:
            view = self._feed.seen(self._waiting.popleft(), self.caller)
            if view is not None:
                lost, self._untold = self._untold, 0
                return lost, view
        self._there.clear()
        return None

    async def next(self) -> tuple[int, TurnEventView]:
        """Wait for the next event; otherwise as `take`."""
        while (taken := self.take()) is None:
            await self._there.wait()
        return taken


class Feed:
    """Hands the events of a society to its readers.

    Args:
        capacity: how many events may wait for one reader, at least 1.
    """

    def __init__(self, society: Society, capacity: int) -> None:
        self._society = society
        self._capacity = capacity
        self._readers: defaultdict[str, set[FeedReader]] = defaultdict(set)
        self._views: OrderedDict[tuple[str, int, str | None, int, str | None], WhyView] = OrderedDict()
        self.lost = 0
        self._unwatch = society.watch(self._happened), society.watch_elsewhere(self._happened_elsewhere)

    def close(self) -> None:
        for unwatch in self._unwatch:
            unwatch()

    @property
    def readers(self) -> int:
        return sum(map(len, self._readers.values()))

    @property
    def waiting(self) -> int:
        return sum(len(reader) for readers in self._readers.values() for reader in readers)

    @contextmanager
    def reading(self, caller: Caller, agent_id: str = "") -> Iterator[FeedReader]:
        """Read the events of one agent, or of all, from now to the end of the block."""
        reader = FeedReader(self, caller, agent_id, self._capacity)
        self._readers[agent_id].add(reader)
        try:
            yield reader
        finally:
            self._readers[agent_id].discard(reader)

    def seen(self, waiting: _Waiting, caller: Caller) -> TurnEventView | None:
        """An event as it is by now; None if it was forgotten meanwhile."""
        turn_event, agent = waiting.turn_event, waiting.agent
        if agent.abandoned:  # another process changed it, or had something forgotten
            agent = self._society.agents[agent.id]
        if agent.forgettings != waiting.forgettings and (
            turn_event.said or agent.entry(turn_event.entry_id) is None  # the words may be about it
        ):
            return None
        turn = None
        if turn_event.step == TURN:
            trace: Trace | None = turn_event.trace
            if agent.forgettings != waiting.forgettings:  # its answer may have been forgotten
                trace = trace_of(self._society.store, agent.id, turn_event.entry_id)
            if trace is None:
                return None
            turn = self._turn(trace, agent, caller)
        return TurnEventView(
            agent.id, agent.persona.name, turn_event.entry_id, turn_event.step, turn, turn_event.said
        )

    def _turn(self, trace: Trace, agent: Agent, caller: Caller) -> WhyView:
        """The turn, made once for all readers with the same rights."""
        # The response is in the key because a turn may be answered once more.
        key = (agent.id, trace.entry_id, trace.response, agent.forgettings, caller.only_user)
        view = self._views.get(key)
        if view is None:
            viewpoint = Viewpoint(self._society, agent, caller)
            view = as_seen(viewpoint, trace, agent.entry(trace.entry_id))
            self._views[key] = view
            if len(self._views) > KEPT:
                self._views.popitem(last=False)
        return view

    def _happened_elsewhere(self, agent_id: str, entry_id: int) -> None:
        """Another process has finished a turn."""
        if not self._interested(agent_id):
            return
        trace = trace_of(self._society.store, agent_id, entry_id)
        entry = self._society.agents[agent_id].entry(entry_id)
        if trace is not None and entry is not None:
            percept = Percept(entry.user_id, entry.user_text, entry.timestamp, entry.kind)
            self._happened(TurnEvent(agent_id, entry_id, TURN, trace, percept))

    def _interested(self, agent_id: str) -> set[FeedReader]:
        return self._readers[""] | self._readers[agent_id]

    def _happened(self, turn_event: TurnEvent) -> None:
        interested = self._interested(turn_event.agent_id)
        if not interested:
            return
        agent = self._society.agents[turn_event.agent_id]
        entry = agent.entry(turn_event.entry_id)
        if entry is None:
            return
        waiting = _Waiting(turn_event, agent, agent.forgettings)
        for reader in interested:
            if may_read(reader.caller, entry):
                self.lost += reader.hand(waiting)
