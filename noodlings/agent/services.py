"""What all agents of a society share, from the appraiser to the store."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from noodlings.affect.appraisal import Appraiser
from noodlings.affect.game_rules import GameRules
from noodlings.config import ContextSettings, MemorySettings
from noodlings.embed.queue import EmbeddingQueue
from noodlings.mind.appetites import DriveTable
from noodlings.ports import (
    ActionChooser,
    Clock,
    FactReader,
    FeelingModel,
    JournalWriter,
    Notes,
    PersonalDatum,
    Repository,
    Symbolist,
    Voice,
)
from noodlings.values.audience import Tier
from noodlings.values.caller import Names
from noodlings.values.memory import MemoryEntry
from noodlings.values.percept import Kind
from noodlings.values.trace import TurnEvent

Watcher = Callable[[TurnEvent], None]
"""Is called in the middle of a turn with what an agent does."""


@dataclass(frozen=True, slots=True)
class AgentServices:
    """What all agents of a society share. The model ports are None without a model.

    Attributes:
        notes: copies of the store for people to read, or None.
        loud: ids of those who always write in capitals.
        feeling_model: refines what was felt before a reply.
        fact_reader: understands facts about people from what they told.
        journal_writer: words the journals of past days.
        heard: embeds what was just heard.
        names: user id → shown name, of everybody who is known.
        characters: ids of all characters.
        images: makes symbols without a model.
        action_rule: chooses actions without a model.
        fused: whether a model takes all lenses in one call, rather than in a call for each.
        ruminate: whether characters have thoughts of their own.
        reach: the highest tier that a model may be told; `Tier.SECRET` at most.
        tiers: the lowest tier of each kind of percept.
        patience: real seconds that a turn may take with a model.
        personal: finds personal data in a percept; None to look for none.
        mask_personal: replace personal data, rather than confine it to those present.
        forgettings: agent id → how often it forgot something since the program began.
    """

    clock: Clock
    appraiser: Appraiser
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
    fact_reader: FactReader | None = None
    journal_writer: JournalWriter | None = None
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

    async def archive_pages(
        self, agent_id: str, size: int, after: int = -1
    ) -> AsyncIterator[list[MemoryEntry]]:
        """The archive of an agent after an id, in its order and as it is by then; others run in between."""
        while page := self.store.archive(agent_id, after, size):
            yield page
            after = page[-1].id
            await asyncio.sleep(0)
