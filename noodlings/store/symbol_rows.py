"""Symbols to rows and back; see `noodlings.store.rows`."""

from __future__ import annotations

from noodlings.store.documents import number, text, to_json, whole
from noodlings.store.rows import AFFECT, Row, Stored, affect_of, circle_of, column
from noodlings.values.audience import Audience
from noodlings.values.memory import KeptSymbol, Symbol


def symbol_row(agent_id: str, symbol: Symbol) -> Row:
    """All columns of a symbol that has not faded. Raises `StoreError` as `entry_row` does."""
    return {
        "agent_id": text(agent_id, "agent_id"),
        "id": whole(symbol.id, "id"),
        "entry_id": whole(symbol.entry_id, "entry_id"),
        "timestamp": number(symbol.timestamp, "timestamp"),
        "literal_event": text(symbol.literal_event, "literal_event"),
        "symbolic_encoding": text(symbol.symbolic_encoding, "symbolic_encoding"),
        "affect": AFFECT.pack(*symbol.affect.as_list()),
        "salience": number(symbol.salience, "salience"),
        "surprise": number(symbol.surprise, "surprise"),
        "made_by": text(symbol.made_by, "made_by"),
        "circle": to_json(sorted(symbol.audience.witnesses), "circle") if symbol.audience.confined else None,
        "faded": False,
    }


def symbol_of(row: Stored) -> Symbol:
    """The symbol of a row. Raises `StoreError` when the row is damaged."""
    what = f"symbol {row['id']} of {row['agent_id']}"
    return Symbol(
        id=row["id"],
        entry_id=row["entry_id"],
        timestamp=row["timestamp"],
        literal_event=row["literal_event"],
        symbolic_encoding=row["symbolic_encoding"],
        affect=column(row, "symbols.affect", what, affect_of),
        salience=row["salience"],
        surprise=row["surprise"],
        made_by=row["made_by"],
        audience=Audience(column(row, "symbols.circle", what, circle_of), row["circle"] is not None),
    )


def kept_symbol_of(row: Stored) -> KeptSymbol:
    """The symbol of a row, and whether it faded. Raises `StoreError` when the row is damaged."""
    return KeptSymbol(symbol_of(row), row["faded"])
