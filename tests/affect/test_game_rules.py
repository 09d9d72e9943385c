import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from noodlings.affect.game_rules import MAX_VALUE, Condition, GameRules, shipped_rules, value_of
from noodlings.errors import UserError
from noodlings.text import clean
from noodlings.validation import read_table

NOTABLE = Condition(field="item", word_of=frozenset({"diamond", "totem"}))
THREAT = Condition(field="mob", one_of=frozenset({"creeper", "wither_skeleton"}))


@pytest.mark.parametrize(
    ("condition", "data", "holds"),
    [
        (NOTABLE, {"item": "diamond"}, True),
        (NOTABLE, {"item": "minecraft:diamond_sword"}, True),
        (NOTABLE, {"item": "Totem of Undying"}, True),
        (NOTABLE, {"item": "dirt"}, False),
        (NOTABLE, {"item": "diamondback"}, False),
        (NOTABLE, {}, False),
        (NOTABLE, {"item": None}, False),
        (NOTABLE, {"item": ["diamond"]}, False),
        (THREAT, {"mob": "Wither Skeleton"}, True),
        (THREAT, {"mob": "minecraft:creeper"}, True),
        (THREAT, {"mob": "creeper_head"}, False),
        (THREAT, {"mob": 3}, False),
    ],
)
def test_conditions(condition, data, holds):
    assert condition.holds(data) is holds


@pytest.mark.parametrize(
    ("template", "data", "line"),
    [
        ("killed {a mob}", {"mob": "creeper"}, "killed a creeper"),
        ("killed {a mob}", {"mob": "evoker"}, "killed an evoker"),
        ("{who} picked up {a item}", {"item": "totem"}, "you picked up a totem"),
        ("{who} picked up {a item}", {"item": "totem", "by": "bot"}, "I picked up a totem"),
        ("HP dropped to {hp}", {"hp": 3.0}, "HP dropped to 3"),
        ("HP dropped to {hp}", {"hp": 2.5}, "HP dropped to 2.5"),
        ("HP dropped to {hp}", {"hp": math.nan}, "HP dropped to almost nothing"),
        ("HP dropped to {hp}", {}, "HP dropped to almost nothing"),
        ("killed {a mob}", {}, None),
        ("killed {a mob}", {"mob": {"name": "creeper"}}, None),
    ],
)
def test_lines(template, data, line):
    assert shipped_rules().line(template, data) == line


@given(st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.booleans(), st.lists(st.text())))
def test_a_value_from_outside_is_short_printable_and_builds_no_block(value):
    told = value_of({"x": value}, "x")
    assert told is None or (
        told == clean(told) and 0 < len(told) <= MAX_VALUE and not set(told) & set("[]|{}")
    )


def test_a_huge_number_does_no_harm():
    assert value_of({"x": 10**400}, "x") is None


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"slot": 3}, "slots"),
        ({"version": 2}, "version"),
        ({"slots": 0}, "slots"),
        (
            {"events": {"dawn": {"remember": {"summary": "x", "when": 1}}}},
            "there are summary, if|fold, folded, if",
        ),
        ({"events": {"dawn": {"mod": {"become": "hyped"}}}}, "did you mean mood"),
        ({"events": {"dawn": {"mood": {"become": "happy"}}}}, "hyped"),
        ({"events": {"dawn": {"feel": {"valence": 3}}}}, "valence"),
        ({"events": {"dawn": {"feel": {"valence": float("nan")}}}}, "valence"),
        ({"events": {"dawn": {"remember": {"summary": "{x.__class__}"}}}}, "__class__"),
        ({"events": {"dawn": {"remember": {"summary": "{x"}}}}, "remember"),
        ({"events": {"dawn": {"remember": {"summary": "{x!r}"}}}}, "field"),
        ({"events": {"dawn": {"remember": {"summary": "x", "fold": "x"}}}}, "folded"),
    ],
)
def test_a_mistake_in_a_file_is_named(tmp_path, change, complaint):
    file = tmp_path / "events.yaml"
    file.write_text(yaml.safe_dump({"version": 1, "events": {}} | change), "utf-8")
    with pytest.raises(UserError, match=complaint) as refusal:
        read_table(file, GameRules)
    assert str(file) in str(refusal.value)


@pytest.mark.parametrize(
    "content", ["", "- a\n", "a: [", "\x00", "!!python/object:os.system x", "version: 1"]
)
def test_what_is_no_table_is_refused(tmp_path, content):
    file = tmp_path / "events.yaml"
    file.write_text(content, "utf-8")
    with pytest.raises(UserError):
        read_table(file, GameRules)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(UserError, match="cannot be read"):
        read_table(tmp_path / "nowhere.yaml", GameRules)


def test_a_user_may_change_the_rules(tmp_path):
    file = tmp_path / "events.yaml"
    file.write_text("{version: 1, lasts_seconds: 60, events: {rain: {mood: {become: frustrated}}}}", "utf-8")
    assert read_table(file, GameRules).rule("rain", {}).mood.become == "frustrated"
