"""Views that come as JSON: read back equal, with what a newer server adds, and refused in words else."""

from __future__ import annotations

import asyncio
import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noodlings.errors import Forbidden, NoodlingsError
from noodlings.inspect import questions
from noodlings.inspect.feed import TurnEventView
from noodlings.inspect.journal import JournalDayView
from noodlings.inspect.mood import ObserveView
from noodlings.inspect.questions import QUESTIONS, reader_of
from noodlings.inspect.views import EntriesView, EntryView, StatsView, View
from noodlings.values.affect import Affect
from noodlings.values.memory import ImportanceParts
from tests.inspect.seen import an_entry_view
from tests.thorough import examples

SHARE = st.integers(0, 10**6).map(lambda number: number / 10**6)  # as it is sent, rounded to six digits
WHOLE = st.integers(-(2**53), 2**53)
st.register_type_strategy(float, SHARE)
st.register_type_strategy(int, WHOLE)
st.register_type_strategy(EntryView, st.builds(EntryView, tier=st.integers(0, 3)))
st.register_type_strategy(JournalDayView, st.builds(JournalDayView, day=st.dates().map(str)))
st.register_type_strategy(
    ObserveView,
    st.builds(
        ObserveView,
        fast=st.tuples(*[SHARE] * 16),
        medium=st.tuples(*[SHARE] * 16),
        slow=st.tuples(*[SHARE] * 8),
    ),
)
st.register_type_strategy(StatsView, st.builds(StatsView, histogram=st.tuples(*[WHOLE] * 10)))
PAGE = EntriesView("phi", "Phi", "working", True, "", (an_entry_view(1), an_entry_view(2)), 0, 2, 0)


def sent(view: View) -> Any:
    """As it arrives."""
    return json.loads(json.dumps(view.as_dict()))


KINDS = sorted({question.kind() for question in QUESTIONS.values()} | {TurnEventView}, key=str)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@settings(max_examples=examples(15))
@given(data=st.data())
def test_every_view_comes_back_as_it_was(kind: type[View], data: st.DataObject) -> None:
    view = data.draw(st.from_type(kind))
    assert reader_of(kind)(sent(view)) == view


def test_what_a_newer_server_adds_is_passed_over() -> None:
    data = sent(PAGE)
    data["more"] = {"a": 1}
    data["entries"][1]["parts"]["weather"] = 0.5
    assert reader_of(EntriesView)(data) == PAGE


def changed(change: Callable[[Any], object]) -> Any:
    data = sent(PAGE)
    change(data)
    return data


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (changed(lambda page: page.pop("total")), "EntriesView: total:"),
        (changed(lambda page: page["entries"][1].pop("pinned")), "entries.1.pinned:"),
        (changed(lambda page: page["entries"][0].update(importance=None)), "entries.0.importance:"),
        (changed(lambda page: page["entries"][0].update(text=7)), "entries.0.text:"),
        (changed(lambda page: page.update(entries={"a": 1})), "entries"),
        (changed(lambda page: page["entries"][0]["affect"].update(fear=7.0)), "out of range"),
        (changed(lambda page: page["entries"][0]["affect"].update(fear=math.nan)), "out of range"),
        (changed(lambda page: page["entries"][0].update(importance=math.nan)), "a number"),
        (changed(lambda page: page["entries"][0].update(strength="nan")), "a number"),
        (changed(lambda page: page["entries"][0].update(hindsight={"a": math.inf})), "a number"),
        (changed(lambda page: page.update(total=10**400)), "a number"),
        (changed(lambda page: page.update(total=-(2**53) - 1)), "a number"),
        (changed(lambda page: page["entries"][0].update(tier=4)), "entries.0.tier:"),
        (changed(lambda page: page["entries"][0].update(tier=-1)), "entries.0.tier:"),
        ([], "EntriesView"),
        (None, "EntriesView"),
    ],
)
def test_what_is_no_such_view_is_refused_in_words_that_say_where(data: Any, where: str) -> None:
    with pytest.raises(NoodlingsError, match="not one that this version of noodlings understands") as refused:
        reader_of(EntriesView)(data)
    assert where in str(refused.value)


def test_what_is_no_day_is_refused() -> None:
    day = {"day": "2026-11-23", "sentences": [], "perceived": 0}
    assert reader_of(JournalDayView)(day).day == "2026-11-23"
    for wrong in ("soon", "2026-02-31", ""):
        with pytest.raises(NoodlingsError, match="no such day"):
            reader_of(JournalDayView)(day | {"day": wrong})


@pytest.mark.parametrize(
    ("kind", "name", "length"),
    [
        (ObserveView, "fast", 16),
        (ObserveView, "medium", 16),
        (ObserveView, "slow", 8),
        (StatsView, "histogram", 10),
    ],
)
@settings(max_examples=1)
@given(data=st.data())
def test_what_has_another_length_is_refused(
    kind: type[View], name: str, length: int, data: st.DataObject
) -> None:
    view = sent(data.draw(st.from_type(kind)))
    for wrong in ([], [0] * (length + 1)):
        with pytest.raises(NoodlingsError, match=f"{name}: .* {length} items"):
            reader_of(kind)(view | {name: wrong})


def test_no_control_character_of_what_was_sent_is_in_those_words() -> None:
    data = sent(replace(an_entry_view(), affect=Affect()))
    flow = {"agent": "phi", "name": "Phi", "hierarchical": True, "turn": None, "left_out": [], "hidden": 0}
    one = {"id": 1, "forgotten": False, "why": [], "score": 1.0, "used": True, "entry": data}
    with pytest.raises(NoodlingsError) as refused:
        reader_of(questions.FLOW.kind())(flow | {"recalled": [one | {"scores": {"\x1b[31mred": "x"}}]})
    assert "red" in str(refused.value)
    assert str(refused.value).isprintable()


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Part(View):
    colour: Colour
    side: Literal["left", "right"]
    weight: float | None
    parts: ImportanceParts | None


@pytest.mark.parametrize("weight", [None, 0.5])
def test_enums_literals_and_what_may_be_missing(weight: float | None) -> None:
    view = Part(Colour.RED, "left", weight, None)
    assert reader_of(Part)(sent(view)) == view
    for wrong in ({"colour": "blue"}, {"side": "up"}, {"weight": "heavy"}):
        with pytest.raises(NoodlingsError):
            reader_of(Part)(sent(view) | wrong)


async def test_a_refusal_is_not_changed_by_the_reading() -> None:
    async def refused() -> Any:
        await asyncio.sleep(0)
        raise Forbidden("not yours")

    with pytest.raises(Forbidden, match="not yours"):
        await questions.STATS.read(refused())


@pytest.mark.slow
def test_neither_table_nor_screen_imports_what_reads_memories() -> None:
    code = "import sys, noodlings.inspect.questions, studio.app, studio.process; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert not {"numpy", "pydantic", "sqlalchemy", "noodlings.inspect.views"} & set(done.stdout.split())
