"""A link as a line: what lies further off says by way of which memory it was reached."""

from dataclasses import replace
from typing import Any

from noodlings.inspect.links import LinkedEntryView
from noodlings.values.circumstances import Circumstances
from studio.panes.entry_text import facts_text, link_text
from tests.inspect.seen import an_entry_view


def a_link(**changes: Any) -> LinkedEntryView:
    entry = replace(an_entry_view(), name="caity", text="the dog died")
    return replace(LinkedEntryView(15, 1, "followed", False, 0.5, entry), **changes)


def test_which_way_and_over_which_memory() -> None:
    assert link_text(a_link(), 80).plain == "← followed 0.50  caity the dog died"
    assert link_text(a_link(depth=2), 80).plain == "← followed, via #15 0.50  caity the dog died"
    by_hand = a_link(depth=2, outgoing=True, type="by_hand")
    assert link_text(by_hand, 80).plain == "→ by hand, via #15 0.50  caity the dog died"


def test_a_memory_names_the_source_that_told_it() -> None:
    assert "source" not in facts_text(an_entry_view()).plain
    assert " · source: diary.txt · " in facts_text(replace(an_entry_view(), source="diary.txt")).plain


def test_a_memory_says_when_and_where_it_happened() -> None:
    entry = replace(an_entry_view(), circumstances=Circumstances(where="the mill", task="the harvest"))
    assert facts_text(entry).plain.endswith(" · it happened in the mill · part of the harvest")
