"""What all agents of a society share, from the appraiser to the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from noodlings.affect.game_rules import GameRules
from noodlings.config import ContextSettings, MemorySettings
from noodlings.embed.queue import EmbeddingQueue
from noodlings.mind.appetites import DriveTable
from noodlings.ports import (
    ActionChooser,
    Clock,
    FeelingModel,
    Notes,
    PersonalDatum,
    Repository,
    Symbolist,
    Voice,
)
from noodlings.values.audience import Tier
from noodlings.values.caller import Names
from noodlings.values.percept import Kind
from noodlings.values.trace import TurnEvent

Watcher = Callable[[TurnEvent], None]
"""Is told what an agent does, in the midst of it."""


class TextAppraiser(Protocol):
    """Text to affect."""

    def appraise(self, text: str, *, addressed: bool = False, vector: Any = None, layers: Any = None) -> Any:
        """An appraisal with `affect`, `confidence` and `by`."""

    def let_go(self) -> None:
        """Keep nothing of any text: something was forgotten."""


@dataclass(frozen=True, slots=True)
class AgentServices:
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
        heard: text that was just heard → what it means, in numbers.
        names: user id → shown name, of everybody who is known.
        characters: ids of all who are characters.
        rules: what events of a game do.
        drives: what appetites do.
        images: makes metaphors without a model.
        action_rule: chooses actions without a model.
        action_model: chooses them with one, or None without.
        symbolist: makes them with one, or None without.
        memory, context: settings.
        fused: a model takes in all lenses in one call; else there is a call for each.
        ruminate: characters have thoughts of their own.
        reach: the highest tier that may be told to a model.
        tiers: the lowest tier that a kind of percept gets.
        patience: real seconds that one turn may take with a model.
        watchers: whoever is told what agents do.
        personal: finds personal data in what is perceived; None where nobody looks for it.
        mask_personal: what is found is not remembered; else it is confined to who was there.
        forgettings: agent id → how often it forgot something since the program began.
    """

    clock: Clock
    appraiser: TextAppraiser
    heard: EmbeddingQueue
    store: Repository
    offline: Voice
    names: Callable[[], Names]
    characters: Callable[[], Collection[str]]
    rules: GameRules
    drives: DriveTable
    memory: MemorySettings
    context: ContextSettings
    images: Symbolist
    action_rule: ActionChooser
    loud: Collection[str] = ()
    voice: Voice | None = None
    feeling_model: FeelingModel | None = None
    action_model: ActionChooser | None = None
    notes: Notes | None = None
    symbolist: Symbolist | None = None
    fused: bool = True
    ruminate: bool = True
    reach: Tier = Tier.SECRET
    tiers: Mapping[Kind, int] = field(default_factory=dict)
    patience: float = 10.0
    watchers: list[Watcher] = field(default_factory=list)
    personal: Callable[[str], Sequence[PersonalDatum]] | None = None
    mask_personal: bool = False
    forgettings: Counter[str] = field(default_factory=Counter)
