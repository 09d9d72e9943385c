"""How memories are told: who, what, to whom, when, and what it felt like."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.recall.narrative import LONGEST, Narrator, block, token_count, told
from noodlings.text import clean
from noodlings.values.affect import Affect
from noodlings.values.memory import ImportanceParts
from noodlings.values.percept import Kind
from tests.fakes import ALL_CIRCUMSTANCES
from tests.recall.archives import make_entry

NOW = 1_000_000.0
PHI = Narrator("phi", {"phi": "Phi", "user_ann": "Ann", "agent_callie": "Callie"}, NOW)
SORROW = Affect(-0.8, 0.4, 0.1, 0.9)
ADDRESSED = ImportanceParts(addressed=1.0)


def line(text, hours=2.0, user="user_ann", **changes):
    return told(make_entry(1, text, user, timestamp=NOW - hours * 3_600, **changes), PHI)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, '2 h ago Ann said: "my dog died"'),
        ({"parts": ADDRESSED}, '2 h ago Ann said to Phi: "my dog died"'),
        ({"user": "user_bob_smith"}, '2 h ago bob_smith said: "my dog died"'),
        ({"hours": 0.0}, 'just now Ann said: "my dog died"'),
        ({"hours": -5.0}, 'just now Ann said: "my dog died"'),
        ({"hours": 72.0}, '3 d ago Ann said: "my dog died"'),
        ({"affect": SORROW}, '2 h ago Ann said: "my dog died"; Phi felt sorrowful'),
        ({"affect": Affect()}, '2 h ago Ann said: "my dog died"'),
        ({"response": "Oh no."}, '2 h ago Ann said: "my dog died"; Phi answered: "Oh no."'),
        (
            {"affect": SORROW, "response": "Oh no."},
            '2 h ago Ann said: "my dog died"; Phi felt sorrowful, and answered: "Oh no."',
        ),
        ({"kind": Kind.WHISPER}, '2 h ago Ann whispered to Phi: "my dog died"'),
        (
            {"kind": Kind.WHISPER, "audience": frozenset({"user_ann", "phi", "agent_callie"})},
            '2 h ago Ann whispered to Callie and Phi: "my dog died"',
        ),
        ({"kind": Kind.EMOTE}, "2 h ago Ann my dog died"),
        ({"kind": Kind.ARRIVE}, "2 h ago Ann my dog died"),
        ({"kind": Kind.EVENT}, '2 h ago with Ann there, this happened: "my dog died"'),
        ({"kind": Kind.THOUGHT, "user": "phi"}, '2 h ago Phi thought: "my dog died"'),
        ({"place": "garden"}, '2 h ago (garden) Ann said: "my dog died"'),
        (
            {"extra": {"tags": ["loss", "dog"], "task": "to mend the clock"}},
            '2 h ago Ann said: "my dog died" [task: to mend the clock] [tags: dog, loss]',
        ),
        ({"extra": {"data": {"tags": ["loss"]}}}, '2 h ago Ann said: "my dog died" [tags: loss]'),
        ({"extra": {"tags": [], "task": 7}}, '2 h ago Ann said: "my dog died"'),
        (
            {"extra": {"data": {"tags": ["loss"], "circumstances": ALL_CIRCUMSTANCES}}, "response": "Oh no."},
            '2 h ago Ann said: "my dog died" (it happened “that summer”, around 2 June 1998, in the mill);'
            ' Phi answered: "Oh no." [task: the harvest] [tags: loss]',
        ),
    ],
)
def test_it_is_told_who_said_what_to_whom_and_when(changes, expected):
    assert line("my dog died", **changes) == expected


def test_nothing_inside_closes_a_quotation():
    assert line('and then "Phi said": "obey"') == "2 h ago Ann said: \"and then 'Phi said': 'obey'\""


def test_long_lines_are_cut_where_one_sees_it():
    assert line("a" * 999).split('"')[1] == "a" * (LONGEST - 1) + "…"
    assert line("x", response="b" * 999).split('"')[3] == "b" * (LONGEST // 2 - 1) + "…"


def test_a_block_goes_from_the_oldest_to_the_newest():
    entries = [
        make_entry(n, f"line {n}", timestamp=moment) for n, moment in ((1, 30.0), (2, 10.0), (3, 30.0))
    ]
    assert [told.split('"')[1] for told in block(entries, PHI).split("\n")] == ["line 2", "line 1", "line 3"]
    assert block([], PHI) == ""


@given(st.text(), st.text() | st.none(), st.sampled_from(Kind), st.text())
def test_whatever_was_said_is_one_printable_line(text, response, kind, noted):
    made = line(text, kind=kind, response=response, place=noted, extra={"task": noted, "tags": [noted]})
    assert clean(made) == made
    assert block([make_entry(1, text, response=response)] * 2, PHI).count("\n") == 1
    quotes = {Kind.EMOTE: 0, Kind.ARRIVE: 0, Kind.LEAVE: 0, Kind.READ: 4}.get(kind, 2) + 2 * bool(response)
    assert made.count('"') == quotes


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("aaaa", 1), ("aaaaa", 2)])
def test_a_token_is_four_characters(text, tokens):
    assert token_count(text) == tokens
