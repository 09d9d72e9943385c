"""How an evaluation lets an agent live through something and asks it: percepts in, hits out, nothing between.

A listener takes in what it overhears as every agent does: appraised, kept in a store, embedded, searchable in
its archive. That is asked as everybody asks, or the listener itself is asked, and answers. The rule that is
kept: no function here is handed an answer, a piece of evidence or an expected id, so none of them can reach
ingestion, search or an agent's mind.
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
from noodlings.values.audience import OPEN
from noodlings.values.memory import Vector
from noodlings.values.percept import Percept
from noodlings.values.trace import Trace

OVERHEARD = 1
"""The depth of a percept in a talk among others: nobody answers it who is not addressed."""

ASKER = "user_asker"
"""Whoever asks; nobody in what was overheard is called so."""

PAUSE = 86_400.0
"""World seconds before each question that a listener is to answer: it belongs to no talk before it."""

TELLABLE = Filters(present=frozenset({ASKER}))
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
            trace = await self._perceive(replace(percept, depth=OVERHEARD))
            self._numbers[trace.entry_id] = len(self._numbers)
            progress()

    async def answer(self, question: str) -> tuple[list[int], int]:
        """Answer somebody who was never there, a `PAUSE` later; the question and the answer are remembered.

        Returns:
            numbers of the percepts that were in mind for the answer, and how many things were in mind in all.

        Raises:
            NoodlingsError: as for `hear`.
        """
        now = self._clock.now() + PAUSE
        trace = await self._perceive(Percept(ASKER, question, now, addressed=True, audience=OPEN))
        in_mind = [found.entry_id for found in trace.recalled]
        return [self._numbers[entry_id] for entry_id in in_mind if entry_id in self._numbers], len(in_mind)

    def set_aside(self, rule: bool) -> None:
        """Whether its archive leaves out what a question sets aside, as it does unless told otherwise."""
        self._archive.searcher.sets_aside = rule

    async def vector(self, question: str) -> Vector | None:
        """What a question means to its archive; None without an embedder."""
        return await self._archive.vector(subject(question), TELLABLE)

    def ask(
        self, question: str, vector: Vector | None, limit: int, mood: Affect | None = None
    ) -> tuple[list[int], float]:
        """Numbers of the percepts that a search with all defaults finds, best first; and its milliseconds.

        To be asked before the first `answer`: what is remembered since has no number.
        """
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

    async def _perceive(self, percept: Percept) -> Trace:
        self._clock.set(percept.timestamp)
        trace = await self._agent.perceive(percept)
        if trace.degraded:
            raise NoodlingsError("; ".join(trace.degraded))
        return trace
