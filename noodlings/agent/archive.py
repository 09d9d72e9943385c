"""The archive of a living agent: loaded bit by bit in the background, and kept in step with the store.

What is stored can be found once it is loaded; what is forgotten cannot be found from that moment on. An agent
answers before a long archive is loaded, using the loaded part.
"""

from __future__ import annotations

import asyncio
import logging
import math
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from noodlings.agent.backlog import EmbeddingBacklog
from noodlings.config import RetrievalSettings
from noodlings.embed.queue import EmbeddingQueue
from noodlings.errors import StoreError
from noodlings.ports import Changes, EntryColumns, Repository
from noodlings.recall.archive import SearchIndex
from noodlings.recall.filters import EVERYTHING, Filters
from noodlings.recall.search import Hit, Searcher
from noodlings.reflection.relationships import relationship
from noodlings.values.audience import Tier
from noodlings.values.memory import Link, MemoryEntry, Vector
from noodlings.values.relationship import Relationship

PAGE = 250
"""Entries loaded at a time: a few milliseconds, in which nothing else runs."""
SOON = 5_000
"""An archive of up to this many entries is waited for, at most half a second."""
PROGRESS_SECONDS = 0.1

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ArchiveState:
    """How much of an archive is loaded and embedded.

    Attributes:
        entries: how many can be found by their words so far.
        loaded: whether that is all of them.
        model: the embedding model, "" for none.
        embedded: how many can also be found by their meaning.
        pending: how many wait to be embedded.
        parked: how many could not be embedded after all attempts.
        reason: why something could not be loaded or embedded last, or "".
    """

    entries: int
    loaded: bool
    model: str
    embedded: int
    pending: int
    parked: int
    reason: str


class AgentArchive:
    """Everything one agent ever perceived, as it can be searched now.

    Args:
        names: user id → shown name, of everybody who is known.
        perceived: how many entries are stored.
        retrieval: how much mood counts in a search that does not say so; None for the defaults.
        relationships: whether it makes something of people.
        hindsight: see `Searcher`.

    Attributes:
        model: the embedding model, "" for none.
        loaded: whether everything stored can be found.
        index: what is loaded by now.
        searcher: finds in it.
    """

    def __init__(
        self,
        agent_id: str,
        repository: Repository,
        embedding: EmbeddingQueue,
        names: Callable[[], Mapping[str, str]] = dict,
        perceived: int = 0,
        retrieval: RetrievalSettings | None = None,
        relationships: bool = True,
        hindsight: bool = True,
    ) -> None:
        self.agent_id = agent_id
        self.retrieval = retrieval or RetrievalSettings()
        self.model = embedding.model
        self._names = names
        self.relationships = relationships
        self.loaded = not perceived
        self._repository = repository
        self.embedding = embedding
        self.index = (
            SearchIndex(embedding.model, embedding.dimensions) if embedding.dimensions else SearchIndex()
        )
        if embedding.dimensions:
            # To make room by and by would take a moment too long; room that is not used takes no memory.
            self.index.vectors.reserve(perceived + perceived // 2)
        self._backlog = EmbeddingBacklog(
            agent_id, repository, self.index, embedding.model, embedding.dimensions, embedding.reach
        )
        self._backlog.held = not self.loaded
        self._expected = perceived
        self._last_id = -1
        self._loading: asyncio.Task[None] | None = None
        self._not_loaded = ""  # why
        self.searcher = Searcher(self.index)
        self.searcher.hindsight = hindsight

    def state(self) -> ArchiveState:
        with self.index.lock:
            return ArchiveState(
                entries=len(self.index),
                loaded=self.loaded,
                model=self.model,
                embedded=self._backlog.embedded,
                pending=len(self._backlog.waiting),
                parked=len(self._backlog.waiting.parked),
                reason=self._not_loaded or self._backlog.reason or self.embedding.failed,
            )

    async def search(
        self,
        query: str,
        filters: Filters = EVERYTHING,
        tier: Tier = Tier.OPEN,
        *,
        patient: bool = False,
        **options: Any,
    ) -> list[Hit]:
        """See `Searcher.search`; the question is embedded here where possible.

        Args:
            tier: of the question; if the embedder may not read it, only its words are searched.
            patient: no turn waits for it, so turns come first.
            options: the settings decide where these do not say how much mood counts.
        """
        may = tier <= self.embedding.reach
        asker = options.get("asker")
        vector = await self.vector(query, filters, asker, patient=patient) if may else None
        asked = self.retrieval.model_dump() | options
        return self.searcher.search(query, filters, query_vector=vector, **asked)

    async def vector(
        self,
        query: str,
        filters: Filters = EVERYTHING,
        asker: str | None = None,
        *,
        patient: bool = False,
    ) -> Vector | None:
        """The vector of a question, for `Searcher.search`; None to search by words.

        It is None until half of the entries are embedded, as entries without a vector would count too little.
        """
        self._update_names()
        embedded, entries = self.index.embedded(filters) if self._backlog.dimensions else (0, 0)
        if not embedded or 2 * embedded < entries:
            return None
        wording = self.searcher.wording(query, filters, asker)
        vector = await self.embedding.question(wording, by=asker or "", patient=patient)
        return vector if vector is not None and vector.shape == (self._backlog.dimensions,) else None

    def relationship(self, filters: Filters, now: float) -> Relationship | None:
        """What the agent makes of the user in the filters, by the lines that pass.

        None where that is turned off, or not everything is loaded yet.
        """
        index, of = self.index, filters.user
        if of is None or not self.relationships or not self.loaded:
            return None
        with index.lock:
            kept, rows = index.index, index.lines(filters)
            columns = (index.ids, kept.timestamps, index.affects, kept.importances, index.stances)
            return relationship(of, now, kept.audience(rows), *(one.rows[rows] for one in columns))

    def entries(self, entry_ids: Sequence[int]) -> dict[int, MemoryEntry]:
        """Entries by id as they are stored now, without those that were forgotten."""
        return self._repository.entries(self.agent_id, entry_ids) if entry_ids else {}

    def links_of(self, entry_ids: Collection[int]) -> Sequence[Link]:
        """The links of entries, as they are stored now."""
        return self._repository.links_of(self.agent_id, list(entry_ids)) if entry_ids else ()

    # -- in step with the store

    def kept(self, changes: Changes) -> None:
        """Take in what was stored. What is not loaded yet will be read from the store later."""
        with self.index.lock:
            for entry in changes.updated:
                if entry.id in self.index:
                    self.index.update(entry)
            if self.loaded and changes.added:
                vectors = {
                    vector.entry_id: vector for vector in changes.vectors if vector.model == self.model
                }
                self._take_in(EntryColumns.of(changes.added, vectors))
        self._nudge()

    def forget(self, entry_ids: Sequence[int], redacted: Sequence[int]) -> None:
        """Remove what is gone from the store, and the responses of the redacted entries."""
        answerless = self._repository.entries(self.agent_id, redacted)
        with self.index.lock:
            self.index.remove(entry_ids)
            self._backlog.waiting.done(entry_ids)
            for entry in answerless.values():
                if entry.id in self.index:
                    self.index.redact(entry)

    # -- loading

    def rest(self) -> None:
        """Do not load what is stored until somebody searches, so that importing a long past takes no memory.

        An archive that is partly loaded stays as it is.
        """
        if not len(self.index):
            self.loaded = False
            self._backlog.held = True

    def begin(self) -> None:
        """Load in the background of the running event loop; try again where that failed.

        Loading ends when nobody else holds the archive any more.
        """
        if not self.loaded and (self._loading is None or self._loading.done()):
            self._loading = asyncio.get_running_loop().create_task(_load(weakref.ref(self)))

    async def soon(self) -> None:
        """Wait for a short archive to be loaded; do not wait for a long one."""
        if self._expected <= SOON:
            await self.whole()

    async def within(self, seconds: float) -> None:
        """Load in the background; wait for all of a short archive, or so long for a longer one."""
        self.begin()
        await self.soon()
        if not self.loaded and self._loading is not None:
            await asyncio.wait([self._loading], timeout=seconds)

    async def whole(self) -> None:
        """Load everything, giving way to other tasks. Raises `StoreError`."""
        while not self.loaded:
            self.load_some()
            await asyncio.sleep(0)

    async def embedded(self, done: Callable[[int], object]) -> None:
        """Load everything and wait until all that can have a vector has one; `done` is called with the count.

        Raises `StoreError` when it cannot be loaded.
        """
        await self.whole()
        while self._backlog.again_at() == -math.inf and not self.embedding.gave_up:
            done(self._backlog.embedded)
            await asyncio.sleep(PROGRESS_SECONDS)

    def load_some(self) -> None:
        """Load the next page. Raises `StoreError`."""
        columns = self._repository.columns(self.agent_id, self.model, self._last_id, PAGE)
        with self.index.lock:
            if columns.ids:
                self._take_in(columns)
                self._last_id = columns.ids[-1]
            self.loaded = len(columns.ids) < PAGE
        self._not_loaded = ""
        if self.loaded:
            self._backlog.held = False
            self._tell()
            self._nudge()

    def close(self) -> None:
        if self._loading is not None:
            self._loading.cancel()

    def load_on(self) -> bool:
        """Load the next page. Returns whether there is another that can be tried at once."""
        try:
            if not self.loaded:
                self.load_some()
        except StoreError as error:
            if self._not_loaded != str(error):
                log.warning("the archive of %s cannot be searched completely: %s", self.agent_id, error)
            self._not_loaded = str(error)
            return False
        return not self.loaded

    def _take_in(self, columns: EntryColumns) -> None:
        self.index.extend(columns, *self._backlog.fitting(columns))

    def _update_names(self) -> None:
        """Give the people in the index their current names."""
        with self.index.lock:
            names, people = self._names(), self.index.people
            for user_id in people.met:
                if user_id in names:
                    people.name(user_id, names[user_id])

    def _nudge(self) -> None:
        if self._backlog.waiting:
            self.embedding.watch(self._backlog)
            self.embedding.nudge()

    def _tell(self) -> None:
        state = self.state()
        log.info("%s: %d memories can be searched", self.agent_id, state.entries)
        if state.pending:
            log.info("%s: %d memories will be embedded by %s", self.agent_id, state.pending, state.model)


async def _load(known: weakref.ref[AgentArchive]) -> None:
    """Load the rest of an archive, as long as somebody holds it."""
    time = asyncio.get_running_loop().time
    began = time()
    while (archive := known()) is not None and archive.load_on():
        del archive
        await asyncio.sleep(time() - began)  # half of the time is for whoever asks meanwhile
        began = time()
