"""Hands percepts from the world to the minds of its characters, without ever waiting.

A mind takes percepts in at once and in order, answers in its own time, and holds up neither the world nor
another mind. If a mind is too far behind, its percepts are dropped and logged.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable

from noodlings.errors import NoodlingsError, UserError
from noodlings.values.percept import Percept
from noodlings.values.trace import Trace

log = logging.getLogger(__name__)

CAPACITY = 64
"""Unfinished turns of one character, beyond which its percepts are dropped."""

Perceive = Callable[[str, Percept], Awaitable[Trace]]
"""Agent id, percept → the finished turn. It takes the percept in before it first waits for anything, then
bids for the floor, and answers the percepts of one agent in the order in which they came."""
Done = Callable[[str, Percept, Trace | None], None]
"""Agent id, percept, its trace, or None if the mind failed."""


class Minds:
    """The minds of all characters of a world. Use within a running event loop."""

    def __init__(self, perceive: Perceive, done: Done) -> None:
        self._perceive = perceive
        self._done = done
        # Tasks start in the order in which they were made, so percepts are taken in in order. Each has a task
        # of its own: what is queued is lost with the process, and what is taken in is kept.
        self._turns: set[asyncio.Task[None]] = set()
        self._unfinished: Counter[str] = Counter()
        self._at_rest = asyncio.Event()
        self._at_rest.set()

    def hand(self, agent_id: str, percept: Percept) -> bool:
        """Give a character something to perceive. Returns at once; False if it was dropped."""
        if self._unfinished[agent_id] >= CAPACITY:
            # Without the words, of which the log may be the only place that keeps them.
            log.warning("%s cannot keep up: dropped %s from %s", agent_id, percept.kind, percept.user_id)
            if percept.floor is not None:
                percept.floor.drop(agent_id)
            return False
        self._unfinished[agent_id] += 1
        self._at_rest.clear()
        turn = asyncio.create_task(self._turn(agent_id, percept), name=f"turn of {agent_id}")
        self._turns.add(turn)
        turn.add_done_callback(lambda turn: self._finished(agent_id, percept, turn))
        return True

    def busy(self, agent_id: str) -> bool:
        """Whether a turn of the character is unfinished."""
        return self._unfinished[agent_id] > 0

    async def settle(self) -> None:
        """Wait until all turns are finished, also those that answers lead to."""
        await self._at_rest.wait()

    async def close(self) -> None:
        """Cancel and log all unfinished turns."""
        for agent_id, unfinished in self._unfinished.items():
            if unfinished:
                log.warning("%s leaves %d turns unfinished", agent_id, unfinished)
        for turn in self._turns:
            turn.cancel()
        await asyncio.gather(*self._turns, return_exceptions=True)

    async def _turn(self, agent_id: str, percept: Percept) -> None:
        """One turn; errors are logged, and the mind goes on."""
        trace = None
        try:
            trace = await self._perceive(agent_id, percept)
        except UserError as error:  # it was refused, as when everything of somebody is being deleted
            log.info("%s was told nothing: %s", agent_id, error)
            return
        except NoodlingsError as error:
            log.error("%s lost a turn with %s: %s", agent_id, percept.user_id, error)
        except Exception:
            log.exception("%s lost a turn with %s", agent_id, percept.user_id)
        try:
            self._done(agent_id, percept, trace)
        except Exception:
            log.exception("nobody learnt what %s made of a turn with %s", agent_id, percept.user_id)

    def _finished(self, agent_id: str, percept: Percept, turn: asyncio.Task[None]) -> None:
        if percept.floor is not None:  # it has bid, unless it failed or was cancelled
            percept.floor.drop(agent_id)
        # Percepts that follow from a turn are handed on within it, so nothing comes when all are finished.
        self._turns.discard(turn)
        self._unfinished[agent_id] -= 1
        if not self._turns:
            self._at_rest.set()
