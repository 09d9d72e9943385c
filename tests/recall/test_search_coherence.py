"""How much neighbours help depends on how the archive talks, and what is hidden has no say in it."""

from __future__ import annotations

import numpy as np
import pytest

from noodlings.recall.filters import Filters
from noodlings.recall.neighbours import Neighbours
from noodlings.recall.rank import DEFAULT_WEIGHTS, LOOSE_WEIGHTS
from noodlings.recall.search import ENOUGH_PAIRS, MEANT, Searcher
from noodlings.recall.vectors import VectorIndex
from noodlings.values.percept import Kind
from tests.recall.archives import add, append_row, append_vector, archive_of, ids, make_entry, vector_of

SECOND = 1.0
WORDS = ("boat", "rain", "soup", "mill", "song", "horse", "clock", "bread", "stone", "feather")


def busy_room(*told: str, user: str = "user_ann", importance: float = 0.5) -> Searcher:
    """One talk in which every line is about something else, and what was told stands in its midst."""
    lines = [f"{WORDS[n % 10]} {WORDS[(n * 7 + 3) % 10]} {n}" for n in range(4 * ENOUGH_PAIRS)]
    lines[20:20] = told
    return archive_of(
        *(
            make_entry(
                number,
                line,
                user if line in told else "user_bob",
                timestamp=number * SECOND,
                encoded_importance=importance if line in told else 0.1,
            )
            for number, line in enumerate(lines)
        ),
        vectors=True,
    )


def coherence(vectors: list[str]) -> float:
    index, near = VectorIndex("test", 64), Neighbours()
    for number, text in enumerate(vectors):
        append_row(near, float(number), "")
        append_vector(index, vector_of(text), near)
    return index.coherence(*near.pairs(100))[0]


def test_a_talk_that_goes_on_is_coherent_and_a_busy_room_is_not() -> None:
    going_on = [f"{WORDS[n // 4]} {WORDS[n // 4]} {WORDS[n % 10]}" for n in range(40)]
    assert coherence(going_on) > 0.1
    assert abs(coherence([WORDS[n * 7 % 10] for n in range(40)])) < 0.2
    assert coherence(["boat"] * 20) == pytest.approx(0.0, abs=1e-6)


def test_a_room_that_says_one_thing_only_is_searched_by_its_words() -> None:
    room = archive_of(
        *(make_entry(n, "boat", timestamp=n * SECOND) for n in range(4 * ENOUGH_PAIRS)), vectors=True
    )
    assert ids(room.search("boat", limit=2, query_vector=vector_of("boat"))) == [0, 1]


def test_only_pairs_of_one_talk_are_measured_and_none_that_is_hidden() -> None:
    near = Neighbours()
    for number, place in enumerate(["inn", "inn", "mill", "mill", "mill"]):
        append_row(near, float(number), place)
    earlier, later = near.pairs(10)
    assert list(zip(earlier, later, strict=True)) == [(0, 1), (2, 3), (3, 4)]
    assert near.pairs(1)[1].tolist() == [4]
    assert near.pairs(10, np.array([3]))[1].tolist() == [1]


def test_in_a_busy_room_a_line_is_found_by_itself_and_by_what_it_matters() -> None:
    searcher = busy_room("my horse is lame", importance=0.9)
    hits = searcher.search("what became of the horse?", query_vector=vector_of("horse lame"))
    assert ids(hits)[0] == 20
    assert hits[0].scores["importance"] == pytest.approx(0.9)
    assert hits[0].scores["next_to"] == pytest.approx(0.0, abs=0.05)


def test_in_a_busy_room_a_line_that_is_somewhat_alike_is_no_mere_neighbour() -> None:
    room = busy_room("my leg is lame", importance=0.9)
    for number in range(200, 203):  # now and then a line goes on from the one before it
        line = make_entry(number, "rain, and more rain", "user_bob", timestamp=number * SECOND)
        add(room.archive, line, vector_of(line.user_text))
    faintly = vector_of("lame ducks and geese and hens and cows and pigs and goats")
    hits = {hit.entry_id: hit for hit in room.search("ill?", limit=100, query_vector=faintly)}
    assert 0.1 < hits[20].scores["meaning"] < MEANT
    assert not hits[20].only_near


def test_what_is_unlike_idle_talk_stands_out_beside_idle_talk_that_is_near_to_everything() -> None:
    idle = [f"her warm smile glows {WORDS[n % 10]} {WORDS[(n * 7 + 3) % 10]}" for n in range(64)]
    lines = [*idle[:20], "it was sesame again", *idle[20:]]
    room = archive_of(
        *(make_entry(n, line, "user_bob", timestamp=n * SECOND) for n, line in enumerate(lines)), vectors=True
    )
    asked = vector_of("a warm smile glows over sesame")
    nearest = [entry_id for entry_id, _ in room.nearest(asked)]
    hits = room.search("what must she never eat?", query_vector=asked)
    assert nearest[0] != 20
    assert ids(hits)[0] == 20
    assert hits[0].scores["meaning"] == pytest.approx(float(asked @ vector_of(lines[20])), abs=1e-5)
    assert hits[0].scores["standing_out"] > 2 * max(hit.scores["standing_out"] for hit in hits[1:])


def test_in_a_talk_that_goes_on_nothing_is_subtracted() -> None:
    going_on = [f"{WORDS[n // 4 % 10]} {WORDS[n // 4 % 10]} {WORDS[n % 10]}" for n in range(40)]
    talk = archive_of(
        *(make_entry(n, line, timestamp=n * SECOND) for n, line in enumerate(going_on)), vectors=True
    )
    hits = talk.search("boat", query_vector=vector_of("boat"))
    assert all("standing_out" not in hit.scores for hit in hits)


def test_whose_lines_are_rare_is_found_by_asking() -> None:
    searcher = busy_room("the mill", user="user_ann", importance=0.1)
    vector = vector_of("mill")
    mine = searcher.search("mill", asker="user_ann", query_vector=vector)
    assert ids(mine)[0] == 20
    assert mine[0].scores["asker"] > 0.5
    assert all(hit.scores["asker"] == 0.0 for hit in mine[1:])


def test_what_is_hidden_moves_no_score() -> None:
    everybody = Filters(present=frozenset({"user_cid"}))
    vector = vector_of("horse")
    open_room, with_secret = busy_room("my horse is lame"), busy_room("my horse is lame")
    for number in range(1_000, 1_040):
        secret = make_entry(
            number,
            "horse horse",
            "user_ann",
            timestamp=float(number),
            place="cellar",
            kind=Kind.WHISPER,
            audience={"user_ann"},
        )
        add(with_secret.archive, secret, vector_of("horse horse"))
    asked = ("horse", everybody)
    one = open_room.search(*asked, asker="user_cid", query_vector=vector)
    two = with_secret.search(*asked, asker="user_cid", query_vector=vector)
    assert one == two


def test_weights_go_from_one_to_the_other() -> None:
    assert LOOSE_WEIGHTS.toward(DEFAULT_WEIGHTS, 1.0) == DEFAULT_WEIGHTS
    assert LOOSE_WEIGHTS.toward(DEFAULT_WEIGHTS, 0.0) == LOOSE_WEIGHTS
    half = LOOSE_WEIGHTS.toward(DEFAULT_WEIGHTS, 0.5)
    assert half.importance == LOOSE_WEIGHTS.importance / 2
