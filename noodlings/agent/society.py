"""A society: the agents of one process, and the way to reach them."""

from __future__ import annotations

import asyncio
import difflib
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, KeysView, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from noodlings.agent.agent import Agent
from noodlings.agent.corrections import Corrections
from noodlings.agent.hearsay import with_sources
from noodlings.agent.perceiving import require_keepable
from noodlings.agent.services import Watcher
from noodlings.config import Settings
from noodlings.embed.queue import EmbeddingQueue
from noodlings.errors import AgentElsewhere, NotFound, UserError
from noodlings.ports import ROOMS, Ask, Clock, LanguageModel, Notes, Ownership, Repository
from noodlings.scheduling import FairScheduler, LongAnswers
from noodlings.text import clean, shorten
from noodlings.values.audience import Tier
from noodlings.values.caller import Names, as_character_id, is_reserved_id
from noodlings.values.memory import HEARSAY, MemoryEntry
from noodlings.values.model_status import NO_MODEL, ModelStatus, ModelWatcher
from noodlings.values.percept import Percept
from noodlings.values.persona import Persona
from noodlings.values.trace import Trace

Value = TypeVar("Value")

WORLD_KEY = "places"
NAMES_KEY = "names"
SETTLE_SECONDS = 5.0
"""How long what an agent does in the background may hold up its way to another process."""


def names_in(kept: Any) -> dict[str, str]:
    """The names by id that are kept. Raises `UserError` where they are something else."""
    if not _texts_by_id(kept or {}):
        raise UserError(
            "the names of people are damaged: there must be one text for each id. Put a backup in the place "
            "of the database"
        )
    return kept or {}


def world_in(kept: Any) -> dict[str, Any]:
    """The state of the rooms that is kept. Raises `UserError` where it is something else."""
    state = kept or {}
    if not (
        isinstance(state, dict)
        and _texts_by_id(state.get("rooms", {}))
        and isinstance(resting := state.get("resting", []), list)
        and all(isinstance(one, str) for one in resting)
    ):
        raise UserError(
            "the rooms that everybody was in are damaged: there must be one for each id, and a list of those "
            "at rest. Put a backup in the place of the database"
        )
    return state


def _being_forgotten(user_id: str) -> UserError:
    return UserError(f"{user_id} is being forgotten; nothing of this was kept. Try again soon.")


def _texts_by_id(kept: Any) -> bool:
    return isinstance(kept, dict) and all(isinstance(text, str) for text in kept.values())


WORLD_FORMS: Mapping[str, Callable[[Any], object]] = {NAMES_KEY: names_in, WORLD_KEY: world_in}
"""What reads each thing that is kept of the world; it raises `UserError` where that is damaged."""


class AgentRegistry(Mapping[str, Agent]):
    """Agents by id, each loaded when it is first asked for.

    At most `most` are held here; then the longest idle one is released. A turn or a thought in the background
    holds its agent too, and while anybody does, everybody gets the same object: there are never two of one
    id. What is idle is stored, so nothing has to be saved on release.

    Where several processes share a store, an agent that another one has changed is loaded anew.

    A released agent is freed by its reference count, as the garbage collector rarely looks at old objects. So
    an idle agent must not be part of a reference cycle.
    """

    def __init__(
        self, make: Callable[[Persona], Agent], personas: dict[str, Persona], most: int, store: Repository
    ) -> None:
        self._make = make
        self._store = store
        self._personas = personas
        self._most = most
        self._awake: OrderedDict[str, Agent] = OrderedDict()  # whoever was asked for last, last
        self._living: WeakValueDictionary[str, Agent] = WeakValueDictionary()

    def __getitem__(self, agent_id: str) -> Agent:
        agent = self._living.get(agent_id)
        if agent is not None and self._store.outdated(agent_id):
            agent.abandon()
        if agent is None or agent.abandoned:  # also as something was forgotten elsewhere
            self._store.will_load(agent_id)
            agent = self._living[agent_id] = self._make(self._personas[agent_id])
        self._awake[agent_id] = agent
        self._awake.move_to_end(agent_id)
        if len(self._awake) > self._most:
            self._awake.popitem(last=False)
        return agent

    def __contains__(self, agent_id: object) -> bool:
        return agent_id in self._personas

    def __iter__(self) -> Iterator[str]:
        return iter(self._personas)

    def __len__(self) -> int:
        return len(self._personas)

    @property
    def at_hand(self) -> KeysView[str]:
        """Ids of all agents if they all fit into memory, else of those that are held there; no copy."""
        return (self._personas if len(self) <= self._most else self._awake).keys()

    @property
    def awake(self) -> list[Agent]:
        return list(self._living.values())


class Society:
    """The agents of one process.

    Args:
        make: builds the agent of a persona, as it was last stored.
        model: the language model, or None; its connections are closed when nothing more is asked of it.
        notes: copies of the store for people, or None.
        embedding: embeds what is stored, in the background, or None.
        watchers: the list of watchers that the agents use.
        ask: sends messages to the model as they are, without any character; None without a model.
        has_account: whether a user id belongs to an account with a password.
        account_of: the user id of the account with this name, or "".

    Attributes:
        personas: by id.
        agents: by id.
        skipped_recipes: why recipes were skipped, one line each that names the file.
        ownership: where several processes share the store, which agents are this one's; else None.
        scrollbacks: each empties one, see `clear_scrollbacks`.
        readers: lets those who read much of a memory at the same time take turns.
        long_answers: for how many answers that take long each user waits, whoever was asked.
    """

    def __init__(
        self,
        make: Callable[[Persona], Agent],
        personas: Iterable[Persona],
        clock: Clock,
        settings: Settings,
        store: Repository,
        model: LanguageModel | None = None,
        notes: Notes | None = None,
        embedding: EmbeddingQueue | None = None,
        watchers: list[Watcher] | None = None,
        ask: Ask | None = None,
        has_account: Callable[[str], bool] = is_reserved_id,
        account_of: Callable[[str], str] = lambda name: "",
        skipped_recipes: Sequence[str] = (),
    ) -> None:
        self.clock = clock
        self.settings = settings
        self.store = store
        self.ask = ask
        self._refused = Counter[str]()
        self._refused_elsewhere = frozenset[str]()
        self._taken_for = WeakValueDictionary[str, asyncio.Event]()
        """Of each user for whom an agent is being taken; set where all about them is deleted meanwhile."""
        self.ownership: Ownership | None = None
        self._held = Counter[str]()
        self._released = asyncio.Event()
        self.watchers_elsewhere: list[Callable[[str, int], None]] = []
        self._forgetters: list[Callable[[Collection[str]], None]] = []
        self.has_account = has_account
        self.account_of = account_of
        self.skipped_recipes = tuple(skipped_recipes)
        self._notes = notes
        self._embedding = embedding
        self._model = model
        self._watchers = [] if watchers is None else watchers
        self.scrollbacks: list[Callable[[], None]] = []
        self.readers = FairScheduler()
        self.long_answers = LongAnswers()
        self.corrections = Corrections(
            self.find, store, clock, self.long_answers, self.require_not_forgotten, self.clear_scrollbacks
        )
        self._introduced = names_in(store.world_get(NAMES_KEY))
        self._names = Names(self._introduced)
        self.personas: dict[str, Persona] = {}
        for persona in personas:
            self.know(persona)
        self.agents = AgentRegistry(make, self.personas, settings.world.awake, store)

    def character_of(self, user_id: str) -> str:
        """The id of the character whose own lines may be kept under this one (`Persona.own_ids`), else ""."""
        ids = (user_id, user_id.casefold(), as_character_id(user_id))
        return next((one for one in ids if one in self.personas), "")

    def know(self, persona: Persona) -> None:
        """Add a persona, whose agent is loaded when somebody asks for it."""
        self.personas[persona.id] = persona
        self._names[persona.id] = persona.name

    def create(self, persona: Persona) -> Agent:
        """Make an agent. Raises `UserError` when there is an agent of that id."""
        if persona.id in self.personas:
            raise UserError(f"there is already a character called {persona.id}; choose another name")
        self.know(persona)
        if self.ownership is not None:
            self.ownership.created(persona.id)
        return self.agents[persona.id]

    def find(self, name: str) -> Agent:
        """An agent by id, name, alias, or an unambiguous beginning of a name. Raises `NotFound`."""
        return self.agents[self.persona_of(name).id]

    def persona_of(self, name: str) -> Persona:
        """The persona of the agent that `find` finds. Raises `NotFound`."""
        wanted = clean(name).casefold()
        for agent_id in (name, wanted):  # one from elsewhere may have an id that nobody could type
            if agent_id in self.personas:
                return self.personas[agent_id]
        called = {word: persona for persona in self.personas.values() for word in persona.names}
        if wanted in called:
            return called[wanted]
        begun = {called[word].id for word in called if wanted and word.startswith(wanted)} | {
            persona.id for persona in self.personas.values() if wanted in map(str.casefold, persona.called)
        }
        if len(begun) == 1:
            return self.personas[begun.pop()]
        if begun:
            raise UserError(f"{shorten(clean(name), 30)} could mean {', '.join(sorted(begun))}; say which.")
        near = difflib.get_close_matches(wanted, called, n=1, cutoff=0.6)
        known = sorted(persona.name for persona in self.personas.values())[:20]
        hint = f". Characters: {', '.join(known)}." if known else "; create one from a recipe first."
        if near:
            hint = f"; did you mean {called[near[0]].name}?"
        raise NotFound(f"There is no character {shorten(clean(name), 30)}{hint}")

    async def perceive(
        self,
        agent_id: str,
        percept: Percept,
        said: Callable[[str], None] = lambda text: None,
        earlier: tuple[MemoryEntry, ...] = (),
    ) -> Trace:
        """Let one agent perceive something; see `Agent.perceive`.

        What a character says is completed with its sources here: see `noodlings.agent.hearsay`.
        """
        await self.take(agent_id, percept.user_id)
        self.require_not_forgotten(percept.user_id)
        if refused := self._all_refused:
            percept = percept.without(refused)
        if percept.user_id in self.personas and percept.user_id != agent_id and HEARSAY not in percept.data:
            percept = with_sources(self.store, percept, agent_id)
        release = self.hold(agent_id)
        try:
            return await self.agents[agent_id].perceive(percept, said, earlier)
        finally:
            release()

    async def take(self, agent_id: str, user_id: str = "") -> None:
        """Let an agent belong to this process, for what a user told it.

        Raises:
            AgentElsewhere: it takes too long.
            UserError: all about the user is being deleted, or was deleted meanwhile.
        """
        if self.ownership is None or self._held[agent_id] or self.ownership.serves(agent_id):
            return
        self.require_not_forgotten(user_id)
        forgotten = self._taken_for.setdefault(user_id, asyncio.Event())
        await self.ownership.take(agent_id)
        if forgotten.is_set():
            raise _being_forgotten(user_id)

    def hold(self, agent_id: str) -> Callable[[], None]:
        """Let no other process take an agent of this one until the returned function is called."""
        self._held[agent_id] += 1

        def release() -> None:
            self._held[agent_id] -= 1
            if not self._held[agent_id]:
                del self._held[agent_id]
                self._released.set()

        return release

    async def with_agents(self, step: Callable[[], Awaitable[Value]]) -> Value:
        """Run a step that changes one agent, once more if that belonged to another process."""
        try:
            return await step()
        except AgentElsewhere as error:
            if self.ownership is None or error.agent_id == ROOMS:
                raise
            await self.take(error.agent_id)
            return await step()

    async def idle(self, agent_id: str, now: float) -> str | None:
        """What an agent does by itself, see `Agent.idle`; nothing where it belongs to another process."""
        if self.ownership is not None and not self.ownership.serves(agent_id):
            return None
        return await self.agents[agent_id].idle(now)

    @contextmanager
    def refusing(self, user_ids: Collection[str]) -> Iterator[None]:
        """Let nobody perceive these users or that they are there, nor them come in: all about them is being
        deleted."""
        self._refused.update(user_ids)
        self._refused_changed()
        try:
            yield
        finally:
            self._refused.subtract(user_ids)
            self._refused += Counter()  # drops those that are at zero
            self._refused_changed()

    def refused_elsewhere(self, user_ids: Iterable[str]) -> None:
        """Refuse the users whom another process refuses now, and no longer those whom it did before."""
        self._refused_elsewhere = frozenset(user_ids)
        self._end_waiting()

    def _refused_changed(self) -> None:
        self._end_waiting()
        if self.ownership is not None:
            self.ownership.refuse(frozenset(self._refused))

    def _end_waiting(self) -> None:
        for user_id in self._all_refused:
            if (forgotten := self._taken_for.pop(user_id, None)) is not None:
                forgotten.set()

    @property
    def _all_refused(self) -> frozenset[str]:
        return self._refused_elsewhere.union(self._refused)

    def require_not_forgotten(self, user_id: str) -> None:
        """Raise `UserError` while all about a user is being deleted."""
        if user_id in self._all_refused:
            raise _being_forgotten(user_id)

    def watch_forgotten(self, watcher: Callable[[Collection[str]], None]) -> None:
        """Call a watcher with the ids of a person of whom all was deleted, also by another process."""
        self._forgetters.append(watcher)

    def forgot_person(self, user_ids: Collection[str]) -> None:
        """Let nothing about a person of whom all was deleted stay in the memory of this process."""
        for forget in self._forgetters:
            forget(user_ids)

    def require_keepable(self, tier: Tier) -> None:
        require_keepable(self.store, tier)

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Call a watcher with what agents do, until the returned function is called.

        A watcher is called in the middle of a turn and must return at once. Its errors are logged.
        """
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def watch_elsewhere(self, watcher: Callable[[str, int], None]) -> Callable[[], None]:
        """Call a watcher with agent and entry when another process has finished a turn; as `watch`."""
        self.watchers_elsewhere.append(watcher)
        return lambda: self.watchers_elsewhere.remove(watcher)

    async def at_rest(self, agent_id: str) -> None:
        """Wait until an agent has finished the turns under way; what follows is ended after a while."""
        while self._held[agent_id]:
            self._released.clear()
            await self._released.wait()
        agent = self.agents[agent_id]
        with suppress(TimeoutError):
            await asyncio.wait_for(agent.settle(), SETTLE_SECONDS)
        await agent.hurry()

    async def rest(self, seconds: float) -> None:
        """Wait for all background work, but at most so long; then end it without a model."""
        awake = self.agents.awake
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*(agent.settle() for agent in awake)), seconds)
        await asyncio.gather(*(agent.hurry() for agent in awake))
        if self._model is not None:
            await self._model.close()

    def names(self) -> Names:
        """User id → shown name, of every agent and everybody introduced. Do not change it."""
        return self._names

    def people(self) -> dict[str, str]:
        """User id → shown name, of everybody introduced who is no character."""
        return {one: name for one, name in self._names.items() if one not in self.personas}

    def introduce(self, user_id: str, name: str) -> None:
        """Tell the agents the name of somebody, and keep it; not of who is being forgotten."""
        if self._introduced.get(user_id) != name and user_id not in self._all_refused:
            self._rename({user_id: name})

    def forget_names(self, user_ids: Iterable[str]) -> None:
        self._rename({}, frozenset(user_ids))

    def introduce_all(self, names: Mapping[str, str]) -> None:
        """Introduce several by id; those who are known keep their names."""
        known = self._introduced.keys() | self._all_refused
        new = {user_id: name for user_id, name in names.items() if user_id not in known}
        if new:
            self._rename(new)

    def _rename(self, new: Mapping[str, str], gone: Collection[str] = ()) -> None:
        def renamed(kept: Any) -> dict[str, str]:
            return {one: name for one, name in {**names_in(kept), **new}.items() if one not in gone}

        self._know_names(self.store.world_update(NAMES_KEY, renamed))

    def read_names(self) -> None:
        """Learn the names that other processes have kept."""
        self._know_names(names_in(self.store.world_get(NAMES_KEY)))

    def _know_names(self, names: dict[str, str]) -> None:
        for user_id in self._introduced.keys() - names.keys() - self.personas.keys():
            del self._names[user_id]
        self._introduced = names
        for user_id, name in names.items():
            if user_id not in self.personas and self._names.get(user_id) != name:
                self._names[user_id] = name

    @property
    def model_status(self) -> ModelStatus:
        return NO_MODEL if self._model is None else self._model.status

    def watch_model(self, watcher: ModelWatcher) -> None:
        """Call a watcher when the model begins or stops to answer. It must return at once."""
        if self._model is not None:
            self._model.watchers.append(watcher)

    async def meet_model(self) -> None:
        """Ask the model once whether it is there; `model_status` tells."""
        if self._model is not None:
            await self._model.meet()

    @property
    def world_state(self) -> dict[str, Any]:
        """The world as it was last saved. Raises `UserError` where that is damaged."""
        return world_in(self.store.world_get(WORLD_KEY))

    def save_world(self, state: dict[str, Any]) -> None:
        """Save the world (JSON-compatible)."""
        self.store.world_set(WORLD_KEY, state, ROOMS)

    def warm(self) -> None:
        """Load what the first percept and its answer would wait for. On any thread."""
        if self._model is not None:
            self._model.warm()
        if self._embedding is not None and self._embedding.local:
            self._embedding.warm()

    def note(self, agent_id: str, entry_id: int) -> str | None:
        """The Markdown note of a memory, or None. Raises `StoreError`."""
        return None if self._notes is None else self._notes.read(agent_id, entry_id)

    def write_notes(self) -> None:
        """Write the notes that are due now rather than a moment later."""
        if self._notes is not None:
            self._notes.flush()

    def clear_scrollbacks(self) -> None:
        """Show nobody who comes later what was said: something of it is being forgotten.

        Nobody knows which lines tell of it, as answers may have other words; so all of them go.
        """
        for clear in self.scrollbacks:
            clear()

    def forgot_elsewhere(self, agent_id: str) -> None:
        """Let nothing of what another process may have forgotten stay in the notes or the rooms here."""
        self.clear_scrollbacks()
        if self._notes is not None:
            self._notes.forgot_elsewhere(agent_id)

    def close(self) -> None:
        for agent in self.agents.awake:
            if agent.archive is not None:
                agent.archive.close()
        if self._embedding is not None:
            self._embedding.close()
        if self._notes is not None:
            self._notes.close()
        self.store.close()
