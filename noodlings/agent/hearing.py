"""Steps 1 to 4 of an event, of one percept after another as they came: understood, taken in, kept.

The rule it keeps: what was handed over is on the disk as soon as it is understood, and also where whoever
handed it over stops waiting before that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from noodlings.agent.faculties import Faculties
from noodlings.agent.inner import Inner
from noodlings.agent.keeping import Keeping
from noodlings.agent.perceiving import take_in, understood
from noodlings.agent.turn import Turn, timed
from noodlings.memory.journal import Journal
from noodlings.values.memory import Vector
from noodlings.values.percept import Percept


class Hearing:
    """How one agent takes in what it perceives.

    Args:
        inner: what the agent is.
        journal: what changed in its memories.
        faculties: what it does it with.
        keeping: where it ends up.
        tell: is told of the turn and the step that is done.
    """

    def __init__(
        self,
        inner: Inner,
        journal: Journal,
        faculties: Faculties,
        keeping: Keeping,
        tell: Callable[[Turn, str], None],
    ) -> None:
        self._inner = inner
        self._journal = journal
        self._with = faculties
        self._keeping = keeping
        self._tell = tell
        self._one_by_one = asyncio.Lock()

    async def hear(self, percept: Percept) -> Turn:
        """Take in a percept, after those that were handed over before it.

        Raises:
            StoreError: it could not be kept.
        """
        milliseconds: dict[str, float] = {}
        try:
            with timed(milliseconds, "embed"):
                async with self._one_by_one:
                    vector = await understood(self._with, percept)
        except asyncio.CancelledError:
            self._keep(percept, None, milliseconds)
            raise
        return self._keep(percept, vector, milliseconds)

    def _keep(self, percept: Percept, vector: Vector | None, milliseconds: dict[str, float]) -> Turn:
        turn = take_in(self._inner, self._journal, self._with, percept, vector, milliseconds)
        if turn.decision.speak:
            with timed(turn.milliseconds, "commit"):
                self._keeping.commit_percept()
        else:
            self._keeping.commit(turn.trace(self._inner.id))
        self._tell(turn, "perceived")
        return turn
