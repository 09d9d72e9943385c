"""One commit as rows: everything is encoded and checked before a transaction begins."""

from __future__ import annotations

from dataclasses import dataclass

from noodlings.errors import StoreError
from noodlings.ports import Changes
from noodlings.store.documents import text, to_json, whole
from noodlings.store.rows import Row, entry_row, history_row, link_row, trace_row, vector_row
from noodlings.store.symbol_rows import symbol_row


@dataclass(frozen=True, slots=True)
class Batch:
    """The rows of one commit.

    Attributes:
        agent_id: whose.
        state: the agent's new state as a document, or None to leave it.
        added: whole rows of new entries, in episodic memory or not.
        revised: id → the columns of its history.
        joined, left: ids of older entries that came to episodic memory, or of any that left it.
        trace: the row of the finished turn, or None.
        links: whole rows of new links, or stronger ones; the ends of one may have been forgotten meanwhile.
        vectors: whole rows of vectors, the entry of one may have been forgotten meanwhile.
        symbols: whole rows of new symbols, the entry of one may have been forgotten meanwhile.
        faded: ids of symbols that left the subconscious.
    """

    agent_id: str
    state: str | None
    added: list[Row]
    revised: dict[int, Row]
    joined: list[int]
    left: list[int]
    trace: Row | None
    links: list[Row]
    vectors: list[Row]
    symbols: list[Row]
    faded: list[int]

    @property
    def linked(self) -> frozenset[int]:
        """Ids of the entries at both ends of the links."""
        return frozenset(row[end] for row in self.links for end in ("source_id", "target_id"))


def batch_of(changes: Changes) -> Batch:
    """The rows of `changes`. Raises `StoreError` when a part cannot be kept, or is another agent's."""
    for part in (changes.state, changes.trace):
        if part is not None and part.agent_id != changes.agent_id:
            raise StoreError(f"changes of {changes.agent_id} hold something of {part.agent_id}")
    members = {whole(entry_id, "id") for entry_id in changes.episodic}
    added = [entry_row(changes.agent_id, entry) for entry in changes.added]
    for row in added:
        row["episodic"] = row["consolidated"] = row["id"] in members
    return Batch(
        agent_id=text(changes.agent_id, "agent_id"),
        state=None if changes.state is None else to_json(changes.state.data, "the state"),
        added=added,
        revised={whole(entry.id, "id"): history_row(entry) for entry in changes.updated},
        joined=sorted(members - {row["id"] for row in added}),
        left=[whole(entry_id, "id") for entry_id in changes.evicted],
        trace=None if changes.trace is None else trace_row(changes.trace),
        links=[link_row(changes.agent_id, link) for link in changes.links],
        vectors=[vector_row(changes.agent_id, vector) for vector in changes.vectors],
        symbols=[symbol_row(changes.agent_id, symbol) for symbol in changes.symbols],
        faded=[whole(symbol_id, "id") for symbol_id in changes.faded],
    )
