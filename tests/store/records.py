"""Entries and traces to store: plain ones, and any that hypothesis can think of."""

from __future__ import annotations

import dataclasses
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from noodlings.clock import LATEST
from noodlings.store.database import DATABASE_NAME
from noodlings.store.packing import unpacked
from noodlings.text import clean
from noodlings.values.action import Action
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.audience import Audience, confined_to
from noodlings.values.fact import Tells
from noodlings.values.ingested_record import IngestedRecord
from noodlings.values.memory import ImportanceParts, MemoryEntry, Symbol, Why
from noodlings.values.percept import Kind
from noodlings.values.relationship import BOUND, Manner, Regard
from noodlings.values.tone import Tone, ToneName, ToneSource
from noodlings.values.trace import Modulation, RecalledTrace, Trace
from tests.fakes import witnessed

AGENT = "phi"


def an_entry(number: int, text: str = "hello", **changes: Any) -> MemoryEntry:
    """The `number`th thing that user_caity said to the agent."""
    fields: dict[str, Any] = {
        "id": number,
        "timestamp": 1_000.0 + number,
        "step": number,
        "user_id": "user_caity",
        "user_text": text,
        "affect": NEUTRAL,
        "surprise": 0.25,
        "encoded_importance": 0.5,
        "parts": ImportanceParts(surprise=0.25, addressed=1.0),
    }
    ids = changes.pop("audience", ())
    return witnessed(MemoryEntry(**(fields | changes)), ids)


BEFORE_NIGHTS = """
ALTER TABLE entries DROP COLUMN tells;
ALTER TABLE entries DROP COLUMN hindsight;
DROP INDEX ix_links_target;
ALTER TABLE links DROP COLUMN quoted;
CREATE INDEX ix_links_target ON links (target_id, agent_id, strength, created);
UPDATE alembic_version SET version_num = '0010';
"""
"""Brings a database back to the schema of before an agent went over its days."""

BEFORE_TIERS = f"""{BEFORE_NIGHTS}
ALTER TABLE entries DROP COLUMN tier;
ALTER TABLE symbols DROP COLUMN tier;
DROP TABLE keys;
UPDATE alembic_version SET version_num = '0007';
"""
"""Brings a database back to the schema of before there were tiers."""

BEFORE_SOURCES = f"""{BEFORE_TIERS}
DROP INDEX ix_entries_lived;
ALTER TABLE entries DROP COLUMN source;
DROP TABLE source_records;
UPDATE alembic_version SET version_num = '0006';
"""
"""Brings a database back to the schema of before there were sources, too."""


def packed_traces(folder: Path) -> list[bytes]:
    """All traces of a data folder as they lie on the disk."""
    with closing(sqlite3.connect(folder / DATABASE_NAME)) as database:
        return [blob for (blob,) in database.execute("SELECT packed FROM traces ORDER BY agent_id, entry_id")]


def in_traces(folder: Path) -> str:
    """All that stands in the traces of a data folder: in their bytes nobody would find a word."""
    return "\n".join(repr(unpacked(blob, "a trace")) for blob in packed_traces(folder))


def a_trace(number: int, *recalled: int, **changes: Any) -> Trace:
    """The turn of the `number`th entry, in which these entries were recalled."""
    fields: dict[str, Any] = {
        "agent_id": AGENT,
        "entry_id": number,
        "timestamp": 1_000.0 + number,
        "affect": NEUTRAL,
        "appraised_by": "words",
        "mood": NEUTRAL,
        "surprise": 0.25,
        "importance": 0.5,
        "parts": ImportanceParts(),
        "recalled": tuple(
            RecalledTrace(entry_id, ("recent",), 0.5, {"recent": 0.5}) for entry_id in recalled
        ),
    }
    return Trace(**(fields | changes))


def a_symbol(number: int, entry_id: int, **changes: Any) -> Symbol:
    """The `number`th symbol, made of an entry of `an_entry`."""
    fields: dict[str, Any] = {
        "id": number,
        "entry_id": entry_id,
        "timestamp": 1_000.0 + entry_id,
        "literal_event": "hello",
        "symbolic_encoding": f"image {number}",
        "affect": Affect(-0.5, 0.8, 0.7, 0.1, 0.0),
        "salience": 0.75,
        "surprise": 0.25,
        "made_by": "images",
    }
    return Symbol(**(fields | changes))


def same(one: MemoryEntry | None, other: MemoryEntry | None) -> bool:
    """Equal in every field; arrays also in dtype. (`==` between entries stumbles over arrays.)"""
    if one is None or other is None:
        return one is other
    a, b = one.phenomenal_state, other.phenomenal_state
    alike = a is b if a is None or b is None else a.dtype == b.dtype and np.array_equal(a, b)
    bare = [dataclasses.replace(entry, phenomenal_state=None) for entry in (one, other)]
    return alike and bare[0] == bare[1]


texts = st.text().map(clean)
finite = st.floats(allow_nan=False, allow_infinity=False)
moments = st.floats(0, LATEST)
unit = st.floats(0, 1)
pulls = st.floats(-BOUND, BOUND)
counts = st.integers(0, 2**52)  # as many as can be imported
json_data = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.recursive(
        st.none() | st.booleans() | st.integers() | finite | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)
affects = st.builds(Affect, st.floats(-1, 1), unit, unit, unit, unit)
parts = st.builds(ImportanceParts, unit, unit, unit, unit, unit, unit)
states = st.sampled_from([np.float32, np.float64]).flatmap(
    lambda dtype: arrays.arrays(
        dtype, 40, elements={"allow_nan": False, "allow_infinity": False}, fill=st.just(0.25)
    )
)

audiences = st.builds(Audience, st.frozensets(texts, max_size=3), st.booleans())
entries = st.builds(
    MemoryEntry,
    id=counts,
    timestamp=moments,
    step=counts,
    user_id=texts,
    user_text=texts,
    affect=st.none() | affects,
    surprise=unit,
    encoded_importance=unit,
    parts=parts,
    override=st.none() | unit,
    override_by=st.sampled_from(["", "response", "hand"]),
    response=st.none() | texts,
    identity_salience=unit,
    phenomenal_state=st.none() | states,
    kind=st.sampled_from(Kind),
    audience=audiences,
    place=texts,
    pinned=st.booleans(),
    recall_count=counts,
    last_recalled=st.none() | moments,
    stability=st.floats(0, allow_nan=False, allow_infinity=False),
    extra=json_data,
    source=st.sampled_from(["", "talk:log"]) | texts,
    tells=st.none() | st.builds(Tells, unit, unit),
)

symbols = st.builds(
    Symbol,
    id=st.integers(1, 2**52),
    entry_id=st.just(1),
    timestamp=moments,
    literal_event=texts,
    symbolic_encoding=texts,
    affect=affects,
    salience=unit,
    surprise=unit,
    made_by=texts,
    audience=st.frozensets(texts, max_size=3).map(confined_to),
)

taken_records = st.builds(
    IngestedRecord,
    source=texts.filter(bool),
    id=texts.filter(bool),
    digest=st.text("0123456789abcdef"),
    entry_id=st.none(),
    user_id=texts,
    attempts=counts,
    reason=texts,
    record=st.none() | json_data,
)

scores = st.dictionaries(st.sampled_from([why.value for why in Why]), unit)
few = st.lists(counts, max_size=2).map(tuple)
traces = st.builds(
    Trace,
    agent_id=st.just(AGENT),
    entry_id=counts,
    timestamp=moments,
    affect=affects,
    appraised_by=texts,
    mood=affects,
    surprise=unit,
    importance=unit,
    parts=parts,
    recalled=st.lists(
        st.builds(
            RecalledTrace,
            entry_id=counts,
            why=st.lists(st.sampled_from([why.value for why in Why])).map(tuple),
            score=unit,
            scores=scores,
            used=st.booleans(),
            sources=few,
            supersedes=few,
            superseded_by=st.none() | counts,
        ),
        max_size=3,
    ).map(tuple),
    thought=texts,
    modulations=st.lists(
        st.builds(
            Modulation,
            transistor=texts,
            gain=unit,
            before=texts,
            after=texts,
            read=st.lists(texts, max_size=2).map(tuple),
        ),
        max_size=2,
    ).map(tuple),
    response=st.none() | texts,
    voice=texts,
    decision=texts,
    tone=st.builds(Tone, st.sampled_from(ToneName), st.sampled_from(ToneSource), entry_id=st.none() | counts),
    regard=st.builds(Regard, st.sampled_from(Manner), pulls, pulls, st.lists(counts, max_size=2).map(tuple)),
    action=st.none()
    | st.builds(
        Action,
        texts,
        st.dictionaries(texts, texts | st.booleans() | counts | unit, max_size=3),
        st.sampled_from(("rule", "llm")),
    ),
    milliseconds=st.dictionaries(texts, finite, max_size=3),
    degraded=st.lists(texts, max_size=2).map(tuple),
)
