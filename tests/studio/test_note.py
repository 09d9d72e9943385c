"""A note is read by its words; of its head, what says something."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.dialogs import MOST_CHARACTERS, MOST_LINES, Note, shorter_note, split_note
from studio.panes.episodic import Episodic
from tests.studio.village import Village, looking, memories, screen_of, until

NOTE = """---
id: 11
agent: maren
user: user_caity
time: 2026-11-22T08:00:00Z
kind: say
place: ''
feeling: sad
affect:
  valence: -0.798558045790773
  arousal: 0.4
importance: 0.6612345
parts:
  surprise: 0.51234567
---

**Caity** said to **Maren**:

> My dog died yesterday
"""


def test_words_come_first_and_figures_are_rounded() -> None:
    words, facts = split_note(NOTE)
    assert "id: 11" not in words
    assert words.strip().startswith("**Caity** said")
    told = dict(line.split(maxsplit=1) for line in facts.plain.split("\n"))
    assert told["affect"] == "valence −0.80 · arousal 0.40"
    assert told["importance"] == "0.66"
    assert "place" not in told


@pytest.mark.parametrize(
    "note",
    ["", "---", "# Only words", "---\nnever ends", "---\n[not, facts]\n---\nwords", "---\n: : [\n---\nw"],
)
def test_a_note_without_a_head_that_can_be_read_is_its_words(note: str) -> None:
    words, facts = split_note(note)
    assert facts.plain == ""
    assert note.endswith(words)


ALIASES = "a: &a [x, x]\n" + "\n".join(f"a{one}: &a{one} [{', '.join(['*a'] * 9)}]" for one in range(9))


@pytest.mark.parametrize(
    ("head", "told"),
    [
        (f"{ALIASES}\nid: *a", ""),
        ("id: [1, 2]\nkind: say\naffect: {fear: 0.5, sorrow: [1], 2: {3: 4}}", "kind say affect fear 0.50"),
        ("id: null\ntime: 2026-11-22", "time 2026-11-22"),
    ],
)
def test_of_its_head_only_what_is_short_is_shown(head: str, told: str) -> None:
    words, facts = split_note(f"---\n{head}\n---\nwords")
    assert (words, " ".join(facts.plain.split())) == ("words", told)


@pytest.mark.parametrize("note", ["x\n" * 50_000, "x" * 500_000])
def test_of_a_long_note_the_beginning_is_shown(note: str) -> None:
    shown = shorter_note(note)
    assert note.startswith(shown)
    assert 0 < len(shown) <= MOST_CHARACTERS
    assert shown.count("\n") < MOST_LINES
    assert shorter_note(NOTE) == NOTE


@pytest.mark.slow
async def test_a_note_of_another_server_is_cut_and_its_tables_are_words(tmp_path: Path) -> None:
    async with looking(Village(tmp_path), (80, 24)) as (app, pilot):
        app.push_screen(Note("|a" * 9 + "\n" + "|-" * 9 + "\n\n" + "```\n" + "x\n" * MOST_LINES))
        await until(pilot, lambda: "|a|a|a" in screen_of(app))
        await pilot.press("end")
        await until(pilot, lambda: "too long to show" in screen_of(app))


@pytest.mark.slow
async def test_the_first_screen_of_a_note_is_what_was_said(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text(NOTE, encoding="utf-8")
    most_important = max(memories(), key=lambda entry: (entry.importance, entry.id)).id
    async with looking(Village(tmp_path, notes={most_important: note}), (80, 24)) as (app, pilot):
        await pilot.press("4")
        await until(pilot, lambda: app.query_one(Episodic).detail.entry is not None)
        await pilot.press("o")
        await until(pilot, lambda: "My dog died yesterday" in screen_of(app))
        assert "0.7985" not in screen_of(app)
        assert "−0.80" in screen_of(app)


@pytest.mark.slow
async def test_an_importance_that_is_not_changed_is_not_set_and_letters_are_answered(tmp_path: Path) -> None:
    source = Village(tmp_path)
    async with looking(source) as (app, pilot):
        await pilot.press("4")
        await until(pilot, lambda: app.query_one(Episodic).detail.entry is not None)
        await pilot.press("i")
        await until(pilot, lambda: "Importance of memory" in screen_of(app))
        await pilot.press("end", "x")
        await until(pilot, lambda: "Enter a number from 0 to 1" in screen_of(app))
        await pilot.press("enter")
        assert "Importance of memory" in screen_of(app)
        await pilot.press("backspace", "enter")
        await until(pilot, lambda: "Importance of memory" not in screen_of(app))
        assert source.done == []
