"""Rows of a host: everything may be missing, anything may be in them, and none of it is an error."""

from __future__ import annotations

import json
import logging
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.bridge.host_rows import mark_of, read_row
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.values.affect import Affect
from tests.outside import DATA, needs

ROW = {
    "user": "agent_servnak",
    "text": "SISTER! MY PRIDE…",
    "affect": [0.5, 0.7, 0.1, 0.0, 0.0],
    "surprise": 0.23,
    "timestamp": 1763790605.123,
    "identity_salience": 0.8,
}
NOW = 77.0


def read(**row: Any) -> dict[str, Any]:
    return read_row(row, NOW)[0]


def test_a_row_is_read_as_a_percept() -> None:
    percept, extra = read_row(ROW | {"step": 42, "response": "OH", "stage_cue": "sighs"}, NOW)
    assert percept == {
        "timestamp": 1763790605.123,
        "step": 42,
        "user_id": "agent_servnak",
        "user_text": "SISTER! MY PRIDE…",
        "affect": Affect(0.5, 0.7, 0.1, 0.0, 0.0),
        "significance": None,
        "phenomenal_state": None,
        "surprise": 0.23,
        "response": "OH",
        "identity_salience": 0.8,
    }
    assert extra == {"stage_cue": "sighs"}


def test_an_empty_row_is_a_percept_too() -> None:
    assert read(affect=[]) == {
        "timestamp": NOW,
        "step": 0,
        "user_id": "unknown",
        "user_text": "",
        "affect": None,
        "significance": None,
        "phenomenal_state": None,
        "surprise": 0.0,
        "response": None,
        "identity_salience": 0.0,
    }


@pytest.mark.parametrize(
    ("key", "value", "name", "expected"),
    [
        ("surprise", 7.5, "surprise", 1.0),
        ("surprise", -1, "surprise", 0.0),
        ("surprise", math.nan, "surprise", 0.0),
        ("surprise", "high", "surprise", 0.0),
        ("identity_salience", None, "identity_salience", 0.0),
        ("timestamp", "yesterday", "timestamp", NOW),
        ("timestamp", math.inf, "timestamp", NOW),
        ("timestamp", 1e300, "timestamp", NOW),
        ("timestamp", -1.0, "timestamp", NOW),
        ("timestamp", None, "timestamp", NOW),
        ("timestamp", 0, "timestamp", 0.0),
        ("timestamp", "12.5", "timestamp", 12.5),
        ("step", "x", "step", 0),
        ("step", 2**63, "step", 0),
        ("step", None, "step", 0),
        ("user", None, "user_id", "unknown"),
        ("user", 5, "user_id", "5"),
        ("text", None, "user_text", ""),
        ("text", 5, "user_text", "5"),
        ("response", "", "response", None),
        ("affect", [], "affect", None),
        ("affect", np.zeros(0), "affect", None),
    ],
)
def test_what_cannot_be_read_counts_as_not_given(key: str, value: Any, name: str, expected: Any) -> None:
    assert read(**{key: value})[name] == expected


@pytest.mark.parametrize(
    ("key", "value"), [("affect", [1, 2]), ("affect", [math.nan] * 5), ("phenomenal_state", {"fast": [1]})]
)
def test_what_is_left_out_is_said(key: str, value: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert read(**{key: value})[key] == read()[key]
    assert "kept without a part of it" in caplog.text


@pytest.mark.parametrize("given", [{}, {"affect": None}, {"affect": "sad"}, {"affect": [1, 2]}])
def test_where_no_feeling_is_given_the_words_tell_it(given: dict[str, Any]) -> None:
    percept = read(text="my dog died yesterday", **given)
    assert percept["affect"].sorrow > 0.5
    assert percept["significance"] > 0.0
    assert read(text="my dog died yesterday", affect=[])["affect"] is None


def test_other_keys_are_kept_even_when_the_memory_uses_their_names() -> None:
    row = {"is_rumination": True, "kind": "dream", "self": 1, "audience": ["x"], 7: "seven"}
    assert read_row(row, NOW)[1] == {
        "is_rumination": True,
        "host_kind": "dream",
        "host_self": 1,
        "host_audience": ["x"],
        "7": "seven",
    }


anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=6,
)
keys = st.sampled_from([*ROW, "step", "phenomenal_state", "response", "kind", "weights"]) | st.text(
    max_size=3
)


@pytest.mark.slow
@given(st.dictionaries(keys, anything))
def test_whatever_a_list_takes_a_memory_takes(row: dict[str, Any]) -> None:
    memory = HierarchicalMemory()
    percept, extra = read_row(row, NOW)
    memory.add(**percept, **extra)
    json.dumps(memory.retrieve_working()[0].row())
    mark_of(row)


def test_an_entry_as_a_row_is_what_a_bridge_would_have_made() -> None:
    memory = HierarchicalMemory()
    percept, extra = read_row(ROW, NOW)
    entry = memory.add(**percept, **extra)
    assert entry.row() == ROW
    assert list(entry.row()) == list(ROW)
    answered = memory.complete(entry, "OH")
    assert answered.row() == ROW | {"response": "OH"}
    assert memory.add(1, 1, "u", "t", None).row()["affect"] == []


def test_a_mark_tells_who_said_what_and_when() -> None:
    assert mark_of(ROW) == mark_of(json.loads(json.dumps(ROW)))
    assert mark_of(ROW) == mark_of(ROW | {"surprise": 1.0})
    for other in ({"user": "b"}, {"text": "x"}, {"timestamp": 1.0}):
        assert mark_of(ROW) != mark_of(ROW | other)


@needs("noodlemush/contexts.jsonl")
def test_every_real_row_is_taken() -> None:
    memory = HierarchicalMemory(working_capacity=500)
    lines = (DATA / "noodlemush" / "contexts.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    for row in rows:
        percept, extra = read_row(row, NOW)
        memory.add(**percept, **extra)
    assert memory.stats().perceived == len(rows) > 100
    assert [entry.timestamp for entry in memory.retrieve_working()] == [row["timestamp"] for row in rows]


def test_an_entry_answers_as_a_row_and_by_its_names() -> None:
    memory = HierarchicalMemory()
    percept, extra = read_row(ROW | {"is_rumination": True}, NOW)
    memory.add(**percept, **extra)
    (entry,) = memory.get_context_for_response("agent_servnak", ROW["affect"])
    assert entry["text"] == entry.user_text == ROW["text"]
    assert (entry.get("user"), entry.get("is_rumination", False), entry.get("stage_cue", "none")) == (
        "agent_servnak",
        True,
        "none",
    )
    assert ("text" in entry, "stage_cue" in entry) == (True, False)
    assert dict(entry) == {**entry} == ROW | {"is_rumination": True}
    assert [*entry] == [*entry.keys()]
    assert entry.affect is not None
    assert entry.affect[:5] == entry["affect"][:5] == ROW["affect"]
    assert (entry.affect[0], len(entry.affect)) == (0.5, 5)
    with pytest.raises(KeyError):
        entry["stage_cue"]
