"""Agents with everything real but the model: a store, a clock set by hand, the offline voice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from noodlings.affect.appraisal import Appraiser
from noodlings.affect.game_rules import shipped_rules
from noodlings.agent.agent import Agent
from noodlings.agent.archive import AgentArchive
from noodlings.agent.services import AgentServices
from noodlings.agent.state import AgentCore, Feelings
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.embed.queue import EmbeddingQueue
from noodlings.memory.change_journal import ChangeJournal
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.plain import PlainMemory
from noodlings.memory.subconscious import SubconsciousMemory
from noodlings.mind.appetites import shipped_drives
from noodlings.store.memory import MemoryStore
from noodlings.transistors.chain import load_chain
from noodlings.values.caller import Names
from noodlings.values.persona import TRANSISTORS
from noodlings.voice.choosing import RuleChooser
from noodlings.voice.images import TableOfImages
from noodlings.voice.offline import OfflineVoice
from tests.agent.embedders import Flaky, Still, Time
from tests.fakes import make_persona
from tests.store.records import AGENT

SILENT = dict.fromkeys(TRANSISTORS, 0.0)
"""Gains with which a reply is the plain thought."""


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_000_000.0)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def make_agent(clock, store) -> Callable[..., Agent]:
    """Builds Phi, or whoever is asked for, from what the store holds of them."""
    settings = Settings()

    def make(
        name: str = "Phi",
        windows: tuple[int, int] = (20, 200),
        plain: bool = False,
        gains: dict[str, float] | None = None,
        archive: AgentArchive | None = None,
        **changes: object,
    ) -> Agent:
        services = {
            "clock": clock,
            "appraiser": Appraiser(),
            "heard": EmbeddingQueue(),
            "store": store,
            "offline": OfflineVoice(),
            "characters": lambda: (),
            "names": Names,
            "rules": shipped_rules(),
            "drives": shipped_drives(),
            "memory": settings.memory,
            "context": settings.context,
            "images": TableOfImages(),
            "action_rule": RuleChooser(),
            "ruminate": False,
        } | changes
        journal, persona = ChangeJournal(), make_persona(name, transistors=gains or SILENT)
        core = AgentCore(
            persona,
            PlainMemory(journal=journal) if plain else HierarchicalMemory(*windows, journal=journal),
            SubconsciousMemory(journal=journal),
            journal,
            archive,
            load_chain(persona, Path("transistors")),
            Feelings.of(persona, clock.now()),
        )
        agent = Agent(core, AgentServices(**services))
        record = store.load(agent.id)
        if record is not None:
            agent.restore(record)
        return agent

    return make


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def embedder() -> Flaky:
    return Flaky()


@pytest.fixture
def embedding(embedder: Flaky, time: Time) -> Still:
    """Embeds by words alone, when a test says so."""
    return Still(embedder, local=False, monotonic=time)


@pytest.fixture
def make_archive(store: MemoryStore, embedding: Still) -> Callable[..., AgentArchive]:
    """The archive of Phi as it wakes up."""

    def make(embedding: EmbeddingQueue = embedding) -> AgentArchive:
        record = store.load(AGENT)
        return AgentArchive(AGENT, store, embedding, dict, record.perceived if record else 0)

    return make
