"""Ports of stores: what is committed in one step, and what can be read again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, Self

from noodlings.values.affect import FloatArray
from noodlings.values.audience import Audience
from noodlings.values.circumstances import EventTime
from noodlings.values.ingested_record import IngestedRecord
from noodlings.values.memory import (
    ArchivedAgent,
    ArchivedEntry,
    ArchivedSymbol,
    EntryVector,
    Link,
    MemoryEntry,
    Order,
    Symbol,
    Vector,
    circumstances_of,
    tags_of,
)
from noodlings.values.percept import Kind
from noodlings.values.trace import Trace


@dataclass(frozen=True, slots=True)
class AgentState:
    """The state of an agent without its memories: JSON-compatible data, versioned by its owner."""

    agent_id: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class EntryColumns:
    """What search needs of many entries, column by column, oldest first.

    Attributes:
        affects: shape (n, 5), NaN where nothing is known.
        audiences, tags: by index, for entries that are confined, or have tags.
        ingested: whether a source told each of them.
        embedded: whether each has a vector; `vectors` are those, float32 of length 1.
        tried: by entry id, the failed attempts of entries without a vector.
        weights: what each weighs in hindsight, 0…1; empty where that is its importance.
        happened: by index, when it happened where that was given.
    """

    ids: Sequence[int]
    timestamps: Sequence[float]
    users: Sequence[str]
    texts: Sequence[str]
    responses: Sequence[str | None]
    affects: FloatArray
    importances: Sequence[float]
    kinds: Sequence[Kind]
    places: Sequence[str]
    audiences: Mapping[int, Audience]
    tags: Mapping[int, frozenset[str]]
    ingested: Sequence[bool]
    embedded: Sequence[bool] = ()
    vectors: Iterable[Vector] = ()
    tried: Mapping[int, EntryVector] = field(default_factory=dict)
    weights: Sequence[float] = ()
    happened: Mapping[int, EventTime] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: Sequence[MemoryEntry], vectors: Mapping[int, EntryVector] | None = None) -> Self:
        """The columns of entries; vectors by entry id."""
        import numpy as np  # loaded when something is first searched

        kept = vectors or {}
        made = [one.vector if (one := kept.get(entry.id)) else None for entry in entries]
        affects = [[np.nan] * 5 if entry.affect is None else entry.affect.as_list() for entry in entries]
        return cls(
            ids=[entry.id for entry in entries],
            timestamps=[entry.timestamp for entry in entries],
            users=[entry.user_id for entry in entries],
            texts=[entry.user_text for entry in entries],
            responses=[entry.response for entry in entries],
            affects=np.array(affects).reshape(-1, 5),
            importances=[entry.importance for entry in entries],
            kinds=[entry.kind for entry in entries],
            places=[entry.place for entry in entries],
            audiences={n: entry.audience for n, entry in enumerate(entries) if entry.audience.confined},
            tags={n: tags_of(entry) for n, entry in enumerate(entries) if entry.extra},
            ingested=[bool(entry.source) for entry in entries],
            embedded=[vector is not None for vector in made],
            vectors=[vector for vector in made if vector is not None],
            tried={number: one for number, one in kept.items() if one.vector is None},
            weights=[entry.weight for entry in entries],
            happened={
                n: when
                for n, entry in enumerate(entries)
                if entry.extra and (when := circumstances_of(entry).when)
            },
        )


@dataclass(frozen=True, slots=True)
class AgentRecord:
    """An agent as loaded: its state and what is in mind, oldest first. `perceived` counts the archive;
    `last_id` and `last_symbol_id` are the highest ids that were ever given."""

    state: AgentState
    working: tuple[MemoryEntry, ...] = ()
    episodic: tuple[MemoryEntry, ...] = ()
    perceived: int = 0
    consolidated: int = 0
    last_id: int = 0
    symbols: tuple[Symbol, ...] = ()
    last_symbol_id: int = 0


@dataclass(frozen=True, slots=True)
class Changes:
    """Everything that one step of an agent changed: committed together or not at all.

    Links, vectors and symbols belong to entries that exist already or are among `added`.

    Attributes:
        updated: entries whose response, override, pin, recall history or hindsight changed.
        episodic: ids that are in episodic memory from now on.
        evicted: ids that left episodic memory (they stay in the archive).
        state: the new state, or None to leave it.
        trace: the finished turn, or None.
        unlinked: links to remove, before `links` are added.
        links: of two equal links the stronger strength is kept.
        vectors: replace earlier ones.
        faded: ids of symbols that left the subconscious, maybe new ones; they stay in the archive.
        taken: what became of records of a source, in place of what was known before.
    """

    agent_id: str
    added: tuple[MemoryEntry, ...] = ()
    updated: tuple[MemoryEntry, ...] = ()
    episodic: tuple[int, ...] = ()
    evicted: tuple[int, ...] = ()
    state: AgentState | None = None
    trace: Trace | None = None
    unlinked: tuple[Link, ...] = ()
    links: tuple[Link, ...] = ()
    vectors: tuple[EntryVector, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    faded: tuple[int, ...] = ()
    taken: tuple[IngestedRecord, ...] = ()


class Store(Protocol):
    """Where agents are kept. What `commit` returned from survives `kill -9`."""

    def commit(self, changes: Changes) -> None:
        """Write all changes in one transaction. If it raises `StoreError`, nothing was written."""

    def load(self, agent_id: str) -> AgentRecord | None:
        """The agent, or None when it was never stored."""

    def agents(self) -> list[str]:
        """Ids of all stored agents, sorted."""

    def traces(self, agent_id: str, limit: int = 1, before: int | None = None) -> list[Trace]:
        """The latest traces, newest first; with `before`, only of entries with a lower id."""

    def entries(self, agent_id: str, ids: Sequence[int]) -> dict[int, MemoryEntry]:
        """Entries of the archive by id; ids that do not exist (or were forgotten) are missing."""


class WorldStore(Protocol):
    """JSON-compatible data of a world by key, in the same file as the agents."""

    def world_get(self, key: str) -> Any:
        """The value of a key, or None."""

    def world_set(self, key: str, value: Any, owner: str = "") -> None:
        """Set the value of a key.

        Args:
            owner: an agent, or `ROOMS`, whose state it is; "" for nobody's.

        Raises:
            AgentElsewhere: that belongs to another process.
        """

    def world_update(self, key: str, change: Callable[[Any], Any]) -> Any:
        """Set a key to what `change` makes of its value, None if it has none; nobody sets it in between.

        Returns the new value.
        """


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a store forgot.

    Attributes:
        count: deleted entries, and records that waited to become some.
        redacted: ids of entries whose response was deleted with them.
        erased: whether their bytes have left the disk, once the store has also done its part (`erase`). False
            if another process was reading, or the disk was full; then it is done when the store is next
            opened for writing. False where it is a server's, or a copy could not be removed.
    """

    count: int = 0
    redacted: tuple[int, ...] = ()
    erased: bool = True


ReadTraces = Mapping[int, tuple[tuple[Any, ...], Trace]]
"""Traces by the id of their entry, each with the row that it was read from."""


class StoreSnapshot(Protocol):
    """Everything that was stored of all agents at one moment, whatever is written meanwhile."""

    @property
    def left_out(self) -> int:
        """How many records could not be read so far."""

    def agents(self) -> list[str]:
        """Ids of all agents, sorted."""

    def agent(self, agent_id: str) -> ArchivedAgent:
        """An agent of `agents`."""

    def entries(self, agent_id: str) -> Iterator[ArchivedEntry]:
        """Everything an agent ever perceived, in the order of ids."""

    def traces(self, agent_id: str) -> Iterator[Trace]:
        """All of its traces, in the order of ids."""

    def links(self, agent_id: str) -> Iterator[Link]:
        """All links between its entries, in the order of source, target and type."""

    def symbols(self, agent_id: str) -> Iterator[ArchivedSymbol]:
        """All symbols made of its entries, in the order of ids."""

    def taken(self, agent_id: str) -> Iterator[IngestedRecord]:
        """All records of sources that it was given, in the order of source and id."""


ArchivedRecord = ArchivedEntry | Trace | Link | ArchivedSymbol | IngestedRecord


class AgentImporter(Protocol):
    """Imports whole agents."""

    def agents(self) -> list[str]:
        """Ids of existing agents, sorted."""

    def take_in(self, agent: ArchivedAgent, records: Iterable[ArchivedRecord]) -> None:
        """Store a new agent: all of it or, if `records` or the store raises, nothing.

        Args:
            records: a trace, a link, a symbol or a record stands behind the entries that it refers to.

        Raises:
            UserError: the agent is there already.
            StoreError: something cannot be kept.
        """


class Notes(Protocol):
    """Copies of what is stored, for people to read."""

    def follow(self, changes: Changes) -> None:
        """Update the copies with what was committed, soon. Never waits, never raises."""

    def forget(self, agent_id: str, ids: Sequence[int], delete: Callable[[], Forgotten]) -> Forgotten:
        """Let `delete` delete entries from the store, or confine them, and leave no byte of them in any copy.

        If it raises, the copies stay. If a copy could not be removed, the result is not `erased`.
        """

    def forgot_elsewhere(self, agent_id: str) -> None:
        """Leave nothing in the copies, soon, of what another process may have deleted from the store."""

    def flush(self) -> None:
        """Finish what is waiting; see `close`."""

    def read(self, agent_id: str, entry_id: int) -> str | None:
        """The current copy of one entry, in Markdown, or None."""

    def close(self) -> None:
        """Finish what is waiting. The store is still open."""


class Repository(Store, WorldStore, Protocol):
    """A store as a society uses it, with everything that was ever perceived.

    An entry without a vector is still to be embedded. A sealed entry is returned without its words.
    """

    @property
    def keeps_secrets(self) -> bool:
        """Whether secret and sealed memories can be stored; otherwise a commit of one is refused."""

    def fingerprint(self, text: str) -> str:
        """32 hexadecimal digits that are the same for the same text; where there is a key, only with it."""

    def archive(self, agent_id: str, after_id: int = -1, limit: int = 500) -> list[MemoryEntry]:
        """The next `limit` entries after an id, oldest first; fewer only at the end of the archive."""

    def columns(self, agent_id: str, model: str, after_id: int = -1, limit: int = 500) -> EntryColumns:
        """The columns of the same entries, with their vectors by a model."""

    def told_by(self, agent_id: str, user_id: str) -> list[int]:
        """Ids of everything in the archive that came from one user, rising."""

    def secret(self, agent_id: str) -> list[MemoryEntry]:
        """Everything secret or sealed, oldest first, and with its words, to compare others with them."""

    def links_of(self, agent_id: str, ids: Sequence[int], strongest: int | None = None) -> list[Link]:
        """Links from and to these entries, each once, in the order of source, target and type.

        Args:
            strongest: at most this many of each entry, the strongest ones; among equals those that are first
                by type, source and target. None for all.
        """

    def read_traces(self, agent_id: str) -> ReadTraces:
        """All traces of an agent, for `forget`. On any thread."""

    def forget(
        self,
        agent_id: str,
        ids: Sequence[int],
        *,
        by_user: str,
        timestamp: float,
        told_by: str = "",
        known: ReadTraces = MappingProxyType({}),
    ) -> Forgotten:
        """Delete entries with everything that was made of them. `erase`, or the next start, takes their last
        bytes off the disk.

        The id of their records stays, so that they do not come back from their source.

        Args:
            told_by: waiting records of this user are deleted, too; "" for none.
            known: traces that were read before; those that have changed since are read again.
        """

    def made_of(
        self, agent_id: str, ids: Sequence[int], traces: Mapping[int, Trace]
    ) -> tuple[frozenset[int], tuple[int, ...]]:
        """The turns whose words `forget` would delete with these entries, and those of them that would lose
        their response; each by the id of its entry. Unlike there, entries without content words ("No.") are
        repeated by nothing, unless the voice says that it used them.

        Args:
            traces: all traces of the agent, by the id of their entry.
        """

    def make_nameless(self, agent_id: str, user_ids: Collection[str], names: Collection[str] = ()) -> None:
        """Put a neutral word in place of these users where they had something forgotten, or wrote a fact by
        hand, take them out of the circles of symbols, and delete what others observed of them by these
        `names` or their ids, see `Circumstances`.
        """

    def taken(self, agent_id: str, source: str, record_ids: Sequence[str]) -> dict[str, IngestedRecord]:
        """What became of these records of a source, by id; new ones are missing."""

    def held(self, agent_id: str, source: str) -> list[str]:
        """Ids of the records of a source that are memories by now, sorted."""

    def parked(
        self, agent_id: str, after: tuple[str, str] = ("", ""), limit: int = 500
    ) -> list[IngestedRecord]:
        """The next records that wait after these, source and id, in an order of the store's own."""

    def erase(self) -> bool:
        """Erase every byte of what was replaced or deleted; False if that has to wait for the next start."""

    def in_order(
        self,
        agent_id: str,
        order: Order,
        falling: bool,
        containing: str = "",
        among: Sequence[int] | None = None,
    ) -> list[int]:
        """Ids of everything in the archive, sorted by one of `noodlings.values.memory.STORED`, then by id.

        Args:
            containing: only entries with these characters in their text, response or user's id, ignoring the
                case of A to Z.
            among: only these ids; quick if they are few.
        """

    def version(self) -> Hashable:
        """Changes with every commit, by any process."""

    def will_load(self, agent_id: str) -> None:
        """Note that an agent is about to be loaded, so that `outdated` is about what was changed since."""

    def outdated(self, agent_id: str) -> bool:
        """Whether another process has changed an agent since it was last loaded here."""

    def vectors(self, agent_id: str, model: str, first_id: int, last_id: int) -> dict[int, EntryVector]:
        """By entry id from `first_id` to `last_id`, both included; without damaged ones, which are logged."""

    def keep_vectors(self, agent_id: str, vectors: Sequence[EntryVector]) -> None:
        """Store vectors in place of earlier ones, without those of entries that were forgotten meanwhile."""

    def close(self) -> None:
        """Close the file."""


ROOMS = "#rooms"
"""Stands for the rooms and everybody in them where an agent's id stands else; no agent has such an id."""


class Ownership(Protocol):
    """Which agents belong to this process, where several share a database."""

    def serves(self, agent_id: str) -> bool:
        """Whether an agent belongs to this process. It does from now on if it belonged to nobody."""

    def claims(self, agent_id: str) -> int:
        """How often an agent came to belong to this process."""

    async def take(self, agent_id: str) -> None:
        """Let an agent be handed over to this process. Raises `AgentElsewhere` if that takes too long."""

    def created(self, agent_id: str) -> None:
        """Let the other processes know of a new agent."""

    def refuse(self, user_ids: Collection[str]) -> None:
        """Let the other processes refuse these users, and nobody else: all about them is being deleted."""

    def forgot_person(self, user_ids: Collection[str]) -> None:
        """Let the other processes forget what they have in memory and in logs about a person."""

    def take_request(self, caller: str, per_second: float, most: float) -> float:
        """Count a request to any of the processes. Returns 0 if it is allowed, else the seconds to wait.

        Args:
            most: how many may come at once.
        """

    async def ask(self, agent_id: str, request: str, repeatable: bool) -> str:
        """The reply of the process that an agent belongs to. Raises `AgentElsewhere` if it takes too long.

        Args:
            repeatable: whether another process may answer it, too, where one died that had begun to.
        """
