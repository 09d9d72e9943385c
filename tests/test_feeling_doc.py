"""What docs/feeling.md says of the shipped events and commands is what there is."""

import re
from pathlib import Path

import pytest

from commands import registry
from noodlings.affect.game_rules import shipped_rules
from noodlings.agent.events import game_event
from noodlings.errors import UserError
from noodlings.values.persona import APPETITES

PAGE = Path(__file__).parents[1] / "docs" / "feeling.md"
TEXT = PAGE.read_text("utf-8")


def rows():
    """Event → its mood and what is remembered, from the table."""
    found = re.findall(r"^\| `(\w+)` \| (\w*) ?\| .*?\| (.*?) ?\|$", TEXT, re.MULTILINE)
    return {event: (mood, remembered) for event, mood, remembered in found}


def test_the_table_has_every_shipped_event_with_its_mood_and_its_line():
    rules = shipped_rules().events
    assert set(rows()) == set(rules)
    for event, (mood, remembered) in rows().items():
        rule = rules[event]
        assert mood == (rule.mood.become if rule.mood else ""), event
        assert remembered.startswith(rule.remember.summary if rule.remember else ""), event
        assert bool(remembered) is bool(rule.remember), event
        for condition in filter(None, (rule.remember and rule.remember.only_if,)):
            assert all(name in remembered for name in condition.one_of), event


def test_what_is_typed_in_it_can_be_typed():
    typed = set(re.findall(r"`?(@\w+)", TEXT))
    assert typed >= {"@mood", "@observe", "@event"}
    for name in typed:
        registry.find(name)


def test_the_files_it_names_are_there():
    root = PAGE.parents[1]
    for path in re.findall(r"(?:noodlings|benchmarks)/[\w/]+\.\w+", TEXT):
        assert (root / path).is_file(), path
    for path in re.findall(r"\]\((.+?)\)", TEXT):
        assert (PAGE.parent / path).is_file(), path


def test_its_figures_are_those_in_force():
    rules = shipped_rules()
    assert (rules.lasts_seconds, rules.slots) == (300.0, 10)
    assert all(name.replace("_", " ") in TEXT.lower() for name in APPETITES)
    with pytest.raises(UserError, match="60 characters"):
        game_event("x" * 61, {}, 0.0)
    with pytest.raises(UserError, match="50 facts"):
        game_event("x", dict.fromkeys(map(str, range(51))), 0.0)
