"""The journal: each entry once, in its last form, and nothing of what was forgotten."""

from __future__ import annotations

from noodlings.memory.change_journal import ChangeJournal
from noodlings.ports import Changes
from noodlings.values.affect import NEUTRAL
from noodlings.values.memory import Link, LinkType, Symbol
from tests.fakes import drained
from tests.memory.entries import an_entry


def test_it_is_empty_before_and_after_it_was_drained() -> None:
    journal = ChangeJournal()
    assert drained(journal) == Changes("")
    journal.added(an_entry(1))
    journal.membership(1, True)
    assert drained(journal) == Changes("", added=(an_entry(1),), episodic=(1,))
    assert drained(journal) == Changes("")


def test_an_entry_that_is_added_and_then_changed_is_added_in_its_last_form() -> None:
    journal = ChangeJournal()
    journal.added(an_entry(1))
    journal.updated(an_entry(1, response="well"))
    journal.updated(an_entry(2, response="oh"))
    assert drained(journal) == Changes(
        "", added=(an_entry(1, response="well"),), updated=(an_entry(2, response="oh"),)
    )
    journal.updated(an_entry(1, pinned=True))
    assert drained(journal) == Changes("", updated=(an_entry(1, pinned=True),))


def test_who_came_and_left_again_has_left() -> None:
    journal = ChangeJournal()
    for member in (True, False):
        journal.membership(1, member)
    for member in (False, True):
        journal.membership(2, member)
    assert drained(journal) == Changes("", episodic=(2,), evicted=(1,))


def test_of_what_is_forgotten_nothing_is_written() -> None:
    journal = ChangeJournal()
    journal.added(an_entry(1))
    journal.updated(an_entry(2))
    journal.membership(1, True)
    journal.membership(2, False)
    for entry_id in (1, 2, 3):
        journal.forgotten(entry_id)
    assert drained(journal) == Changes("")


def test_links_are_kept_until_an_end_is_forgotten() -> None:
    journal = ChangeJournal()
    kept, *lost = (
        Link(source, target, LinkType.RECALLED, 0.5, 9.0) for source, target in ((3, 1), (3, 2), (2, 1))
    )
    journal.linked([kept, lost[0]])
    journal.linked(lost[1:])
    journal.forgotten(2)
    assert drained(journal) == Changes("", links=(kept,))
    assert drained(journal) == Changes("")


def _symbol(number: int, entry_id: int) -> Symbol:
    return Symbol(number, entry_id, 1.0, "event", "image", NEUTRAL, 0.5, 0.5, "images")


def test_symbols_that_came_and_faded_are_kept_until_their_memory_is_forgotten() -> None:
    journal = ChangeJournal()
    for number in (1, 2, 3):
        journal.symbolised(_symbol(number, entry_id=number + 10))
    for number in (1, 2, 9):
        journal.faded(number)
    journal.forgotten(12)
    assert drained(journal) == Changes("", symbols=(_symbol(1, 11), _symbol(3, 13)), faded=(1, 9))
    assert drained(journal) == Changes("")


def test_what_is_pending_stays_until_it_is_kept() -> None:
    journal = ChangeJournal()
    journal.added(an_entry(1))
    assert journal.changes() == journal.changes() == Changes("", added=(an_entry(1),))
    journal.symbolised(_symbol(1, entry_id=1))
    assert journal.changes() == Changes("", added=(an_entry(1),), symbols=(_symbol(1, 1),))
    journal.clear()
    assert journal.changes() == Changes("")
