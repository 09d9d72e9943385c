"""Links between lines: causes and consequences, and the same ones wherever one begins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.reflection.relations import TALK_SECONDS, RelationReader
from noodlings.values.memory import LinkType
from tests.memory.entries import an_entry

HOUR = 3_600.0


def entries(*lines, apart=HOUR, users=("user_ann",)):
    return [
        an_entry(number, user_text=line, timestamp=number * apart, user_id=users[number % len(users)])
        for number, line in enumerate(lines, 1)
    ]


def linked(told, since=0):
    """The links of the entries with a higher id, as a night makes them that went over the others before."""
    reader = RelationReader()
    links = []
    for entry in told:
        if entry.id <= since:
            reader.pass_over(entry)
        else:
            list(reader.catch_up(entry))
            links += reader.links_of(entry)
    return links


def causes(told):
    return [(one.source, one.target) for one in linked(told) if one.type is LinkType.CAUSES]


@pytest.mark.parametrize(
    "line",
    [
        "I left the guild because Oswin stole the silver.",
        "I am poor now, since Oswin stole the silver!",
        "Oswin stole the silver, so I left the guild.",
        "I sleep badly because of Oswin and the silver.",
    ],
)
def test_a_reason_that_was_told_before_is_the_cause(line):
    told = entries("Good day.", "Oswin stole all the silver of the guild.", line)
    assert causes(told) == [(2, 3)]
    (link,) = [one for one in linked(told) if one.type is LinkType.CAUSES]
    begins, ends, *_ = link.quoted
    assert told[1].user_text[begins:ends] == "Oswin stole all the silver of the guild."


@pytest.mark.parametrize(
    "line",
    [
        "I left the guild because I was tired.",
        "There has been no cake since Oswin stole the silver.",
        "Are you sad because Oswin stole the silver?",
        "So how are you?",
    ],
)
def test_what_gives_no_reason_that_was_told_is_linked_with_nothing(line):
    assert causes(entries("Oswin stole the silver.", line)) == []


def test_in_a_talk_a_line_may_follow_from_the_one_before_it_or_explain_it():
    near = TALK_SECONDS / 2
    assert causes(entries("My back hurts.", "That's why I quit rowing.", apart=near)) == [(1, 2)]
    assert causes(entries("I quit rowing.", "Because my back hurts.", apart=near)) == [(2, 1)]
    assert causes(entries("My back hurts.", "That's why I quit rowing.", apart=2 * TALK_SECONDS)) == []


def test_what_somebody_else_told_is_never_linked():
    two = ("user_ann", "user_bob")
    assert linked(entries("I have a goat.", "I don't have a goat.", users=two)) == []
    assert linked(entries("My back hurts.", "That's why I quit rowing.", apart=1.0, users=two)) == []


LINES = st.sampled_from(
    [
        "I have a goat.",
        "I don't have a goat.",
        "I like rain.",
        "I hate rain.",
        "That's why I stay here.",
        "I left because the goat ate the rain coat.",
        "Scratch that, the goat likes rain.",
        "Because of the rain.",
        "Hello.",
    ]
)


@given(st.lists(LINES, max_size=12), st.integers(0, 12))
def test_a_night_that_goes_on_finds_what_one_night_would_have_found(lines, since):
    told = entries(*lines, apart=200.0, users=("user_ann", "user_bob"))
    whole = linked(told)
    first = [link for link in whole if max(link.source, link.target) <= since]
    assert [*first, *linked(told, since)] == whole
