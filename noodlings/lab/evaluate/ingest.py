"""How an evaluation lets an agent live through something, and then asks it.

A listener takes in what it overhears as every agent does: it is appraised, stored, embedded and searchable.
Then its archive is searched as usual, or the listener itself answers. No function here is given an answer, a
piece of evidence or an expected id, so none of these can reach ingestion, search or an agent's mind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from time import perf_counter

from noodlings.agent.archive import AgentArchive
from noodlings.agent.memory_question import subject
from noodlings.agent.recipes import plain_persona
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
"""The one who asks; nobody who was overheard has this id."""
PAUSE = 86_400.0
"""World seconds before each question that a listener answers, so that it belongs to no earlier talk."""
TELLABLE = Filters(present=frozenset({ASKER}))
"""What may come to mind before `ASKER`: everything that is not private, as the listener's thoughts are."""


class Listener:
    """An agent that overhears, says nothing, and can be asked. What it hears is numbered 0, 1, 2, …

    Args:
        society: one that keeps nothing, and has no agent of this name.

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
        """The model that embeds its memories, or "none"."""
        return self._archive.model or "none"

    async def hear(self, percepts: Iterable[Percept], progress: Callable[[], None] = lambda: None) -> None:
        """Perceive all of them, and call `progress` after each.

        Raises:
            NoodlingsError: some part of the mind failed; an evaluation never falls back to less.
        """
        for percept in percepts:
            trace = await self._perceive(replace(percept, depth=OVERHEARD))
            self._numbers[trace.entry_id] = len(self._numbers)
            progress()

    async def answer(self, question: str) -> tuple[list[int], int]:
        """Answer `ASKER` after a `PAUSE`; the question and the answer are remembered. Raises as `hear` does.

        Returns:
            numbers of the percepts that were in mind for the answer, and how many things were in mind in all.
        """
        now = self._clock.now() + PAUSE
        trace = await self._perceive(Percept(ASKER, question, now, addressed=True, audience=OPEN))
        in_mind = [found.entry_id for found in trace.recalled]
        return [self._numbers[entry_id] for entry_id in in_mind if entry_id in self._numbers], len(in_mind)

    def set_aside(self, rule: bool) -> None:
        """Let a search leave out what a question sets aside (the default), or not."""
        self._archive.searcher.sets_aside = rule

    async def vector(self, question: str) -> Vector | None:
        """The vector of a question in its archive; None without an embedder."""
        return await self._archive.vector(subject(question), TELLABLE)

    def ask(
        self, question: str, vector: Vector | None, limit: int, mood: Affect | None = None
    ) -> tuple[list[int], float]:
        """Numbers of the percepts that a default search finds, best first; and its milliseconds.

        Use it before the first `answer`: what is remembered after that has no number.
        """
        started = perf_counter()
        hits = self._archive.searcher.search(
            subject(question), TELLABLE, limit=limit, mood=mood, query_vector=vector
        )
        milliseconds = 1_000.0 * (perf_counter() - started)
        return [self._numbers[hit.entry_id] for hit in hits], milliseconds

    def by_one(self, question: str, vector: Vector | None, limit: int) -> list[int]:
        """Numbers found by one criterion: nearest to the vector or, without one, most words in common."""
        searcher, everything = self._archive.searcher, len(self._archive.searcher.archive)
        if vector is not None:
            found = [entry_id for entry_id, _ in searcher.nearest(vector, everything)]
        else:
            hits = searcher.search(question, TELLABLE, limit=everything)
            hits = sorted(hits, key=lambda hit: -hit.scores["words"] - hit.scores["next_to"])
            found = [hit.entry_id for hit in hits]
        return [self._numbers[entry_id] for entry_id in found if entry_id in self._numbers][:limit]

    async def _perceive(self, percept: Percept) -> Trace:
        self._clock.set(percept.timestamp)
        trace = await self._agent.perceive(percept)
        if trace.degraded:
            raise NoodlingsError("; ".join(trace.degraded))
        return trace
