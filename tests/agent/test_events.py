"""A game's event becomes a percept, or is refused in words."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.affect.game_rules import GameRules
from noodlings.agent.events import MAX_FIELDS, MAX_NAME, MAX_TEXT, event_in, game_event
from noodlings.errors import UserError
from noodlings.store.documents import to_json
from noodlings.text import clean
from noodlings.validation import read_table
from noodlings.values.percept import Kind

NOW = 1_000.0

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda core: st.lists(core, max_size=3) | st.dictionaries(st.text(), core, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("creeper_nearby", {}, "creeper nearby"),
        ("creeper_nearby", None, "creeper nearby"),
        ("Health_Critical", {"hp": 3}, "close call — HP dropped to 3"),
        ("mob_killed", {"mob": "zombie"}, "killed a zombie"),
        ("mob_killed", {}, "mob killed"),
        ("alien_landing", {"ships": 2}, "alien landing"),
        ("\x1b[31mdawn\x00", {}, "survived the night"),
    ],
)
def test_an_event_is_remembered_by_a_sentence(name, data, text):
    percept = game_event(name, data, NOW)
    assert percept.text == text
    assert (percept.kind, percept.user_id, percept.timestamp) == (Kind.EVENT, "game", NOW)
    assert percept.data == {"event": clean(name).lower(), **(data or {})}
    assert event_in(percept.kind, percept.data) == percept.data["event"]


def test_the_sentence_is_that_of_the_rules_in_force(tmp_path):
    file = tmp_path / "game_events.yaml"
    file.write_text("{version: 1, events: {dawn: {remember: {summary: 'saw the sun, {mood}'}}}}", "utf-8")
    rules = read_table(file, GameRules)
    assert game_event("dawn", {"mood": "red"}, NOW, rules=rules).text == "saw the sun, red"
    assert game_event("dawn", {}, NOW, "user_caity", rules).text == "dawn"


@pytest.mark.parametrize(
    ("name", "data", "complaint"),
    [
        ("", {}, "1 to 60 characters"),
        (" \x00 ", {}, "1 to 60 characters"),
        ("x" * (MAX_NAME + 1), {}, "1 to 60 characters"),
        (None, {}, "the name of an event must be text"),
        (b"dawn", {}, "the name of an event must be text"),
        ("dawn", [("hp", 3)], "facts by name"),
        ("dawn", {str(number): number for number in range(MAX_FIELDS + 1)}, "at most 50 facts, not 51"),
        ("dawn", {"event": "dusk"}, "a fact must not be called event"),
        ("dawn", {"": 1}, "the name of a fact"),
        ("dawn", {3: 1}, "the name of a fact"),
        ("dawn", {"hp": math.nan}, "the fact hp must be .* not nan"),
        ("dawn", {"hp": math.inf}, "the fact hp must be .* not inf"),
        ("dawn", {"hp": 2**53 + 1}, "the fact hp must be .* not 9007199254740993"),
        ("dawn", {"pos": {"x": 1}}, "the fact pos must be .* not {'x': 1}"),
        ("dawn", {"pos": [1, 2]}, "text, a number"),
        ("dawn", {"item": b"x"}, "text, a number"),
        ("dawn", {"item": "x" * (MAX_TEXT + 1)}, "501 characters, not at most 500"),
    ],
)
def test_what_is_no_event_is_refused_in_words(name, data, complaint):
    with pytest.raises(UserError, match=complaint):
        game_event(name, data, NOW)


def test_a_time_that_is_none_is_refused():
    with pytest.raises(UserError, match="must be seconds since 1970"):
        game_event("dawn", {}, math.nan)


@given(st.text(), st.dictionaries(st.text(), anything, max_size=4))
def test_whatever_comes_is_refused_or_can_be_kept(name, data):
    try:
        percept = game_event(name, data, NOW)
    except UserError:
        return
    assert percept.text == clean(percept.text) != ""
    assert to_json(percept.data, "data")


@pytest.mark.parametrize(
    ("kind", "data"), [(Kind.SAY, {"event": "dawn"}), (Kind.EVENT, {}), (Kind.EVENT, {"event": 3})]
)
def test_what_tells_of_no_event_names_none(kind, data):
    assert event_in(kind, data) == ""
