"""The one place where the parts are chosen and put together."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from noodlings.affect.appraisal import Appraiser
from noodlings.affect.feeling import feeling
from noodlings.affect.game_rules import GameRules, shipped_rules
from noodlings.agent.agent import Agent
from noodlings.agent.archive import AgentArchive
from noodlings.agent.perceiving import require_keepable, shield
from noodlings.agent.recipe_form import unused
from noodlings.agent.recipes import BUILT_IN, FoundRecipes, find_recipes, kept_persona
from noodlings.agent.services import AgentServices, Watcher
from noodlings.agent.society import Society
from noodlings.agent.state import AgentCore, Feelings
from noodlings.clock import SystemClock
from noodlings.config import Settings
from noodlings.connections import on_this_machine
from noodlings.embed.minilm import MiniLM
from noodlings.embed.openai import OpenAIEmbedder
from noodlings.embed.queue import EmbeddingQueue
from noodlings.errors import LLMError, UserError
from noodlings.inspect.pages import OpenViewpoint, pages_of
from noodlings.memory.change_journal import ChangeJournal
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.plain import CAPACITY, PlainMemory
from noodlings.memory.subconscious import SubconsciousMemory
from noodlings.mind.appetites import shipped_drives
from noodlings.notes.notebook import FOLDER_NAME, Notebook
from noodlings.notes.writer import MakePages, NoteSync, NoteWriter
from noodlings.personal import personal_finder
from noodlings.ports import Allowance, Ask, Clock, Notes, Repository, Voice, WorldStore
from noodlings.store.memory import MemoryStore
from noodlings.store.sql import SqlStore
from noodlings.store.vault import Encryption
from noodlings.text import clean
from noodlings.transistors.chain import FOLDER_NAME as TRANSISTORS
from noodlings.transistors.chain import load_chain
from noodlings.validation import read_table
from noodlings.values.audience import Tier
from noodlings.values.caller import Names
from noodlings.values.page import Page
from noodlings.values.persona import Persona
from noodlings.values.sent_prompt import PromptMessage
from noodlings.voice.choosing import RuleChooser
from noodlings.voice.images import TableOfImages
from noodlings.voice.offline import OfflineVoice
from noodlings.worlds.accounts import Accounts

if TYPE_CHECKING:
    from noodlings.llm.gateway import Gateway

log = logging.getLogger(__name__)

RECIPES = "recipes"
RULES = "game_events.yaml"
NOTES_LOCK_SECONDS = 2.0
"""How long the notes are waited for, where another process writes some."""


def build(
    settings: Settings,
    *,
    clock: Clock | None = None,
    store: Repository | None = None,
    read_only: bool = False,
    shared: bool = False,
) -> Society:
    """The society of a data folder or a database: everybody with a recipe, and who was ever stored.

    A wrong recipe is skipped: `Society.skipped_recipes` and the log say which, and why.

    Args:
        clock: world time; by default the wall clock at the speed of the settings.
        store: where to keep everything instead of the data folder.
        read_only: lock nothing and write nothing.
        shared: be one of several workers that share a database.

    Raises:
        StoreBusy: another process writes to the data folder.
        NoodlingsError: the folder cannot be read.
    """
    folder = settings.data_dir
    hierarchical = settings.memory.use_hierarchical
    repository: Repository = store or SqlStore(
        settings.database,
        settings.store.durability,
        read_only,
        working_capacity=settings.memory_windows.working if hierarchical else CAPACITY,
        encryption=Encryption.of(settings.store),
        shared=shared,
    )
    require_keepable(repository, Tier(max(settings.privacy.tiers.values(), default=Tier.OPEN)))
    gateway = _gateway(settings, repository)
    clock = clock or SystemClock(settings.world.clock_speed, not_before=latest(repository))
    found = read_recipes(folder)
    _log_recipes(found)
    personas = dict(found.personas)
    for agent_id in repository.agents():
        personas.setdefault(agent_id, kept_persona(agent_id))

    def pages(agent_id: str) -> Coroutine[Any, Any, Sequence[Page]]:
        return make_pages(repository, society.personas, society.names(), clock.now(), agent_id)

    notes = None if store or read_only else _notes(settings, repository, shared, pages)
    own_rules = folder / RULES
    embedding, heard = _embedding(settings, read_only)
    watchers: list[Watcher] = []
    services = AgentServices(
        clock=clock,
        appraiser=Appraiser(),
        heard=heard,
        store=repository,
        offline=OfflineVoice(),
        names=lambda: society.names(),
        characters=lambda: society.personas,
        rules=read_table(own_rules, GameRules) if own_rules.is_file() else shipped_rules(),
        drives=shipped_drives(),
        memory=settings.memory,
        context=settings.context,
        images=TableOfImages(),
        action_rule=RuleChooser(),
        notes=notes,
        loud={persona.id for persona in personas.values() if persona.voice.case == "upper"},
        fused=settings.thought.chain == "fused",
        ruminate=settings.thought.ruminate,
        reach=_reach(settings.llm.base_url),
        tiers=settings.privacy.tiers,
        patience=max(settings.llm.timeout_seconds, settings.llm.answer_seconds),
        watchers=watchers,
        personal=None if settings.privacy.personal == "none" else personal_finder(),
        mask_personal=settings.privacy.personal == "mask",
        **_model_ports(settings, gateway),
    )

    births: dict[str, float] = {}

    def make(persona: Persona) -> Agent:
        journal = ChangeJournal()
        memory = _memory(settings, journal)
        record = repository.load(persona.id)
        perceived = record.perceived if record else 0
        archive = None
        if hierarchical:
            archive = AgentArchive(
                persona.id,
                repository,
                embedding,
                society.names,
                perceived,
                settings.retrieval,
                settings.reflection.relationships,
                settings.reflection.hindsight,
            )
        core = AgentCore(
            persona,
            memory,
            SubconsciousMemory(
                settings.memory_windows.subconscious,
                settings.memory.affect_threshold,
                metric=settings.memory.affect_metric,
                journal=journal,
            ),
            journal,
            archive,
            load_chain(persona, folder / TRANSISTORS),
            Feelings.of(persona, births.setdefault(persona.id, clock.now())),
            settings.world.seed,
        )
        agent = Agent(core, services)
        if record is not None:
            agent.restore(record)
        return agent

    accounts = Accounts(folder)
    society = Society(
        make,
        personas.values(),
        clock,
        settings,
        repository,
        gateway,
        notes=notes,
        embedding=embedding,
        watchers=watchers,
        # A client's own task is sent with all that was said in it.
        ask=_asking(gateway, services) if settings.privacy.of_speech <= services.reach else None,
        has_account=accounts.owns,
        account_of=accounts.id_of,
        skipped_recipes=[clean(why) for _, why in found.skipped],
    )
    return society


@asynccontextmanager
async def voice_of(settings: Settings) -> AsyncIterator[Voice]:
    """The voice that characters have under these settings, without a society."""
    gateway = _gateway(settings, MemoryStore())
    try:
        yield _model_ports(settings, gateway).get("voice") or OfflineVoice()
    finally:
        if gateway is not None:
            await gateway.close()


def make_pages(
    repository: Repository, personas: Mapping[str, Persona], names: dict[str, str], now: float, agent_id: str
) -> Coroutine[Any, Any, Sequence[Page]]:
    """What the notes tell of the people and days of an agent. On any thread."""
    persona = personas.get(agent_id) or kept_persona(agent_id)
    return pages_of(OpenViewpoint(repository, persona, Names(dict(names)), now))


def _notes(settings: Settings, repository: Repository, shared: bool, pages: MakePages) -> Notes:
    """The notes beside the database; switched off, they can still be deleted."""
    notebook = Notebook(settings.data_dir / FOLDER_NAME)
    lock = FileLock(settings.data_dir / f"{FOLDER_NAME}.lock", NOTES_LOCK_SECONDS) if shared else None
    written = pages if settings.notes.enabled else None
    writer = NoteWriter(repository, notebook, feeling, settings.store.encrypted_from, lock, written)
    return NoteSync(writer, settings.notes.enabled)


def latest(repository: Repository) -> float:
    """World time of the latest stored turn."""
    agents = repository.agents()
    return max((trace.timestamp for who in agents for trace in repository.traces(who, 1)), default=0.0)


def recipes(folder: Path) -> dict[str, Persona]:
    return read_recipes(folder).personas


def read_recipes(folder: Path) -> FoundRecipes:
    """The shipped recipes and those in the data folder, which may replace them by id."""
    own = folder / RECIPES
    return find_recipes([BUILT_IN, own] if own.is_dir() else [BUILT_IN])


def _log_recipes(found: FoundRecipes) -> None:
    for _, why in found.skipped:
        log.warning("skipped: %s", clean(why))
    for persona in found.personas.values():
        if names := ", ".join(unused(persona.extra)):
            log.info("the recipe of %s has keys that nothing uses: %s", persona.id, names)


def _embedding(settings: Settings, read_only: bool) -> tuple[EmbeddingQueue, EmbeddingQueue]:
    """The queue that embeds memories, and the one that embeds what was just heard, closed with the first.

    An endpoint is too slow for what was just heard, so it embeds memories only.
    """
    if settings.embedding.model == "openai":
        remote, heard = OpenAIEmbedder(settings.embedding), EmbeddingQueue(MiniLM())

        def release() -> None:
            heard.close()
            remote.close()

        reach = _reach(settings.embedding.base_url)
        return EmbeddingQueue(remote, local=False, idle=read_only, release=release, reach=reach), heard
    embedder = None if settings.embedding.model == "none" else MiniLM()
    both = EmbeddingQueue(embedder, idle=read_only)
    return both, both


def _reach(url: str) -> Tier:
    """The highest tier that may go to an endpoint: nothing secret leaves this machine."""
    return Tier.SECRET if on_this_machine(url) else Tier.CONFINED


def _memory(settings: Settings, journal: ChangeJournal) -> HierarchicalMemory:
    windows, memory = settings.memory_windows, settings.memory
    if not memory.use_hierarchical:
        return PlainMemory(journal, settings.store.logged_below)
    return HierarchicalMemory(
        windows.working,
        windows.episodic,
        memory.surprise_threshold,
        metric=memory.affect_metric,
        weights=memory.importance.weights,
        symbol_capacity=windows.subconscious,
        journal=journal,
        logged_below=settings.store.logged_below,
        hindsight=settings.reflection.hindsight,
    )


def _gateway(settings: Settings, world_store: WorldStore) -> Gateway | None:
    """The gateway that all model ports share; None without a model."""
    llm = settings.llm
    if not llm.base_url:
        return None
    needed = (name for task, name in llm.models if task not in ("action", "facts", "journal"))
    if not (llm.model or all(needed)):
        raise UserError(
            "llm.base_url is set but llm.model is not: set llm.model (or NOODLINGS_LLM__MODEL) to the model "
            "that should speak, or remove llm.base_url to use the offline voice"
        )
    if llm.record and settings.store.has_key:
        raise UserError(
            "llm.record would keep prompts in plain words beside what is encrypted: leave llm.record empty"
        )
    from noodlings.llm.gateway import Gateway

    return Gateway(llm, world_store)


def _model_ports(settings: Settings, gateway: Gateway | None) -> dict[str, Any]:
    """What a model does for agents, by the fields of `AgentServices`; empty without a model."""
    if gateway is None:
        return {}
    from noodlings.llm.actions import LLMChooser
    from noodlings.llm.appraisal import LLMAppraiser
    from noodlings.llm.facts import LLMFactReader
    from noodlings.llm.journal import LLMJournalWriter
    from noodlings.llm.openai import OpenAIVoice
    from noodlings.llm.symbolist import LLMSymbolist

    return {
        "voice": OpenAIVoice(gateway),
        "feeling_model": LLMAppraiser(gateway) if settings.llm.appraise else None,
        "action_model": LLMChooser(gateway),
        "fact_reader": LLMFactReader(gateway) if settings.llm.read_facts else None,
        "journal_writer": LLMJournalWriter(gateway) if settings.llm.write_journal else None,
        "symbolist": LLMSymbolist(gateway),
    }


def _asking(gateway: Gateway | None, services: AgentServices) -> Ask | None:
    if gateway is None:
        return None
    from noodlings.llm.call import ModelAnswer, ModelCall, Task

    def read(answer: ModelAnswer) -> str:
        lines = (clean(line) for line in answer.text.splitlines())
        if not (text := "\n".join(lines).strip()):
            raise LLMError("it answered nothing")
        return text

    async def ask(messages: Sequence[tuple[str, str]], allowance: Allowance) -> str | None:
        texts = [words for _, words in messages]
        kept, _, tier = await asyncio.to_thread(shield, services, texts)  # they may be long
        if tier > services.reach:
            return None
        prompt = tuple(PromptMessage(role, words) for (role, _), words in zip(messages, kept, strict=True))
        return await gateway.ask(ModelCall(Task.REPLY, prompt, temperature=0.3), read, allowance)

    return ask
