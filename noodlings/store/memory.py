"""Agents kept for as long as the process lives: for simulations and tests that leave nothing behind.

It holds rows, not values. So it refuses exactly what the database refuses, and nobody changes what was stored
by holding on to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import Any

from noodlings.errors import StoreError
from noodlings.ports import AgentRecord, AgentState, Changes, EntryColumns, Forgotten
from noodlings.store.documents import from_json, number, text, to_json
from noodlings.store.forgetting import content_words, repeats, turns_made_of, without
from noodlings.store.ingested_rows import FORGOTTEN, WAITS_NO_MORE, taken_of
from noodlings.store.rows import (
    UNTOLD,
    Row,
    entry_of,
    link_of,
    symbol_of,
    trace_of,
    trace_row,
    vector_of,
    vector_row,
)
from noodlings.store.writing import CommitRows, commit_rows
from noodlings.values.audience import Tier
from noodlings.values.ingested_record import IngestedRecord
from noodlings.values.memory import EntryVector, Link, MemoryEntry, Order
from noodlings.values.trace import Trace

_LOWER = {ord(letter): letter.lower() for letter in ascii_uppercase}
_SORTED: dict[Order, Callable[[Row], Any]] = {
    Order.WHEN: lambda row: row["id"],
    Order.IMPORTANCE: lambda row: row["encoded_importance"] if row["override"] is None else row["override"],
    Order.WHO: lambda row: row["user_id"],
    Order.TEXT: lambda row: _words(row, "user_text"),
}


@dataclass(slots=True)
class _Agent:
    state: str | None = None
    entries: dict[int, Row] = field(default_factory=dict)
    traces: dict[int, Row] = field(default_factory=dict)
    links: dict[tuple[int, int, str], Row] = field(default_factory=dict)
    vectors: dict[int, Row] = field(default_factory=dict)
    symbols: dict[int, Row] = field(default_factory=dict)
    taken: dict[tuple[str, str], Row] = field(default_factory=dict)
    last_id: int = 0
    last_symbol_id: int = 0


class MemoryStore:
    """The port `Repository`, as `SqlStore` fulfils it, in plain dicts. See there for the arguments."""

    def __init__(self, *, working_capacity: int = 20, kept_traces: int = 2_000) -> None:
        self._working_capacity = working_capacity
        self._kept_traces = kept_traces
        self._agents: dict[str, _Agent] = {}
        self._world: dict[str, str] = {}
        self._version = 0

    keeps_secrets = True
    """Nothing reaches a disk."""

    def commit(self, changes: Changes) -> None:
        """Keep it all, or raise `StoreError` and keep nothing."""
        batch = commit_rows(changes)
        agent = self._agents.get(batch.agent_id, _Agent())
        _check(agent, batch)
        self._version += 1
        self._agents[batch.agent_id] = agent
        if batch.state is not None:
            agent.state = batch.state
        for row in batch.added:
            agent.entries[row["id"]] = row
            agent.last_id = max(agent.last_id, row["id"])
        for entry_id, history in batch.revised.items():
            _update(agent, entry_id, history)
        for entry_id in batch.joined:
            _update(agent, entry_id, {"episodic": True, "consolidated": True})
        for entry_id in batch.left:
            _update(agent, entry_id, {"episodic": False, "consolidated": True})
        if batch.trace is not None and batch.trace["entry_id"] in agent.entries:
            agent.traces[batch.trace["entry_id"]] = batch.trace
            oldest = batch.trace["entry_id"] - self._kept_traces
            while agent.traces and (first := next(iter(agent.traces))) <= oldest:
                del agent.traces[first]
        for row in batch.unlinked:
            agent.links.pop((row["source_id"], row["target_id"], row["type"]), None)
        for row in batch.links:
            _keep_link(agent, row)
        _keep_vectors(agent, batch.vectors)
        _keep_symbols(agent, batch)
        for row in batch.taken:
            gone = row["entry_id"] is not None and row["entry_id"] not in agent.entries
            agent.taken[row["source"], row["record_id"]] = row | FORGOTTEN if gone else row

    def load(self, agent_id: str) -> AgentRecord | None:
        """The agent, or None when it was never stored."""
        agent = self._agents.get(agent_id)
        if agent is None:
            return None
        rows = [agent.entries[entry_id] for entry_id in sorted(agent.entries)]
        lived = [row for row in rows if row["source"] is None]
        return AgentRecord(
            state=AgentState(agent_id, from_json(agent.state, "the state") if agent.state else {}),
            working=tuple(entry_of(row) for row in lived[max(0, len(lived) - self._working_capacity) :]),
            episodic=tuple(entry_of(row) for row in rows if row["episodic"]),
            perceived=len(rows),
            consolidated=sum(row["consolidated"] for row in rows),
            last_id=agent.last_id,
            symbols=tuple(
                symbol_of(agent.symbols[key])
                for key in sorted(agent.symbols)
                if not agent.symbols[key]["faded"]
            ),
            last_symbol_id=agent.last_symbol_id,
        )

    def agents(self) -> list[str]:
        """Ids of all stored agents, sorted."""
        return sorted(self._agents)

    def traces(self, agent_id: str, limit: int = 1, before: int | None = None) -> list[Trace]:
        """The latest traces, newest first; with `before`, only of entries with a lower id."""
        kept = self._agents.get(agent_id, _Agent()).traces
        ids = [entry_id for entry_id in sorted(kept, reverse=True) if before is None or entry_id < before]
        return [trace_of(kept[entry_id]) for entry_id in ids[: max(0, limit)]]

    def entries(self, agent_id: str, ids: Sequence[int]) -> dict[int, MemoryEntry]:
        """Entries of the archive by id; ids that do not exist (or were forgotten) are missing."""
        kept = self._agents.get(agent_id, _Agent()).entries
        return {entry_id: entry_of(kept[entry_id]) for entry_id in ids if entry_id in kept}

    def archive(self, agent_id: str, after_id: int = -1, limit: int = 500) -> list[MemoryEntry]:
        """The next `limit` entries after an id, oldest first; fewer only at the end of the archive."""
        kept = self._agents.get(agent_id, _Agent()).entries
        ids = [entry_id for entry_id in sorted(kept) if entry_id > after_id]
        return [entry_of(kept[entry_id]) for entry_id in ids[: max(0, limit)]]

    def columns(self, agent_id: str, model: str, after_id: int = -1, limit: int = 500) -> EntryColumns:
        """The same as far as search looks at it, with vectors by a model."""
        entries = self.archive(agent_id, after_id, limit)
        ends = (entries[0].id, entries[-1].id) if entries else (0, -1)
        return EntryColumns.of(entries, self.vectors(agent_id, model, *ends))

    def told_by(self, agent_id: str, user_id: str) -> list[int]:
        """Ids of everything in the archive that came from one user, rising."""
        kept = self._agents.get(agent_id, _Agent()).entries
        return sorted(entry_id for entry_id, row in kept.items() if row["user_id"] == user_id)

    def in_order(
        self,
        agent_id: str,
        order: Order,
        falling: bool,
        containing: str = "",
        among: Sequence[int] | None = None,
    ) -> list[int]:
        """Ids of everything in the archive, sorted, then by id. See the port."""
        wanted = containing.translate(_LOWER)
        admitted = None if among is None else set(among)
        rows = [
            row
            for row in self._agents.get(agent_id, _Agent()).entries.values()
            if (admitted is None or row["id"] in admitted)
            and any(
                wanted in _words(row, column).translate(_LOWER)
                for column in ("user_text", "response", "user_id")
            )
        ]
        rows.sort(key=lambda row: (_SORTED[order](row), row["id"]), reverse=falling)
        return [row["id"] for row in rows]

    def version(self) -> int:
        """How often memories were changed."""
        return self._version

    def links_of(self, agent_id: str, ids: Sequence[int], strongest: int | None = None) -> list[Link]:
        """Links from and to these entries, by source, target and type. See the port."""
        kept, ends = self._agents.get(agent_id, _Agent()).links, set(ids)
        found = {key for key in kept if not ends.isdisjoint(key[:2])}
        if strongest is not None:
            ranked = sorted(found, key=lambda key: (-kept[key]["strength"], key[2], *key[:2]))
            of_each = ([key for key in ranked if end in key[:2]] for end in ends)
            found = {key for theirs in of_each for key in theirs[:strongest]}
        return [link_of(kept[key]) for key in sorted(found)]

    def vectors(self, agent_id: str, model: str, first_id: int, last_id: int) -> dict[int, EntryVector]:
        """By entry id from `first_id` to `last_id`, both included."""
        agent = self._agents.get(agent_id, _Agent())
        ids = range(max(first_id, 0), min(last_id, agent.last_id) + 1)
        rows = [agent.vectors[entry_id] for entry_id in ids if entry_id in agent.vectors]
        return {row["entry_id"]: vector_of(row) for row in rows if row["model"] == model}

    def keep_vectors(self, agent_id: str, vectors: Sequence[EntryVector]) -> None:
        """Keep them in place of what there was, without those of entries that were forgotten meanwhile."""
        rows = [vector_row(agent_id, vector) for vector in vectors]
        agent = self._agents.get(agent_id, _Agent())
        _require_known(agent_id, agent.last_id, [row["entry_id"] for row in rows])
        _keep_vectors(agent, rows)

    def taken(self, agent_id: str, source: str, record_ids: Sequence[str]) -> dict[str, IngestedRecord]:
        """What became of these records of a source, by id; those that are new are missing."""
        kept = self._agents.get(agent_id, _Agent()).taken
        return {key: taken_of(kept[source, key]) for key in record_ids if (source, key) in kept}

    def held(self, agent_id: str, source: str) -> list[str]:
        """Ids of the records of a source that are memories by now, sorted."""
        kept = self._agents.get(agent_id, _Agent()).taken
        return sorted(key for (of, key), row in kept.items() if of == source and row["entry_id"] is not None)

    def parked(
        self, agent_id: str, after: tuple[str, str] = ("", ""), limit: int = 500
    ) -> list[IngestedRecord]:
        """The next records that wait, in the order of source and id, after these."""
        kept = self._agents.get(agent_id, _Agent()).taken
        keys = [key for key in sorted(kept) if key > after and kept[key]["record"] is not None]
        return [taken_of(kept[key]) for key in keys[:limit]]

    def forget(
        self, agent_id: str, ids: Sequence[int], *, by_user: str, timestamp: float, told_by: str = ""
    ) -> Forgotten:
        """Delete entries with everything that was made of them. Nothing outlives us, so no event is kept."""
        text(by_user, "by_user")
        number(timestamp, "timestamp")
        agent = self._agents.get(agent_id, _Agent())
        gone = {entry_id: agent.entries.pop(entry_id) for entry_id in set(ids) & agent.entries.keys()}
        waited = [
            row
            for row in agent.taken.values()
            if told_by and row["user_id"] == told_by and row["record"] is not None
        ]
        if not gone and not waited:
            return Forgotten()
        self._version += 1
        for row in waited:
            row.update(WAITS_NO_MORE)
        for row in agent.taken.values():
            if row["entry_id"] in gone:
                row.update(FORGOTTEN)
        made = {key: row for key, row in agent.symbols.items() if row["entry_id"] in gone}
        words = content_words(
            [
                *(words for row in gone.values() for words in (row["user_text"], row["response"] or "")),
                *(row["symbolic_encoding"] for row in made.values()),
            ]
        )
        agent.traces = {entry_id: row for entry_id, row in agent.traces.items() if entry_id not in gone}
        agent.vectors = {entry_id: row for entry_id, row in agent.vectors.items() if entry_id not in gone}
        agent.symbols = {key: row for key, row in agent.symbols.items() if key not in made}
        agent.links = {key: row for key, row in agent.links.items() if gone.keys().isdisjoint(key[:2])}
        traces = {entry_id: trace_of(row) for entry_id, row in agent.traces.items()}
        redacted = []
        turns = turns_made_of(list(traces.values()), frozenset(gone), words, frozenset(made))
        for entry_id in sorted(turns):
            agent.traces[entry_id] = trace_row(without(traces[entry_id], frozenset(gone)))
            response = agent.entries[entry_id]["response"]
            if response and repeats(response, words):
                _update(agent, entry_id, {"response": None})
                redacted.append(entry_id)
        return Forgotten(len(gone) + len(waited), tuple(redacted))

    def erase(self) -> bool:
        """Nothing that was replaced is held."""
        return True

    def world_get(self, key: str) -> Any:
        """What is kept under a key of the world store, or None."""
        return from_json(self._world[key], key) if key in self._world else None

    def world_set(self, key: str, value: Any) -> None:
        """Put JSON-compatible data under a key, in place of what stood there."""
        self._world[text(key, "key")] = to_json(value, f"the world data under {key!r}")

    def close(self) -> None:
        """Nothing is held."""


def _words(row: Row, column: str) -> str:
    """The words of a row; none of what is sealed, but for who it is from."""
    hidden = row["tier"] == Tier.SEALED and column in UNTOLD
    return "" if hidden else row[column] or ""


def _update(agent: _Agent, entry_id: int, columns: Row) -> None:
    if entry_id in agent.entries:
        agent.entries[entry_id].update(columns)


def _keep_link(agent: _Agent, row: Row) -> None:
    ends = (row["source_id"], row["target_id"])
    if all(end in agent.entries for end in ends):  # not forgotten meanwhile
        known = agent.links.setdefault((*ends, row["type"]), row)
        known["strength"] = max(known["strength"], row["strength"])


def _keep_vectors(agent: _Agent, rows: Iterable[Row]) -> None:
    agent.vectors |= {row["entry_id"]: row for row in rows if row["entry_id"] in agent.entries}


def _keep_symbols(agent: _Agent, batch: CommitRows) -> None:
    for row in batch.symbols:
        if row["entry_id"] in agent.entries:
            agent.symbols[row["id"]] = row
            agent.last_symbol_id = max(agent.last_symbol_id, row["id"])
    for symbol_id in batch.faded:
        if symbol_id in agent.symbols:
            agent.symbols[symbol_id]["faded"] = True


def _check(agent: _Agent, batch: CommitRows) -> None:
    """Refuse what the database would: an entry added twice, or changed before it was added."""
    added = [row["id"] for row in batch.added]
    twice = {entry_id for entry_id in added if entry_id in agent.entries or added.count(entry_id) > 1}
    if twice:
        raise StoreError(f"the archive of {batch.agent_id} already has entry {min(twice)}")
    symbols = [row["id"] for row in batch.symbols]
    twice = {symbol_id for symbol_id in symbols if symbol_id in agent.symbols or symbols.count(symbol_id) > 1}
    if twice:
        raise StoreError(f"{batch.agent_id} already has symbol {min(twice)}")
    last_id = max([agent.last_id, *added])
    named = [*batch.revised, *batch.joined, *batch.left, *batch.linked, *batch.taken_as]
    named += [row["entry_id"] for row in (*batch.vectors, *batch.symbols)]
    if batch.trace is not None:
        named.append(batch.trace["entry_id"])
    _require_known(batch.agent_id, last_id, named)


def _require_known(agent_id: str, last_id: int, named: Iterable[int]) -> None:
    unknown = [entry_id for entry_id in named if entry_id > last_id]
    if unknown:
        raise StoreError(f"{agent_id} has no entry {unknown[0]}: add it before it is changed")
