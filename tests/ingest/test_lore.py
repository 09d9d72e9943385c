"""Lore as records: for whom each fact is, when it holds, and what is said of a wrong one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from noodlings.agent.recipes import read_recipe
from noodlings.errors import UserError
from noodlings.ingest.record import SourceProblem, SourceRecord, SourceWithheld
from noodlings.ingest.sources.lore import lore
from noodlings.values.lore import LoreScope, scope_of
from noodlings.values.percept import Kind
from noodlings.values.persona import Persona
from tests.recall.archives import make_entry

LORE = """# a comment
- id: bell
  text: The bell is rung at the turn of the tide.
  audience: world
- id: key
  text: The key hangs behind the stove.
  audience: "Profession : Guard"
- {id: 3, text: Odo snores., audience: [character: odo, {faction: [The Watch, salters]}]}
- id: fair
  text: The fair is on the green.
  audience: {profession: [guard, smith]}
  from: 2031-06-01
  until: 2031-06-30
"""


RIGHT = LORE.replace("Profession : Guard", "profession: Guard")


def somebody(name: str = "Wick", profession: str | None = None, factions: tuple[str, ...] = ()) -> Persona:
    return read_recipe({"name": name, "profession": profession, "factions": factions}, name.lower(), name)


def read(path: Path, text: str, persona: Persona) -> tuple[list[SourceRecord], list[tuple[int, str]]]:
    path.write_text(text, "utf-8")
    found = list(lore(path, f"lore:{path.name}", persona))
    problems = [(one.line, one.why) for one in found if isinstance(one, SourceProblem)]
    return [one for one in found if isinstance(one, SourceRecord)], problems


@pytest.mark.parametrize(
    ("persona", "known"),
    [
        (somebody(), ["bell"]),
        (somebody("Odo"), ["bell", "3"]),
        (somebody(profession="guard"), ["bell", "key", "fair"]),
        (somebody(profession="Smith", factions=("the watch",)), ["bell", "3", "fair"]),
    ],
)
def test_each_gets_the_facts_that_are_meant_for_it(
    tmp_path: Path, persona: Persona, known: list[str]
) -> None:
    records, problems = read(tmp_path / "realm.yaml", RIGHT, persona)
    assert problems == []
    assert [one.id for one in records] == known
    assert {(one.kind, one.source) for one in records} == {(Kind.KNOWN, "lore:realm.yaml")}


def test_a_fact_holds_from_its_first_day_to_the_end_of_its_last(tmp_path: Path) -> None:
    guard = somebody(profession="guard")
    *_, fair = read(tmp_path / "realm.yaml", RIGHT, guard)[0]
    scope = scope_of(make_entry(1, fair.text, kind=Kind.KNOWN, extra={"data": fair.data}))
    for day, holds in (("05-31", False), ("06-01", True), ("06-30", True), ("07-01", False)):
        noon = datetime.fromisoformat(f"2031-{day}T12:00").replace(tzinfo=UTC).timestamp()
        assert scope.admits(guard, noon) is holds
    assert not scope.meant_for(somebody())


def test_what_says_nothing_of_its_audience_is_for_nobody() -> None:
    for data in ({}, {"lore": 3}, {"lore": {"for": ["world"], "from": None, "until": None}}):
        assert scope_of(make_entry(1, "x", kind=Kind.KNOWN, extra={"data": data})) == LoreScope(frozenset())


def test_each_wrong_fact_is_named_with_its_line_and_the_others_are_kept(tmp_path: Path) -> None:
    text = (
        LORE + "- id: bell\n  text: Again.\n  audience: world\n"
        "- id: torn\n  text: The: torn\n"
        "- id: x\n  text: ''\n  audience: [profesion: guard]\n"
        "- id: y\n  text: y\n  until: soon\n  audience: world\n"
        "- just words\n"
        "- {id: z, text: z, audience: world, colour: red}\n"
    )
    records, problems = read(tmp_path / "realm.yaml", text, somebody())
    assert [one.id for one in records] == ["bell"]
    told = dict(problems)
    assert "Profession" in told[5]
    assert "bell is in line 2 already" in told[14]
    assert "it is not YAML" in told[18]
    assert "text: must not be empty" in told[19]
    assert "did you mean profession?" in told[19]
    assert "must be a date such as 2026-01-31" in told[22]
    assert "keys of its own" in told[26]
    assert "unknown key colour" in told[27]


def test_facts_may_stand_in_json_lines(tmp_path: Path) -> None:
    lines = '{"id": "a", "text": "A.", "audience": "world", "until": "2031-06-30"}\n{"id": "b", "text"\n[1]\n'
    records, problems = read(tmp_path / "realm.jsonl", lines, somebody())
    assert [one.id for one in records] == ["a"]
    assert [line for line, _ in problems] == [2, 3]
    with pytest.raises(UserError, match=r"lore is one of \.yaml"):
        read(tmp_path / "realm.txt", "", somebody())


def test_a_fact_with_a_key_twice_is_wrong_and_withheld(tmp_path: Path) -> None:
    path = tmp_path / "realm.jsonl"
    path.write_text(
        '{"id": "a", "text": "A.", "audience": [{"name": "Odo"}], "audience": "world"}\n', "utf-8"
    )
    assert list(lore(path, "lore:realm.jsonl", somebody())) == [
        SourceProblem(1, "the key 'audience' stands twice in it"),
        SourceWithheld(1, "lore:realm.jsonl", "a"),
    ]


def test_a_file_that_is_a_section_and_no_list_is_one_problem(tmp_path: Path) -> None:
    _, problems = read(
        tmp_path / "lore.yaml", "facts:\n  - {id: a, text: hello, audience: world}\n", somebody()
    )
    assert problems == [(1, "facts are a list: begin each with '- id: …' at the head of a line")]


def test_an_empty_file_has_no_facts(tmp_path: Path) -> None:
    assert read(tmp_path / "lore.yaml", "# nothing yet\n", somebody()) == ([], [])
