"""How an evaluation lets an agent live through something and asks it: percepts in, hits out, nothing between.

A listener takes in what it overhears as every agent does: appraised, kept in a store, embedded, searchable in
its archive; and it is asked as everybody asks. The rule that is kept: no function here is handed an answer, a
piece of evidence or an expected id, so none of them can reach ingestion or search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from time import perf_counter

from noodlings.agent.archive import AgentArchive
from noodlings.agent.recipes import plain_persona
from noodlings.agent.recollection import subject
from noodlings.agent.society import Society
from noodlings.clock import ManualClock
from noodlings.errors import NoodlingsError, UserError
from noodlings.recall.filters import Filters
from noodlings.values.affect import Affect
from noodlings.values.memory import Vector
from noodlings.values.percept import Percept

OVERHEARD = 1
"""The depth of a percept in a talk among others: nobody answers it who is not addressed."""

TELLABLE = Filters(present=frozenset({"user_asker"}))
"""What may come to mind before somebody who asks: all but what is private, such as thoughts of its own."""


class Listener:
    """An agent that overhears, says nothing, and can be asked. What it hears is numbered 0, 1, 2, …

    Args:
        society: where it lives; one that keeps nothing.
        clock: the society's.
        name: what it is called; nobody else there is called so.

    Raises:
        UserError: memory is a plain list, which cannot be asked.
    """

    def __init__(self, society: Society, clock: ManualClock, name: str) -> None:
        self._agent = society.create(plain_persona(name))
        if self._agent.archive is None:
            raise UserError("a plain list cannot be asked: set memory.use_hierarchical to true")
        self._archive: AgentArchive = self._agent.archive
        self._clock = clock
        self._numbers: dict[int, int] = {}

    @property
    def embedder(self) -> str:
        """By which model it is embedded, or "none"."""
        return self._archive.model or "none"

    async def hear(self, percepts: Iterable[Percept], progress: Callable[[], None] = lambda: None) -> None:
        """Perceive all of them, and call `progress` after each.

        Raises:
            NoodlingsError: something had to be done without; an evaluation never falls back to less.
        """
        for percept in percepts:
            self._clock.set(percept.timestamp)
            trace = await self._agent.perceive(replace(percept, depth=OVERHEARD))
            if trace.degraded:
                raise NoodlingsError("; ".join(trace.degraded))
            self._numbers[trace.entry_id] = len(self._numbers)
            progress()

    async def vector(self, question: str) -> Vector | None:
        """What a question means to its archive; None without an embedder."""
        return await self._archive.vector(subject(question), TELLABLE)

    def ask(
        self, question: str, vector: Vector | None, limit: int, mood: Affect | None = None
    ) -> tuple[list[int], float]:
        """Numbers of the percepts that a search with all defaults finds, best first; and its milliseconds."""
        started = perf_counter()
        hits = self._archive.searcher.search(
            subject(question), TELLABLE, limit=limit, mood=mood, query_vector=vector
        )
        milliseconds = 1_000.0 * (perf_counter() - started)
        return [self._numbers[hit.entry_id] for hit in hits], milliseconds

    def by_one(self, question: str, vector: Vector | None, limit: int) -> list[int]:
        """The same by one thing alone: the nearest to a vector; without one, what shares most words."""
        searcher, everything = self._archive.searcher, len(self._archive.searcher.archive)
        if vector is not None:
            found = [entry_id for entry_id, _ in searcher.nearest(vector, everything)]
        else:
            hits = searcher.search(question, TELLABLE, limit=everything)
            found = [
                hit.entry_id
                for hit in sorted(hits, key=lambda hit: -hit.scores["words"] - hit.scores["next_to"])
            ]
        return [self._numbers[entry_id] for entry_id in found if entry_id in self._numbers][:limit]
