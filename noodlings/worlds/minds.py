"""The way from the world into the minds of its characters: one queue and one task each.

Percepts reach a character in order and one at a time; characters think side by side; handing one over
never waits. What does not fit into a full queue is dropped, and the log says so.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from noodlings.errors import NoodlingsError
from noodlings.text import shorten
from noodlings.values.percept import Percept
from noodlings.values.trace import Trace

log = logging.getLogger(__name__)

CAPACITY = 64
"""Percepts that wait for one character; a slow model falls behind by at most so many."""

Perceive = Callable[[str, Percept], Awaitable[Trace]]
"""Agent id, percept → the finished turn."""
Done = Callable[[str, Percept, Trace | None], None]
"""Agent id, percept, its trace; None when the mind failed."""


class Minds:
    """The minds of all characters of a world. Use within a running event loop."""

    def __init__(self, perceive: Perceive, done: Done, capacity: int = CAPACITY) -> None:
        self._perceive = perceive
        self._done = done
        self._capacity = capacity
        self._queues: dict[str, asyncio.Queue[Percept]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._pending: dict[str, int] = {}
        self._idle = asyncio.Event()
        self._idle.set()

    def hand(self, agent_id: str, percept: Percept) -> bool:
        """Give a character something to perceive. Returns at once; False when it was dropped."""
        queue = self._queue(agent_id)
        try:
            queue.put_nowait(percept)
        except asyncio.QueueFull:
            log.warning(
                "%s cannot keep up: dropped %s from %s: %s",
                agent_id,
                percept.kind,
                percept.user_id,
                shorten(percept.text, 50),
            )
            return False
        self._pending[agent_id] = self._pending.get(agent_id, 0) + 1
        self._idle.clear()
        return True

    def busy(self, agent_id: str) -> bool:
        """Whether the character still has something to perceive or is thinking."""
        return self._pending.get(agent_id, 0) > 0

    async def settle(self) -> None:
        """Wait until nobody has anything left to perceive, whatever their answers led to included."""
        await self._idle.wait()

    async def close(self) -> None:
        """End all minds; whatever still waits is dropped, and the log says how much."""
        for agent_id, left in self._pending.items():
            if left:
                log.warning("%s leaves with %d percepts unheard", agent_id, left)
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._tasks.clear()
        self._queues.clear()
        self._pending.clear()
        self._idle.set()

    def _queue(self, agent_id: str) -> asyncio.Queue[Percept]:
        if agent_id not in self._queues:
            self._queues[agent_id] = asyncio.Queue(self._capacity)
            self._tasks[agent_id] = asyncio.create_task(self._live(agent_id), name=f"mind of {agent_id}")
        return self._queues[agent_id]

    async def _live(self, agent_id: str) -> None:
        queue = self._queues[agent_id]
        while True:
            percept = await queue.get()
            # What follows from the turn is handed on before the turn counts as done, so that `settle`
            # never sees a moment of rest in the middle of a conversation.
            await self._turn(agent_id, percept)
            self._pending[agent_id] -= 1
            if not any(self._pending.values()):
                self._idle.set()

    async def _turn(self, agent_id: str, percept: Percept) -> None:
        """One turn; whatever goes wrong in it ends in the log, and the mind lives on."""
        trace = None
        try:
            trace = await self._perceive(agent_id, percept)
        except NoodlingsError as error:
            log.error("%s lost a percept from %s: %s", agent_id, percept.user_id, error)
        except Exception:
            log.exception("%s lost a percept from %s", agent_id, percept.user_id)
        try:
            self._done(agent_id, percept, trace)
        except Exception:
            log.exception("nobody learnt what %s made of a percept from %s", agent_id, percept.user_id)
