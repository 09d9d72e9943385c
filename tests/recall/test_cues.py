import pytest

from noodlings.recall.cues import PeopleIndex, holds_time, read
from noodlings.recall.lexical import in_words


@pytest.fixture
def people():
    people = PeopleIndex()
    people.meet("user_ann")
    people.meet("user_bob")
    return people


def test_who_speaks_becomes_i(people):
    cues = read("What did Ann say about Bob's boat?", people)
    assert cues.wording == "What did I say about my boat?"
    assert cues.speakers == {"user_ann", "user_bob"}
    assert cues.words == ("say", "boat")


def test_people_who_never_spoke_stay_words(people):
    cues = read("What about Carol?", people)
    assert cues.speakers == frozenset()
    assert cues.words == ("carol",)


def test_i_is_whoever_asks(people):
    assert read("where is my boat?", people, "user_bob").speakers == {"user_bob"}
    assert read("where is the boat?", people, "user_bob").speakers == frozenset()


@pytest.mark.parametrize(
    "text", ["When did it rain?", "in which year did it", "What time is it", "how long ago"]
)
def test_a_time_is_asked_for(people, text):
    assert read(text, people).asks_when


@pytest.mark.parametrize("text", ["what did he say when he left?", "the whenever club", "how many times?"])
def test_no_time_is_asked_for(people, text):
    assert not read(text, people).asks_when


@pytest.mark.parametrize(
    ("query", "wording"),
    [
        ("which walk did we enjoy, rather than just endure?", "which walk did we enjoy"),
        ("which storm broke the mill, not the later drizzle?", "which storm broke the mill"),
        ("What moved Tom the most — not just the song?", "What moved Tom the most"),
        ("which dog was found instead of the cat", "which dog was found"),
    ],
)
def test_what_is_set_aside_is_not_looked_for(people, query, wording):
    assert read(query, people).wording.strip(" —") == wording
    assert read(query, people, sets_aside=False).wording == query


@pytest.mark.parametrize(
    "query",
    [
        "why did you not come to the feast?",
        "not just bread",
        "what is not in the box",
        "not only rain but also hail",
    ],
)
def test_not_alone_sets_nothing_aside(people, query):
    assert read(query, people).wording == query


@pytest.mark.parametrize(
    "text", ["I came yesterday", "two years ago", "in June", "back in 1987", "next Monday", "May 3"]
)
def test_a_line_that_holds_a_time(text):
    assert holds_time(text, in_words(text)[1])


@pytest.mark.parametrize("text", ["you may go", "it is blue", "a mondayish soup"])
def test_a_line_that_holds_none(text):
    assert not holds_time(text, in_words(text)[1])
