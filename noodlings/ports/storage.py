"""Where agents are kept: what is handed over in one step, and what can be asked of what was."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from noodlings.values.affect import FloatArray
from noodlings.values.audience import Audience
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
    tags_of,
)
from noodlings.values.percept import Kind
from noodlings.values.trace import Trace


@dataclass(frozen=True, slots=True)
class AgentState:
    """What an agent is beside its memories, as stored: plain JSON-compatible data, versioned by its owner."""

    agent_id: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class EntryColumns:
    """What search looks at in some entries, column by column, oldest first: so many are taken in at once.

    Attributes:
        affects: shape (n, 5), NaN where nothing is known.
        audiences, tags: by place in the columns, of those that are confined, or have any.
        embedded: by place, whether there is a vector; `vectors` are those, float32 of length 1.
        tried: by entry id, what became of attempts to make one, where there is none.
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
    embedded: Sequence[bool] = ()
    vectors: Iterable[Vector] = ()
    tried: Mapping[int, EntryVector] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: Sequence[MemoryEntry], vectors: Mapping[int, EntryVector] | None = None) -> Self:
        """Of whole entries; vectors by entry id."""
        import numpy as np  # not before something is searched

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
            embedded=[vector is not None for vector in made],
            vectors=[vector for vector in made if vector is not None],
            tried={number: one for number, one in kept.items() if one.vector is None},
        )


@dataclass(frozen=True, slots=True)
class AgentRecord:
    """An agent as loaded: its state, what is in mind, and how much it ever perceived.

    `working`, `episodic` and `symbols` are oldest first; `perceived` counts the archive; `last_id` and
    `last_symbol_id` are the highest ids that were ever given.
    """

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
    """Everything that one step of an agent wants kept: committed together or not at all.

    Attributes:
        agent_id: whose.
        added: new entries, for the archive.
        updated: entries whose response, override, pin or recall history changed.
        episodic: ids that are in episodic memory from now on.
        evicted: ids that left episodic memory (they stay in the archive).
        state: the agent's state from now on, or None to leave it.
        trace: the finished turn, or None.
        unlinked: links that are there and go, before `links` come.
        links: between entries that are there by then; one that is there already keeps the stronger strength.
        vectors: of entries that are there by then; one that is there already is replaced.
        symbols: new symbols, of entries that are there by then.
        faded: ids of symbols that left the subconscious, new ones too; they stay in the archive.
        taken: what became of records of a source, in place of what became of them before.
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
        """Keep it all in one transaction. Raises `StoreError`; then nothing of it was kept."""

    def load(self, agent_id: str) -> AgentRecord | None:
        """The agent, or None when it was never stored."""

    def agents(self) -> list[str]:
        """Ids of all stored agents, sorted."""

    def traces(self, agent_id: str, limit: int = 1, before: int | None = None) -> list[Trace]:
        """The latest traces, newest first; with `before`, only of entries with a lower id."""

    def entries(self, agent_id: str, ids: Sequence[int]) -> dict[int, MemoryEntry]:
        """Entries of the archive by id; ids that do not exist (or were forgotten) are missing."""


class WorldStore(Protocol):
    """Where a world keeps who is where, beside the agents and in the same file."""

    def world_get(self, key: str) -> Any:
        """What stands under a key (JSON-compatible), or None."""

    def world_set(self, key: str, value: Any) -> None:
        """Put JSON-compatible data under a key, in place of what stood there."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a store forgot.

    Attributes:
        count: entries that are gone, and records that waited to become some.
        redacted: ids of entries whose response went with them; whoever holds such an entry drops it too.
        erased: whether their bytes have left the disk already. False when another process was reading, or
            the disk was full; then it is done when the store is next opened for writing.
    """

    count: int = 0
    redacted: tuple[int, ...] = ()
    erased: bool = True


class StoreSnapshot(Protocol):
    """Everything that was kept of all agents at one moment, whatever is written meanwhile."""

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


class AgentImporter(Protocol):
    """Where whole agents are taken in."""

    def agents(self) -> list[str]:
        """Ids of those that are there, sorted."""

    def take_in(
        self,
        agent: ArchivedAgent,
        records: Iterable[ArchivedEntry | Trace | Link | ArchivedSymbol | IngestedRecord],
    ) -> None:
        """Keep an agent that is not there, all of it or, when `records` or the store raises, nothing."""


class Notes(Protocol):
    """Copies of what is stored, for people to read."""

    def follow(self, changes: Changes) -> None:
        """Bring the copies up to date with what was committed, soon. Never waits, never raises."""

    def forget(self, agent_id: str, ids: Sequence[int], delete: Callable[[], Forgotten]) -> Forgotten:
        """Let `delete` delete entries from the store, and leave no byte of them in any copy.

        What it raises is raised here, and the copies stay. Where a copy could not be removed, the result is
        not `erased`.
        """

    def read(self, agent_id: str, entry_id: int) -> str | None:
        """The copy of one entry as it is by now, in Markdown; None where there is none."""

    def close(self) -> None:
        """Finish what is waiting. The store is still open."""


class Repository(Store, WorldStore, Protocol):
    """A store as a society holds it: with everything that was ever perceived, and the way out of it.

    An entry of which there is no vector is still to be embedded. A sealed entry is given without its words.
    """

    @property
    def keeps_secrets(self) -> bool:
        """Whether secret and sealed memories can be kept; a commit of one is refused otherwise."""

    def archive(self, agent_id: str, after_id: int = -1, limit: int = 500) -> list[MemoryEntry]:
        """The next `limit` entries after an id, oldest first; fewer only at the end of the archive."""

    def columns(self, agent_id: str, model: str, after_id: int = -1, limit: int = 500) -> EntryColumns:
        """The same of these entries as far as search looks at it, with their vectors by a model."""

    def told_by(self, agent_id: str, user_id: str) -> list[int]:
        """Ids of everything in the archive that came from one user, rising."""

    def links_of(self, agent_id: str, ids: Sequence[int], strongest: int | None = None) -> list[Link]:
        """Links from and to these entries, each once, in the order of source, target and type.

        Args:
            strongest: of each entry at most so many, the strongest ones; among equally strong ones those
                that are first by type, source and target. None for all.
        """

    def forget(
        self, agent_id: str, ids: Sequence[int], *, by_user: str, timestamp: float, told_by: str = ""
    ) -> Forgotten:
        """Delete entries with everything that was made of them, to the last byte.

        Of a record that was one of them only its id stays, so that it does not come back from its source.

        Args:
            told_by: the records of this user that wait go, too; "" for none.
        """

    def taken(self, agent_id: str, source: str, record_ids: Sequence[str]) -> dict[str, IngestedRecord]:
        """What became of these records of a source, by id; those that are new are missing."""

    def held(self, agent_id: str, source: str) -> list[str]:
        """Ids of the records of a source that are memories by now, sorted."""

    def parked(
        self, agent_id: str, after: tuple[str, str] = ("", ""), limit: int = 500
    ) -> list[IngestedRecord]:
        """The next records that wait, in the order of source and id, after these."""

    def erase(self) -> bool:
        """Leave no byte of what was replaced or deleted; False where that comes at the next start."""

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
            containing: only entries with these characters in their text, response or user's id; the case of
                A to Z does not matter.
            among: only these ids; quick where they are few.
        """

    def version(self) -> Hashable:
        """Equal to an earlier one only as long as nothing was committed in between, by whomever."""

    def vectors(self, agent_id: str, model: str, first_id: int, last_id: int) -> dict[int, EntryVector]:
        """By entry id from `first_id` to `last_id`, both included; without damaged ones, which are logged."""

    def keep_vectors(self, agent_id: str, vectors: Sequence[EntryVector]) -> None:
        """Keep them in place of what there was, without those of entries that were forgotten meanwhile."""

    def close(self) -> None:
        """Let go of the file."""
