"""Stand-ins that several tests share: small, deterministic, held to the same contracts as the real."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, KeysView, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.errors import NotFound
from noodlings.memory.change_journal import ChangeJournal
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.subconscious import SubconsciousMemory
from noodlings.ports import Allowance, Changes, Speech, Understood, Utterance
from noodlings.scheduling import FairScheduler, LongAnswers
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.audience import Audience
from noodlings.values.memory import ImportanceParts, MemoryEntry
from noodlings.values.model_status import NO_MODEL, ModelStatus
from noodlings.values.percept import Percept, audience_of
from noodlings.values.persona import APPETITES, TRAITS, Persona
from noodlings.values.trace import Trace


def drained(journal: ChangeJournal) -> Changes:
    """What is pending in a journal, which is empty afterwards."""
    changes = journal.changes()
    journal.clear()
    return changes


class HashingEmbedder:
    """An `Embedder` of words alone: texts are near when they share words. 64 numbers, no model."""

    name = "hashing-64"
    dimensions = 64

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Each word adds its own fixed random direction; an empty text is one word of its own."""
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            words = re.findall(r"\w+", text.lower()) or [""]
            seeds = (crc32(word.encode("utf-8", "replace")) for word in words)
            total = sum(np.random.default_rng(seed).normal(size=self.dimensions) for seed in seeds)
            vectors[row] = total / np.linalg.norm(total)
        return vectors


class LayeredHashingEmbedder(HashingEmbedder):
    """Tells something beside the vector, from one pass; keeps how and of what it was asked."""

    def __init__(self) -> None:
        self.passes: list[tuple[str, list[str]]] = []

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """See `HashingEmbedder`."""
        self.passes.append(("embed", list(texts)))
        return super().embed(texts)

    def read(self, texts: Sequence[str]) -> list[Understood]:
        """Beside the vector, the length of the text."""
        self.passes.append(("read", list(texts)))
        lengths = np.array([[len(text)] for text in texts], dtype=np.float32)
        return [Understood(*both) for both in zip(super().embed(texts), lengths, strict=True)]


def make_persona(name: str, **changes: object) -> Persona:
    """A persona of no particular character, called `name`; its id is the name in lower case."""
    fields: dict[str, object] = {
        "id": name.lower(),
        "name": name,
        "species": "noodling",
        "description": f"{name} looks back at you.",
        "identity": f"You are {name}.",
        "personality": dict.fromkeys(TRAITS, 0.5),
        "appetites": dict.fromkeys(APPETITES, 0.5),
    }
    return Persona(**(fields | changes))  # type: ignore[arg-type]


def witnessed(entry: MemoryEntry, ids: Audience | Collection[str] = ()) -> MemoryEntry:
    """The entry as an agent keeps it: of a whisper or a thought only its witnesses may learn."""
    audience = ids if isinstance(ids, Audience) else Audience(frozenset(ids))
    return replace(entry, audience=audience_of(entry.kind, entry.user_id, audience))


class SlowVoice:
    """A model that is `asked`, and answers when its `gate` lets it."""

    name = "llm"

    def __init__(self) -> None:
        self.asked, self.gate = asyncio.Event(), asyncio.Event()

    async def speak(self, utterance: Utterance, allowance: Allowance) -> Speech:
        self.asked.set()
        await self.gate.wait()
        return Speech("A model speaks.")


class ScriptedMinds:
    """The minds of a world without an agent behind them.

    `answer(agent_id, percept)` gives the words or None; what was perceived is kept, in order, in `heard`.
    """

    def __init__(self, answer: Callable[[str, Percept], str | None] = lambda agent_id, percept: None) -> None:
        self.answer = answer
        self.heard: list[tuple[str, Percept]] = []
        self.idle_acts: list[str | None] = []

    async def perceive(self, agent_id: str, percept: Percept) -> Trace:
        """A finished turn with the scripted words."""
        self.heard.append((agent_id, percept))
        return self.trace(agent_id, percept, self.answer(agent_id, percept))

    def trace(self, agent_id: str, percept: Percept, response: str | None) -> Trace:
        """A turn with these words."""
        return Trace(
            agent_id=agent_id,
            entry_id=len(self.heard),
            timestamp=percept.timestamp,
            affect=NEUTRAL,
            appraised_by="given",
            mood=NEUTRAL,
            surprise=0.0,
            importance=0.0,
            parts=ImportanceParts(),
            response=response,
        )

    async def idle(self, agent_id: str, now: float) -> str | None:
        """The next of `idle_acts`, round and round."""
        if not self.idle_acts:
            return None
        self.idle_acts.append(self.idle_acts.pop(0))
        return self.idle_acts[-1]

    def texts(self, agent_id: str) -> list[str]:
        """What one agent perceived, as words."""
        return [percept.text for who, percept in self.heard if who == agent_id]


class ScriptedSymbolist:
    """A `Symbolist` that numbers its images, or gives those it is told; what it was asked is in `asked`."""

    name = "scripted"

    def __init__(self, *images: str) -> None:
        self.images = list(images)
        self.asked: list[tuple[str, Affect, tuple[str, ...]]] = []

    async def imagine(self, event: str, affect: Affect, avoid: Sequence[str], allowance: Allowance) -> str:
        """The next image."""
        self.asked.append((event, affect, tuple(avoid)))
        allowance.calls += 1
        return self.images.pop(0) if self.images else f"image {len(self.asked)}"


@dataclass
class FakeAgent:
    """The part of an agent that one can look at."""

    persona: Persona = field(default_factory=lambda: make_persona("Phi"))
    memory: HierarchicalMemory = field(default_factory=HierarchicalMemory)
    subconscious: SubconsciousMemory = field(default_factory=SubconsciousMemory)
    mood: Affect = NEUTRAL
    affect: Affect = NEUTRAL
    forgettings: int = 0
    archive: object = None


@dataclass
class FakeArchive:
    """The reading half of a `Store`, over lists."""

    kept: dict[str, dict[int, MemoryEntry]] = field(default_factory=dict)
    turns: dict[str, list[Trace]] = field(default_factory=dict)

    def traces(self, agent_id: str, limit: int = 1, before: int | None = None) -> list[Trace]:
        """As in `Store`."""
        newest_first = sorted(self.turns.get(agent_id, ()), key=lambda trace: -trace.entry_id)
        return [trace for trace in newest_first if before is None or trace.entry_id < before][:limit]

    def told_by(self, agent_id: str, user_id: str) -> list[int]:
        """As in `Store`."""
        kept = self.kept.get(agent_id, {})
        return sorted(entry_id for entry_id, entry in kept.items() if entry.user_id == user_id)

    def entries(self, agent_id: str, ids: Sequence[int]) -> dict[int, MemoryEntry]:
        """As in `Store`."""
        kept = self.kept.get(agent_id, {})
        return {entry_id: kept[entry_id] for entry_id in ids if entry_id in kept}


class FakeAgents(dict[str, FakeAgent]):
    """All of them in memory."""

    @property
    def at_hand(self) -> KeysView[str]:
        """As in `AgentRegistry`."""
        return self.keys()


@dataclass
class FakeSociety:
    """The part of a society that one can look at."""

    agents: FakeAgents = field(default_factory=FakeAgents)
    people: dict[str, str] = field(default_factory=dict)
    store: FakeArchive = field(default_factory=FakeArchive)
    clock: ManualClock = field(default_factory=ManualClock)
    settings: Settings = field(default_factory=Settings)
    model_status: ModelStatus = NO_MODEL
    readers: FairScheduler = field(default_factory=FairScheduler)
    long_answers: LongAnswers = field(default_factory=LongAnswers)

    def add(self, agent: FakeAgent) -> FakeAgent:
        """Let an agent live here."""
        self.agents[agent.persona.id] = agent
        return agent

    @property
    def personas(self) -> dict[str, Persona]:
        """As in `Society`."""
        return {agent_id: agent.persona for agent_id, agent in self.agents.items()}

    def names(self) -> dict[str, str]:
        """As in `Society`."""
        return self.people | {agent_id: agent.persona.name for agent_id, agent in self.agents.items()}

    def find(self, name: str) -> FakeAgent:
        """As in `Society`."""
        for agent_id, agent in self.agents.items():
            if name.casefold() in (agent_id, agent.persona.name.casefold()):
                return agent
        raise NotFound(f"There is nobody called {name}; there are {', '.join(self.agents)}.")

    async def with_agents(self, step: Callable[[], Awaitable[Any]]) -> Any:
        """As in `Society`, where nobody else has any."""
        return await step()


class HandTimer:
    """Real time that a test lets pass; use within a running event loop."""

    def __init__(self) -> None:
        self._now = 0.0
        self._asleep: list[tuple[float, asyncio.Future[None]]] = []
        self._changed = asyncio.Event()

    def now(self) -> float:
        """Seconds that only ever rise."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Wait until the test has let so much time pass."""
        until = asyncio.get_running_loop().create_future()
        mine = (self._now + seconds, until)
        self._asleep.append(mine)
        self._changed.set()
        try:
            await until
        finally:
            self._asleep.remove(mine)

    async def somebody_sleeps(self, seconds: float) -> None:
        """Wait until somebody waits for just so long from now."""
        while not any(abs(end - self._now - seconds) < 1e-6 for end, _ in self._asleep):
            self._changed.clear()
            await self._changed.wait()

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._now += seconds
        for end, until in self._asleep:
            if end <= self._now + 1e-9 and not until.done():
                until.set_result(None)


ALL_CIRCUMSTANCES: dict[str, Any] = {
    "when": {"begins": 896745600.0, "duration": 3600.0, "certainty": "estimated", "words": "that summer"},
    "where": "the mill",
    "distance": 300.0,
    "emotions": [
        {"who": "user_bob", "emotion": "fear", "known_from": "seen", "evidence": "he shook"},
        {"who": "Ada", "emotion": "joy", "known_from": "told", "evidence": "she told Bob so"},
        {"who": "Ada", "emotion": "relief", "known_from": "inferred"},
    ],
    "inferences": ["Bob hides something", "the mill is old"],
    "goals": ["find Ada"],
    "task": "the harvest",
    "source_id": "log#12",
}
"""Every part that circumstances can have, as JSON: on 2 June 1998."""
