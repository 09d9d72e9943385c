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
from noodlings.inspect.questions import QUESTIONS, reader_of
from noodlings.inspect.views import EntriesView, View
from noodlings.values.affect import Affect
from noodlings.values.memory import ImportanceParts
from tests.inspect.seen import an_entry_view
from tests.thorough import examples

SHARE = st.integers(0, 10**6).map(lambda number: number / 10**6)  # as it is sent, rounded to six digits
st.register_type_strategy(float, SHARE)
PAGE = EntriesView("phi", "Phi", "working", True, "", (an_entry_view(1), an_entry_view(2)), 0, 2, 0)


def sent(view: View) -> Any:
    """As it arrives."""
    return json.loads(json.dumps(view.as_dict()))


KINDS = sorted({question.kind() for question in QUESTIONS.values()} | {TurnEventView}, key=str)


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
        ([], "EntriesView"),
        (None, "EntriesView"),
    ],
)
def test_what_is_no_such_view_is_refused_in_words_that_say_where(data: Any, where: str) -> None:
    with pytest.raises(NoodlingsError, match="not one that this version of noodlings understands") as refused:
        reader_of(EntriesView)(data)
    assert where in str(refused.value)


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
    assert math.isnan(reader_of(Part)(sent(view) | {"weight": math.nan}).weight or 0.0)


async def test_a_refusal_is_not_changed_by_the_reading() -> None:
    async def refused() -> Any:
        await asyncio.sleep(0)
        raise Forbidden("not yours")

    with pytest.raises(Forbidden, match="not yours"):
        await questions.STATS.read(refused())


def test_neither_table_nor_screen_imports_what_reads_memories() -> None:
    code = "import sys, noodlings.inspect.questions, studio.app, studio.process; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert not {"numpy", "pydantic", "sqlalchemy", "noodlings.inspect.views"} & set(done.stdout.split())
