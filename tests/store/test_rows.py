"""Every field of a value comes back as it went; what would not is refused."""

from __future__ import annotations

import dataclasses
import json
import logging
import math
import traceback
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import StoreError
from noodlings.store.documents import FORMAT, from_json, to_json
from noodlings.store.packing import packed, unpacked
from noodlings.store.rows import (
    entry_of,
    entry_row,
    link_of,
    link_row,
    parts_document,
    parts_of,
    symbol_of,
    symbol_row,
    trace_of,
    trace_row,
    undamaged,
)
from noodlings.store.tables import entries as entries_table
from noodlings.store.tables import traces as traces_table
from noodlings.values.action import Action
from noodlings.values.affect import Affect
from noodlings.values.audience import Audience, Tier
from noodlings.values.memory import ImportanceParts, Link, LinkType, MemoryEntry
from noodlings.values.trace import Modulation, Trace
from tests.store.records import AGENT, a_symbol, a_trace, an_entry, entries, json_data, same, traces

NOT_FINITE = [math.nan, math.inf, -math.inf]


@pytest.mark.slow
@given(entries)
def test_an_entry_comes_back_as_it_was(entry: MemoryEntry) -> None:
    assert same(entry_of(entry_row(AGENT, entry)), entry)


@pytest.mark.slow
@given(traces)
def test_a_trace_comes_back_as_it_was(trace: Trace) -> None:
    assert trace_of(trace_row(trace)) == trace


def test_a_sealed_trace_has_no_words_also_if_it_was_kept_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Modulation("t", 1.0, "zarnok", "the zarnok", "fused", "zarnok!", ("zarnok",), (7,))
    sealed = Audience(frozenset({AGENT}), tier=Tier.SEALED)
    words: dict[str, Any] = {
        "thought": "zarnok",
        "response": "a zarnok",
        "action": Action("eat", {"what": "zarnok"}, "llm"),
    }
    trace = a_trace(9, 7, audience=sealed, modulations=(made,), **words)
    bare = replace(made, before="", after="", lens="", read=())
    wordless = a_trace(9, 7, audience=sealed, modulations=(bare,))
    assert trace_of(trace_row(trace)) == wordless
    with monkeypatch.context() as before:
        before.setattr("noodlings.store.rows._as_sealed", lambda trace: trace)
        kept = trace_row(trace)
        assert trace_of(kept) == trace
    assert trace_of(kept) == wordless


@given(json_data)
def test_a_document_comes_back_as_it_was(data: dict[str, Any]) -> None:
    assert from_json(to_json(data, "it"), "it") == data


def test_every_column_is_written() -> None:
    assert set(entry_row(AGENT, an_entry(1))) == set(entries_table.columns.keys()) - {"row_id"}
    assert set(trace_row(a_trace(1))) == set(traces_table.columns.keys())


def test_numbers_are_stored_in_little_endian_whatever_the_machine_says() -> None:
    state = np.arange(40, dtype=">f4")
    row = entry_row(AGENT, an_entry(1, phenomenal_state=state, affect=Affect(valence=-1.0, arousal=1.0)))
    assert row["phenomenal_state"] == np.arange(40, dtype="<f4").tobytes()
    assert row["affect"] == np.array([-1.0, 1.0, 0.0, 0.0, 0.0], dtype="<f8").tobytes()
    back = entry_of(row).phenomenal_state
    assert back is not None
    assert back.dtype == np.float32
    assert not back.flags.writeable


@pytest.mark.parametrize("value", NOT_FINITE)
@pytest.mark.parametrize(
    "field",
    [
        "timestamp", "surprise", "encoded_importance", "override",
        "identity_salience", "last_recalled", "stability",
    ],
)  # fmt: skip
def test_an_entry_with_a_number_that_is_not_finite_is_refused(field: str, value: float) -> None:
    changes: dict[str, Any] = {field: value}
    with pytest.raises(StoreError, match=field):
        entry_row(AGENT, an_entry(1, **changes))


@pytest.mark.parametrize(
    "damage",
    [
        {"kind": "the zebrafinch"},
        {"parts": "the zebrafinch"},
        {"parts": '{"v": "the zebrafinch", "data": {}}'},
        {"parts": '{"v": 1, "data": {"the zebrafinch": 1}}'},
        {"parts": '{"v": 1, "data": [0.5, 0.5]}'},
        {"parts": f'{{"v": 1, "data": {[0.5] * 8}}}'},
        {"audience": '{"v": 1, "data": [["the zebrafinch"]]}'},
        {"user_text": b"the zebrafinch"},
        {"user_id": b"the zebrafinch"},
        {"place": b"the zebrafinch"},
        {"response": b"the zebrafinch"},
        {"timestamp": "the zebrafinch"},
        {"override": "the zebrafinch"},
        {"stability": math.inf},
    ],
)
def test_what_a_damaged_row_holds_is_not_quoted(damage: dict[str, Any]) -> None:
    row = entry_row(AGENT, an_entry(1)) | damage
    with pytest.raises(StoreError, match=f"entry 1 of {AGENT}") as raised:
        entry_of(row)
    assert "zebrafinch" not in str(raised.value)


def test_the_order_of_the_parts_is_part_of_the_format() -> None:
    parts = ImportanceParts(
        surprise=0.1, intensity=0.2, salience=0.3, addressed=0.4, answered=0.5, remember=0.6, significance=0.7
    )
    document = '{"v":1,"data":[0.1,0.2,0.3,0.4,0.5,0.6,0.7]}'
    assert parts_document(parts) == document
    assert parts_of(document) == parts


@pytest.mark.parametrize("value", NOT_FINITE)
def test_numbers_that_are_not_finite_are_refused_inside_too(value: float) -> None:
    state = np.zeros(40)
    state[7] = value
    parts = dataclasses.replace(an_entry(1).parts, salience=value)
    for changes in ({"phenomenal_state": state}, {"parts": parts}, {"extra": {"deep": [value]}}):
        with pytest.raises(StoreError):
            entry_row(AGENT, an_entry(1, **changes))
    for trace in (
        a_trace(1, parts=parts),
        a_trace(1, surprise=value),
        a_trace(1, milliseconds={"recall": value}),
        a_trace(1, recalled=(dataclasses.replace(a_trace(1, 2).recalled[0], score=value),)),
    ):
        with pytest.raises(StoreError):
            trace_row(trace)


@pytest.mark.parametrize(
    "changes",
    [
        {"id": -1},
        {"id": 2**63 - 1},
        {"user_text": "half a \ud83d pair"},
        {"response": "\udc00"},
        {"audience": frozenset({"\udc00"})},
        {"phenomenal_state": np.zeros(39)},
        {"phenomenal_state": np.zeros((1, 40))},
        {"extra": {"a set": {1}}},
        {"extra": {"an array": np.zeros(2)}},
    ],
)
def test_what_cannot_be_kept_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(StoreError):
        entry_row(AGENT, an_entry(1, **changes))


def test_data_within_itself_and_data_without_end_are_refused() -> None:
    endless: dict[str, Any] = {}
    endless["me"] = endless
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for data in (endless, deep):
        with pytest.raises(StoreError, match="cannot be kept as JSON"):
            to_json(data, "it")


@pytest.mark.parametrize(
    "document", ["", "{", "[]", "7", "null", '{"data": 1}', json.dumps({"v": FORMAT + 1, "data": {}})]
)
def test_a_document_that_cannot_be_read_is_refused_in_words(document: str) -> None:
    with pytest.raises(StoreError, match="the thing"):
        from_json(document, "the thing")


@given(st.sampled_from(sorted(entry_row(AGENT, an_entry(1)).keys() - {"id", "agent_id"})), st.data())
def test_a_damaged_column_gives_an_entry_or_a_store_error_and_nothing_else(
    column: str, data: st.DataObject
) -> None:
    row = entry_row(
        AGENT, an_entry(1, extra={"a": 1}, audience=frozenset("ab"), phenomenal_state=np.zeros(40))
    )
    row[column] = data.draw(st.none() | st.binary() | st.text() | st.integers() | st.floats())
    # Where a row cannot be read, `undamaged` leaves it out; any other error would come through and fail here.
    assert all(isinstance(entry, MemoryEntry) for entry in undamaged([row], entry_of))


def test_a_trace_of_before_there_were_actions_is_read() -> None:
    chosen = a_trace(3, action=Action("give", {"item": "lantern", "count": 2, "now": True}, "llm"))
    row = trace_row(chosen)
    assert trace_of(row) == chosen
    data = unpacked(row["packed"], "it")
    assert data.pop("action") == {
        "name": "give",
        "arguments": {"item": "lantern", "count": 2, "now": True},
        "by": "llm",
    }
    assert trace_of(row | {"document": to_json(data, "it")}) == replace(chosen, action=None)
    assert unpacked(trace_row(replace(chosen, action=None))["packed"], "it") == data


@given(
    st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x))
)
@pytest.mark.slow
def test_a_damaged_trace_gives_a_store_error_and_nothing_else(data: Any) -> None:
    row = {"agent_id": AGENT, "entry_id": 3, "document": to_json(data, "it")}
    with pytest.raises(StoreError, match="turn 3 of phi"):
        trace_of(row)


def test_one_bad_record_is_left_out_and_named(caplog: pytest.LogCaptureFixture) -> None:
    rows = [entry_row(AGENT, an_entry(number)) for number in (1, 2, 3)]
    rows[1]["parts"] = "{"
    with caplog.at_level(logging.WARNING):
        assert [entry.id for entry in undamaged(rows, entry_of)] == [1, 3]
    assert "entry 2 of phi is damaged" in caplog.text


SECRET = "what Ann whispered"
DAMAGES = {
    "entries": [("kind", SECRET), ("parts", f'{{"v": 1, "data": {{"{SECRET}": 1}}}}'), ("audience", SECRET),
                ("extra", f'{{"v": "{SECRET}", "data": {{}}}}'), ("affect", SECRET)],
    "traces": [("document", f'{{"v": 1, "data": "{SECRET}"}}'), ("packed", SECRET),
               ("packed", SECRET.encode()), ("packed", packed(SECRET, "it"))],
    "symbols": [("circle", SECRET), ("affect", SECRET)],
    "links": [("type", SECRET), ("strength", SECRET)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("table", "name", "value"), [(table, *damage) for table, damages in DAMAGES.items() for damage in damages]
)
def test_a_damaged_row_is_named_by_table_id_and_column_and_never_by_its_words(
    table: str, name: str, value: str | bytes
) -> None:
    rows = {
        "entries": (entry_of, entry_row(AGENT, an_entry(7))),
        "traces": (trace_of, trace_row(a_trace(7))),
        "symbols": (symbol_of, symbol_row(AGENT, a_symbol(7, 7))),
        "links": (link_of, link_row(AGENT, Link(7, 6, LinkType.FOLLOWED, 0.5, 1.0))),
    }
    read, row = rows[table]
    with pytest.raises(StoreError) as caught:
        read(row | {name: value})  # type: ignore[operator]
    said = "".join(traceback.format_exception(caught.value))
    assert SECRET not in said
    assert all(word in str(caught.value) for word in (f"{table}.{name}", "7", "of phi"))
