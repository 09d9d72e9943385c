"""Circumstances: what they hold, what is refused, and what is read of old or foreign data."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from noodlings.errors import UserError
from noodlings.values.circumstances import (
    NOTHING,
    Circumstances,
    EventTime,
    ObservedEmotion,
    circumstances_in,
    require_circumstances,
)
from noodlings.values.memory import circumstances_of, tags_of
from noodlings.values.percept import Percept
from tests.fakes import ALL_CIRCUMSTANCES
from tests.recall.archives import make_entry

NOW = 1_772_496_000.0
"""3 March 2026."""

MALFORMED: list[tuple[dict[str, Any], str]] = [
    ({"when": {"begins": math.nan}}, "begins is nan: it must be a number from"),
    ({"when": {"begins": math.inf}}, "begins is inf: it must be a number from"),
    ({"when": {"begins": 0.0, "duration": -1.0}}, "duration is -1.0: it must be a number from 0"),
    (
        {"when": {"begins": 0.0, "certainty": "sure"}},
        "certainty is 'sure': it must be one of exact, estimated, inferred",
    ),
    ({"when": {"words": "last summer"}}, "when does not fit; it takes begins (required), duration"),
    ({"when": 7}, "when does not fit; it takes begins (required), duration"),
    ({"where": "x" * 301}, "where must be one line of printable text of up to 300"),
    ({"where": "the\nmill"}, "must be one line of printable text"),
    ({"where": "the \u202emill"}, "must be one line of printable text"),
    ({"where": 7}, "where must be one line of printable text"),
    ({"distance": -0.5}, "distance is -0.5: it must be a number from 0"),
    ({"distance": math.nan}, "distance is nan: it must be a number"),
    ({"distance": "far"}, "distance is 'far': it must be a number"),
    (
        {"emotions": [{"who": "Ada"}]},
        "emotions does not fit; it takes who (required), emotion (required), known_from",
    ),
    (
        {"emotions": [{"who": "", "emotion": "joy"}]},
        "who must be one line of printable text of 1 to 300",
    ),
    (
        {"emotions": [{"who": "Ada", "emotion": "joy", "known_from": "x"}]},
        "known_from is 'x': it must be one of told, seen, inferred",
    ),
    ({"emotions": ["joy"]}, "emotions does not fit; it takes who (required)"),
    (
        {"emotions": [{"who": "Ada", "emotion": "joy"}] * 17},
        "emotions has 17 entries; it may have at most 16",
    ),
    ({"goals": ["x"] * 17}, "goals has 17 entries; it may have at most 16"),
    ({"goals": "find Ada"}, "goals must be a list"),
    ({"goals": [""]}, "each of inferences and goals must be one line of printable text of 1 to 300"),
    ({"inferences": [7]}, "each of inferences and goals must be one line"),
    ({"mood": "bad"}, "there is no 'mood'; use one of: when, where"),
]


def test_all_parts_are_the_same_after_they_were_kept() -> None:
    made = require_circumstances(ALL_CIRCUMSTANCES)
    assert made.when == EventTime(896745600.0, 3600.0, "estimated", "that summer")
    assert made.emotions[0] == ObservedEmotion("user_bob", "fear", "seen", "he shook")
    assert made.as_data() == {"circumstances": ALL_CIRCUMSTANCES}
    assert circumstances_in(made.as_data()["circumstances"]) == made
    assert NOTHING.as_data() == {}


@pytest.mark.parametrize(("data", "why"), MALFORMED)
def test_what_is_malformed_is_refused_from_outside_and_left_out_where_it_is_stored(
    data: dict[str, Any], why: str
) -> None:
    with pytest.raises(UserError, match=re.escape(why)):
        require_circumstances(data)
    entry = make_entry(1, "x", extra={"data": {"circumstances": data | {"task": "the harvest"}}})
    kept = circumstances_of(entry)
    assert kept.task == "the harvest"
    assert kept == Circumstances(
        task="the harvest", where="x" * 299 + "…" if data == {"where": "x" * 301} else kept.where
    )


@pytest.mark.parametrize("where", ["<b>mill</b>", "[red]mill", "{mill}", "mi|ll", "`mill`", "mi\x1b[31mll"])
def test_markup_is_refused_from_outside_but_masked_personal_data_may_have_it(where: str) -> None:
    with pytest.raises(UserError, match=r"^circumstances: .* has markup; leave out"):
        require_circumstances({"where": where})
    assert require_circumstances({"where": "at [email address]"}, stored=True).where == "at [email address]"


@pytest.mark.parametrize("kept", [None, 7, "rain", ["rain"], {"when": {"when": {}}}, {7: 8}])
def test_other_data_of_that_name_is_nothing(kept: Any) -> None:
    assert circumstances_of(make_entry(1, "x", extra={"circumstances": kept})) == NOTHING


def test_a_percept_with_malformed_ones_is_refused() -> None:
    with pytest.raises(UserError, match=re.escape("duration is -1.0: it must be")):
        Percept("user_ann", "x", 1.0, data={"circumstances": {"when": {"begins": 1.0, "duration": -1.0}}})
    assert Percept("user_ann", "x", 1.0, data={"circumstances": "rain"}).data == {"circumstances": "rain"}


def test_task_goals_and_place_are_tags() -> None:
    entry = make_entry(1, "x", extra={"data": {"tags": ["quest"], "circumstances": ALL_CIRCUMSTANCES}})
    assert tags_of(entry) == {"quest", "task:the harvest", "goal:find Ada", "place:the mill"}


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (NOTHING, ""),
        (Circumstances(EventTime(NOW - 86_400.0), "the mill"), "it happened on 2 March, in the mill"),
        (Circumstances(where="at sea"), "it happened at sea"),
        (Circumstances(EventTime(896745600.0)), "it happened on 2 June 1998"),
        (Circumstances(EventTime(-1e9, None, "inferred")), "it happened around 24 April 1938"),
        (Circumstances(EventTime(NOW, 172_800.0)), "it happened from 3 March to 5 March"),
        (
            Circumstances(EventTime(NOW, 172_800.0, "estimated")),
            "it happened from around 3 March to 5 March",
        ),
        (Circumstances(EventTime(NOW, words='"so"')), "it happened “'so'”, on 3 March"),
        (
            Circumstances(EventTime(253_402_300_799.0, 1e11)),
            "it happened from 31 December 9999 to 31 December 9999",
        ),
    ],
)
def test_when_and_where_are_told_in_words(known: Circumstances, told: str) -> None:
    assert known.in_words(NOW) == told


def test_goals_and_inferences_are_named_as_such_in_views() -> None:
    known = Circumstances(inferences=("he hides something",), goals=("find Ada",), task="the harvest")
    assert known.summary(NOW) == "inferred: he hides something · goal: find Ada · part of the harvest"
