import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.inspect.views import AgentView, FeltView, FlowEntryView, iso, plain
from noodlings.values.affect import Affect
from noodlings.values.percept import Kind

finite = st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.tuples(inner, inner) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(values)
def test_plain_data_comes_back_equal_from_json(value: object) -> None:
    data = plain(value)
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_a_view_is_its_fields_by_name() -> None:
    felt = FeltView(Affect(0.1234567, 0.5), "neutral", "neutral")
    view = AgentView("phi", "Phi", "fox", "small", felt, felt, True, 1, 2, 3)
    data = view.as_dict()
    assert list(data) == list(AgentView.__dataclass_fields__)
    assert data["mood"]["affect"]["valence"] == 0.123457
    assert data["working"] == 1
    assert data["hierarchical"] is True


def test_enums_become_words_and_tuples_lists() -> None:
    data = FlowEntryView(1, False, (Kind.SAY,), 0.5, {"recent": 1 / 3}, False, None).as_dict()
    assert data["why"] == ["say"]
    assert type(data["why"][0]) is str
    assert data["scores"] == {"recent": 0.333333}


@pytest.mark.parametrize(
    ("timestamp", "when"),
    [(0.0, "1970-01-01T00:00:00Z"), (1763790605.9, "2025-11-22T05:50:05Z"), (1e300, ""), (-1e300, "")],
)
def test_a_moment_has_a_name_where_there_is_a_calendar(timestamp: float, when: str) -> None:
    assert iso(timestamp) == when
