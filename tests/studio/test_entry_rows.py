"""A link as a line: what lies further off says by way of which memory it was reached."""

from dataclasses import replace
from typing import Any

from noodlings.inspect.links import LinkedEntryView
from studio.panes.entry_rows import facts, linked
from tests.inspect.seen import an_entry_view


def a_link(**changes: Any) -> LinkedEntryView:
    entry = replace(an_entry_view(), name="caity", text="the dog died")
    return replace(LinkedEntryView(15, 1, "followed", False, 0.5, entry), **changes)


def test_which_way_and_over_which_memory() -> None:
    assert linked(a_link(), 80).plain == "← followed 0.50  caity the dog died"
    assert linked(a_link(depth=2), 80).plain == "← followed, via #15 0.50  caity the dog died"
    by_hand = a_link(depth=2, outgoing=True, type="by_hand")
    assert linked(by_hand, 80).plain == "→ by hand, via #15 0.50  caity the dog died"


def test_a_memory_names_the_source_that_told_it() -> None:
    assert "source" not in facts(an_entry_view()).plain
    assert " · source: diary.txt · " in facts(replace(an_entry_view(), source="diary.txt")).plain
