"""What forgetting means, over every adapter of the store."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from noodlings.errors import StoreError
from noodlings.ports import Changes, Forgotten
from noodlings.store.forgetting import FORGOTTEN
from noodlings.values.trace import Modulation, RecalledTrace
from tests.store.either import AnyStore, filled, ids, the_entry
from tests.store.records import AGENT, a_trace, an_entry


def test_what_was_forgotten_is_in_no_stream_and_no_answer(store: AnyStore) -> None:
    filled(store, 3)
    store.commit(Changes(AGENT, episodic=(1, 2), trace=a_trace(2)))
    assert store.forget(AGENT, [2, 2, 77], by_user="user_caity", timestamp=9.0) == Forgotten(1)
    record = store.load(AGENT)
    assert record is not None
    assert ids(record.working) == ids(store.archive(AGENT)) == [1, 3]
    assert ids(record.episodic) == [1]
    assert (record.perceived, record.consolidated) == (2, 1)
    assert store.entries(AGENT, [2]) == {}
    assert store.traces(AGENT, 9) == []


def test_forgetting_what_is_not_there_does_nothing(store: AnyStore) -> None:
    assert store.forget(AGENT, [1], by_user="admin", timestamp=1.0) == Forgotten()
    filled(store, 1)
    assert store.forget(AGENT, [], by_user="admin", timestamp=1.0) == Forgotten()
    assert store.forget(AGENT, [2, -1, 10**30], by_user="admin", timestamp=1.0) == Forgotten()
    assert ids(store.archive(AGENT)) == [1]


def test_of_a_name_that_nobody_can_have_there_is_nothing(store: AnyStore) -> None:
    filled(store, 1)
    assert store.told_by(AGENT, "user\0caity") == store.told_by(AGENT, "\0") == []
    forgotten = store.forget(AGENT, [], by_user="admin", timestamp=1.0, told_by="\0")
    assert forgotten == Forgotten()
    assert store.taken(AGENT, "talk\0", ["\0"]) == {}
    assert store.held(AGENT, "\0") == []
    assert store.world_get("\0") is None
    with pytest.raises(StoreError):
        store.world_set("\0", 1)
    assert ids(store.archive(AGENT)) == [1]


def test_a_forgotten_id_is_never_given_again(store: AnyStore) -> None:
    filled(store, 3)
    store.forget(AGENT, [2, 3], by_user="admin", timestamp=1.0)
    store.forget(AGENT, [1], by_user="admin", timestamp=2.0)
    record = store.load(AGENT)
    assert record is not None
    assert record.last_id == 3


def test_what_was_forgotten_meanwhile_stays_forgotten(store: AnyStore) -> None:
    filled(store, 3)
    store.forget(AGENT, [3], by_user="admin", timestamp=1.0)
    late = replace(an_entry(3), response="I REMEMBER")
    changes = Changes(AGENT, updated=(late, an_entry(2, response="YES")), episodic=(3,), trace=a_trace(3))
    store.commit(changes)
    store.commit(Changes(AGENT, evicted=(3,)))
    assert ids(store.archive(AGENT)) == [1, 2]
    assert the_entry(store, 2).response == "YES"
    assert store.traces(AGENT, 9) == []


def test_turns_that_recalled_the_forgotten_lose_their_words(store: AnyStore) -> None:
    dog = an_entry(1, "My dog died yesterday", response="Oh no.")
    turns = (
        an_entry(2, "how are you", response="SAD: a dog died."),
        an_entry(3, "and now", response="Better."),
        an_entry(4, "what else", response="Nice weather."),
    )
    store.commit(Changes(AGENT, added=(dog, *turns)))
    made = Modulation(
        "ego", 0.5, "the dog died", "THE DOG DIED", lens="a dead dog", read=("My dog died yesterday",),
        entries=(1,),
    )  # fmt: skip
    said = a_trace(2, 1, thought="the dog", response="SAD: a dog died.", modulations=(made,))
    for trace in (
        a_trace(1, response="Oh no."),
        said,
        a_trace(3, 2, 1),
        a_trace(4, 2, response="Nice weather."),
    ):
        store.commit(Changes(AGENT, trace=trace))

    forgotten = store.forget(AGENT, [1], by_user="user_caity", timestamp=9.0)
    assert forgotten == Forgotten(1, redacted=(2,))

    newest, after, turn = store.traces(AGENT, 9)
    assert turn == replace(
        a_trace(2),
        thought=FORGOTTEN,
        response=FORGOTTEN,
        modulations=(Modulation("ego", 0.5, FORGOTTEN, FORGOTTEN),),
    )
    assert after == a_trace(3, 2)
    assert newest == a_trace(4, 2, response="Nice weather.")
    assert [the_entry(store, number).response for number in (2, 3, 4)] == [None, "Better.", "Nice weather."]


def test_however_many_are_forgotten_at_once_none_stays(store: AnyStore) -> None:
    filled(store, 1_100)
    everything = range(1, 1_101)
    assert store.forget(AGENT, everything, by_user="admin", timestamp=1.0) == Forgotten(1_100)
    assert store.archive(AGENT) == []


def test_an_answer_that_was_repeated_later_goes_there_too(store: AnyStore) -> None:
    said = {2: "You stole the crown.", 3: "I said that you stole the crown.", 4: "Hello again."}
    store.commit(
        Changes(
            AGENT,
            added=(
                an_entry(1, "I stole the crown"),
                *(an_entry(number, response=words) for number, words in said.items()),
            ),
        )
    )
    for number, words in said.items():
        store.commit(Changes(AGENT, trace=a_trace(number, number - 1, thought=words, response=words)))
    assert store.forget(AGENT, [1], by_user="admin", timestamp=1.0).redacted == (2, 3)
    assert [the_entry(store, number).response for number in said] == [None, None, "Hello again."]
    latest, second_hand, first_hand = store.traces(AGENT, 3)
    assert latest.response == "Hello again."
    assert (second_hand.response, second_hand.thought) == (FORGOTTEN, FORGOTTEN)
    assert [memory.entry_id for memory in second_hand.recalled] == [2]
    assert first_hand.recalled == ()


def test_an_answer_made_of_circumstances_goes_with_them(store: AnyStore) -> None:
    happened = {"when": {"begins": 896745600.0, "words": "Pentecost"}, "where": "Zandvoort"}
    told = an_entry(1, "I lost the ring", extra={"data": {"circumstances": happened}})
    said = {2: "Over in Zandvoort.", 3: "At Pentecost, I think.", 4: "On 2 June 1998.", 5: "Hello again."}
    store.commit(
        Changes(AGENT, added=(told, *(an_entry(one, response=words) for one, words in said.items())))
    )
    for number, words in said.items():
        store.commit(Changes(AGENT, trace=a_trace(number, 1, thought=words, response=words)))
    assert store.forget(AGENT, [1], by_user="admin", timestamp=1.0).redacted == (2, 3, 4)
    assert [the_entry(store, number).response for number in said] == [None, None, None, "Hello again."]


def test_an_answer_goes_where_the_voice_says_what_it_was_made_of(store: AnyStore) -> None:
    told, asked, hello = (
        an_entry(1, "I owe Bo 5"),
        an_entry(2, "what?", response="5."),
        an_entry(3, response="x"),
    )
    used, idle = (RecalledTrace(1, ("semantic",), 0.5, used=used) for used in (True, False))
    store.commit(Changes(AGENT, added=(told,)))
    store.commit(Changes(AGENT, added=(asked,), trace=a_trace(2, recalled=(used,), response="5.")))
    store.commit(Changes(AGENT, added=(hello,), trace=a_trace(3, recalled=(idle,), response="x")))
    assert store.forget(AGENT, [1], by_user="user_caity", timestamp=5.0).redacted == (2,)
    assert store.entries(AGENT, [2])[2].response is None


def test_of_a_turn_that_is_forgotten_itself_nothing_is_left_to_redact(store: AnyStore) -> None:
    added = (an_entry(1, "My dog died"), an_entry(2, "how are you", response="A dog died."))
    store.commit(Changes(AGENT, added=added, trace=a_trace(2, 1, response="A dog died.")))
    assert store.forget(AGENT, [1, 2], by_user="admin", timestamp=1.0) == Forgotten(2)
    assert store.archive(AGENT) == []
    assert store.traces(AGENT, 9) == []


@pytest.mark.parametrize(
    "mistake", [{"by_user": "\udc00", "timestamp": 1.0}, {"by_user": "me", "timestamp": math.nan}]
)
def test_a_refused_forgetting_forgets_nothing(store: AnyStore, mistake: dict[str, Any]) -> None:
    filled(store, 1)
    with pytest.raises(StoreError):
        store.forget(AGENT, [1], **mistake)
    assert ids(store.archive(AGENT)) == [1]
