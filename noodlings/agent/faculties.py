"""Faculties: what all agents of a society share, from the appraiser to the store."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Protocol

from noodlings.affect.game_rules import GameRules
from noodlings.agent.meaning import Meaning
from noodlings.config import ContextSettings, MemorySettings
from noodlings.mind.appetites import DriveTable
from noodlings.ports import Clock, FeelingModel, Notes, Records, Voice


class Appraiser(Protocol):
    """Text to affect."""

    def appraise(self, text: str, *, addressed: bool = False, vector: Any = None) -> Any:
        """An appraisal with `affect`, `confidence` and `by`."""


@dataclass(frozen=True, slots=True)
class Faculties:
    """What all agents of a society share.

    Attributes:
        clock: world time.
        appraiser: text → affect.
        store: where turns are kept.
        notes: copies of it for people to read, or None without any.
        offline: the voice that always works.
        loud: ids of those who speak in capitals as others speak in small letters.
        voice: the voice of a model, or None without one.
        feeling_model: refines, before a reply, what was felt; None leaves it as it was.
        meaning: text → vector.
        names: user id → shown name, of everybody who is known.
        rules: what events of a game do.
        drives: what appetites do.
        memory, context: settings.
        seed: same seed, same percepts: same turns.
    """

    clock: Clock
    appraiser: Appraiser
    meaning: Meaning
    store: Records
    offline: Voice
    names: Callable[[], dict[str, str]]
    rules: GameRules
    drives: DriveTable
    memory: MemorySettings
    context: ContextSettings
    loud: Collection[str] = ()
    voice: Voice | None = None
    feeling_model: FeelingModel | None = None
    notes: Notes | None = None
    seed: int = 0
