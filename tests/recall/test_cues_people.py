import pytest

from noodlings.recall.cues import PeopleIndex


@pytest.fixture
def people():
    people = PeopleIndex()
    for user_id in ("user_ann", "agent_fred_rogers", "user_will", "user_fred"):
        people.meet(user_id)
    people.name("user_ann", "Annabel Lee")
    return people


def named(people, text):
    return [(mention.user_id, text[mention.start : mention.end]) for mention in people.mentions(text)]


def test_in_any_case(people):
    assert named(people, "what did ANN say to ann?") == [("user_ann", "ANN"), ("user_ann", "ann")]


def test_the_longest_name_counts(people):
    assert named(people, "Did Annabel Lee call?") == [("user_ann", "Annabel Lee")]
    assert named(people, "where is Fred Rogers") == [("agent_fred_rogers", "Fred Rogers")]


def test_a_name_of_two_people_means_both(people):
    assert {user for user, _ in named(people, "what about Fred?")} == {"agent_fred_rogers", "user_fred"}


def test_part_of_a_word_is_no_name(people):
    assert named(people, "the annual freddy") == []


def test_a_possessive_is_a_name(people):
    assert named(people, "Ann's dog") == [("user_ann", "Ann")]


def test_a_name_that_is_an_everyday_word_needs_its_capital(people):
    assert named(people, "what will Will do?") == [("user_will", "Will")]
    assert named(people, "Will it rain?") == []


def test_a_name_without_letters_is_none(people):
    people.name("user_x", "***")
    assert named(people, "*** ***") == []
