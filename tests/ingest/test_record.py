"""A record that waits is the same when it is read again, and a newer form is left as it is."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import UserError
from noodlings.ingest.record import VERSION, SourceRecord, record_in
from noodlings.memory.saved import plain
from noodlings.values.percept import Kind
from tests.store.records import audiences, json_data

records = st.builds(
    SourceRecord,
    source=st.text(),
    id=st.text(),
    text=st.text(),
    who=st.text(),
    timestamp=st.none() | st.floats(0, 1e9),
    kind=st.sampled_from(Kind),
    place=st.text(),
    audience=audiences,
    data=json_data,
    line=st.integers(0, 10**9),
)


@given(records)
def test_a_record_comes_back_as_json_can_hold_it(record: SourceRecord) -> None:
    again = record_in(json.loads(json.dumps(record.document())))
    assert again == replace(record, data=plain(record.data))
    assert record_in(again.document()).digest == again.digest


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"version": VERSION + 1}, "reads up to version 1"),
        ({"version": "two"}, "must be a whole number"),
        ({"version": True}, "must be a whole number"),
        ({"text": 7}, "text must be text"),
        ({"kind": "dance"}, "there is no kind 'dance'"),
        ({"data": []}, "data must be an object"),
        ({"witnesses": "phi"}, "witnesses a list"),
        ({"line": "abc"}, "line must be the number of a line, not 'abc'"),
        ({"line": [1]}, "line must be"),
        ({"line": -1}, "line must be"),
        ({"line": 10**400}, "line must be"),
        ({"line": 1e308}, "line must be"),
    ],
)
def test_what_cannot_be_read_says_why(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        record_in(SourceRecord("talk:log", "1", "hi").document() | changes)


def test_an_older_form_lacks_what_came_later() -> None:
    assert record_in({"source": "talk:log", "id": "1", "text": "hi"}) == SourceRecord("talk:log", "1", "hi")
