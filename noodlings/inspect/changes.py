"""What a change to an agent's memory came to, the same for a command, the API and a tool."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from noodlings.agent.agent import Agent
from noodlings.agent.night import NightProgress
from noodlings.inspect.views import View
from noodlings.ports import Forgotten
from noodlings.values.memory import Link, MemoryEntry


@dataclass(frozen=True, slots=True)
class Corrected(View):
    """A memory after a correction."""

    agent: str
    id: int
    pinned: bool
    importance: float
    encoded_importance: float
    override_by: str

    @classmethod
    def of(cls, agent: str, entry: MemoryEntry) -> Self:
        return cls(
            agent, entry.id, entry.pinned, entry.importance, entry.encoded_importance, entry.override_by
        )


@dataclass(frozen=True, slots=True)
class Forgot(View):
    """What was forgotten.

    `answers` counts answers that repeated it and were deleted too, for a player only answers to itself;
    `erased` is false while the next start has yet to erase the last traces from the disk.
    """

    agent: str
    forgotten: int
    answers: int
    erased: bool

    @classmethod
    def of(cls, agent: str, forgotten: Forgotten) -> Self:
        return cls(agent, forgotten.count, len(forgotten.redacted), forgotten.erased)


@dataclass(frozen=True, slots=True)
class FactKnown(View):
    """A fact added by hand, and the memory it was stored as."""

    agent: str
    id: int
    about: str


@dataclass(frozen=True, slots=True)
class Reworded(View):
    """A memory with corrected words; `replaces` is the number of the memory with the former ones."""

    agent: str
    id: int
    replaces: int


@dataclass(frozen=True, slots=True)
class LinksRemoved(View):
    """Links between two memories that were removed; `removed` names their types."""

    agent: str
    source: int
    target: int
    removed: tuple[str, ...]

    @classmethod
    def of(cls, agent: str, source: int, target: int, links: Iterable[Link]) -> Self:
        return cls(agent, source, target, tuple(link.type.value for link in links))


@dataclass(frozen=True, slots=True)
class NightView(View):
    """How far a character is with going over what it perceived.

    Attributes:
        new: how many memories came since it last related them with others.
        night: how far it is, or how it last ended.
    """

    agent: str
    new: int
    night: NightProgress

    @classmethod
    def of(cls, agent: Agent) -> Self:
        return cls(agent.id, agent.night.new, agent.night.progress)


@dataclass(frozen=True, slots=True)
class LinkAdded(View):
    """A new link."""

    agent: str
    source: int
    target: int
    strength: float
