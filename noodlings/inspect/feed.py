"""Turns as they happen, for those who look on: each reader has a bounded queue and sees what it may read.

The rules it keeps: nobody who perceives ever waits for a reader; whoever is too slow loses the oldest and is
told how many; what was forgotten while it waited is not told any more.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from noodlings.inspect.viewpoint import Viewpoint, may_read
from noodlings.inspect.views import View
from noodlings.inspect.why import WhyView, as_seen
from noodlings.values.caller import Caller
from noodlings.values.trace import Trace, TurnEvent

if TYPE_CHECKING:
    from noodlings.agent.agent import Agent
    from noodlings.agent.society import Society

TURN = "turn"
"""The step at which a turn is finished."""
KEPT = 256
"""Turns that are held ready in the words of each sort of reader, so that a hundred readers cost little."""


@dataclass(frozen=True, slots=True)
class TurnEventView(View):
    """A sign of an agent at work.

    Attributes:
        entry: the memory of what it perceives.
        step: "perceived", the steps of a turn as they are done, "thinking" when a reply is late,
            "speech" with each part of a reply as soon as it may be heard, "turn".
        turn: with "turn" the whole of it, else None.
        said: with "speech" one or more whole sentences of the reply.
    """

    agent: str
    name: str
    entry: int
    step: str
    turn: WhyView | None
    said: str = ""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Something that happened, and how often its agent had forgotten something by then.

    It holds the agent, so that whoever reads wakes nobody; a reader holds as many as may wait for it.
    """

    turn_event: TurnEvent
    agent: Agent
    forgettings: int


class FeedReader:
    """Somebody who looks on. Made by `Feed.reading`; use within a running event loop.

    Attributes:
        caller: who.
        agent_id: at which agent; "" for all.
        lost: how much was lost in all because it was too slow.
    """

    def __init__(self, feed: Feed, caller: Caller, agent_id: str, capacity: int) -> None:
        self.caller = caller
        self.agent_id = agent_id
        self.lost = 0
        self._feed = feed
        self._capacity = capacity
        self._waiting: deque[_Waiting] = deque()
        self._untold = 0
        self._there = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    def hand(self, waiting: _Waiting) -> int:
        """One more. Returns how many had to go for it."""
        gone = 0
        if len(self._waiting) >= self._capacity:
            self._waiting.popleft()
            gone = 1
            self.lost += 1
            self._untold += 1
        self._waiting.append(waiting)
        self._there.set()
        return gone

    def take(self) -> tuple[int, TurnEventView] | None:
        """The next thing that happened, and how much was lost before it; None where nothing waits."""
        while self._waiting:
            view = self._feed.seen(self._waiting.popleft(), self.caller)
            if view is not None:
                lost, self._untold = self._untold, 0
                return lost, view
        self._there.clear()
        return None

    async def next(self) -> tuple[int, TurnEventView]:
        """The same, waited for."""
        while (taken := self.take()) is None:
            await self._there.wait()
        return taken


class Feed:
    """What happens in a society, handed to those who look on.

    Args:
        society: what is looked at.
        capacity: how much may wait for one reader, at least 1.
    """

    def __init__(self, society: Society, capacity: int) -> None:
        self._society = society
        self._capacity = capacity
        self._readers: defaultdict[str, set[FeedReader]] = defaultdict(set)
        self._views: OrderedDict[tuple[str, int, str | None, int, str | None], WhyView] = OrderedDict()
        self.lost = 0
        self.close = society.watch(self._happened)

    @property
    def readers(self) -> int:
        """How many look on."""
        return sum(map(len, self._readers.values()))

    @property
    def waiting(self) -> int:
        """How much waits for them."""
        return sum(len(reader) for readers in self._readers.values() for reader in readers)

    @contextmanager
    def reading(self, caller: Caller, agent_id: str = "") -> Iterator[FeedReader]:
        """Look on, at one agent or at all, from now to the end of the block."""
        reader = FeedReader(self, caller, agent_id, self._capacity)
        self._readers[agent_id].add(reader)
        try:
            yield reader
        finally:
            self._readers[agent_id].discard(reader)

    def seen(self, waiting: _Waiting, caller: Caller) -> TurnEventView | None:
        """Something that a caller may read, as it is by now; None when it was forgotten meanwhile."""
        turn_event, agent = waiting.turn_event, waiting.agent
        if agent.forgettings != waiting.forgettings and (
            turn_event.said or agent.entry(turn_event.entry_id) is None  # it may be said of what is forgotten
        ):
            return None
        turn = None
        if turn_event.step == TURN:
            trace = self._trace(waiting)
            if trace is None:
                return None
            turn = self._turn(trace, agent, caller)
        return TurnEventView(
            agent.id, agent.persona.name, turn_event.entry_id, turn_event.step, turn, turn_event.said
        )

    def _trace(self, waiting: _Waiting) -> Trace | None:
        """The trace as it is by now: when something was forgotten, its answer may be gone."""
        turn_event, agent = waiting.turn_event, waiting.agent
        if agent.forgettings == waiting.forgettings:
            return turn_event.trace
        kept = self._society.store.traces(agent.id, 1, turn_event.entry_id + 1)
        return kept[0] if kept and kept[0].entry_id == turn_event.entry_id else None

    def _turn(self, trace: Trace, agent: Agent, caller: Caller) -> WhyView:
        """The turn, made once for all who may read the same."""
        # The words are in it because a turn may be answered once more.
        key = (agent.id, trace.entry_id, trace.response, agent.forgettings, caller.only_user)
        view = self._views.get(key)
        if view is None:
            viewpoint = Viewpoint(self._society, agent, caller)
            view = as_seen(viewpoint, self._society.store, trace, agent.entry(trace.entry_id))
            self._views[key] = view
            if len(self._views) > KEPT:
                self._views.popitem(last=False)
        return view

    def _happened(self, turn_event: TurnEvent) -> None:
        interested = self._readers[""] | self._readers[turn_event.agent_id]
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
