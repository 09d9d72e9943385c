import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.recall import lexical
from noodlings.recall.lexical import K1, B, LexicalIndex
from noodlings.recall.neighbours import BEFORE, Neighbours
from tests.recall.archives import append_row

APART = 9_999.0
WORDS = st.lists(st.sampled_from("abcdef"), max_size=8)


def index_of(*documents, gap=APART):
    index, neighbours = LexicalIndex(), Neighbours()
    for number, words in enumerate(documents):
        append_row(neighbours, number * gap)
        index.add([list(words)])
    return index, neighbours


def score(documents, query, gap=APART):
    index, neighbours = index_of(*documents, gap=gap)
    return index.score(query, neighbours)[0].tolist()


def reference(documents, query):
    """BM25 as in Robertson and Zaragoza, as the share of the rarities of the query."""
    average = sum(map(len, documents)) / len(documents) or 1.0
    scores, whole = [0.0] * len(documents), 0.0
    for word in set(query):
        places = sum(word in words for words in documents)
        rarity = math.log(1.0 + (len(documents) - places + 0.5) / (places + 0.5))
        whole += rarity
        for row, words in enumerate(documents):
            count = Counter(words)[word]
            scores[row] += rarity * count / (count + K1 * (1.0 - B + B * len(words) / average))
    return [value / whole for value in scores] if whole else scores


@given(st.lists(WORDS, min_size=1, max_size=12), WORDS)
def test_apart_from_neighbours_it_is_bm25(documents, query):
    assert score(documents, query) == pytest.approx(reference(documents, query), abs=1e-5)


@given(st.lists(WORDS, min_size=1, max_size=12), WORDS)
def test_scores_are_bounded_also_among_neighbours(documents, query):
    assert all(0.0 <= value <= 1.0 for value in score(documents, query, gap=1.0))


def test_a_rare_word_counts_more_than_a_common_one():
    scores = score(["ab", "ac", "ad", "ae", "af"], "ab")
    assert scores[0] > 2 * scores[1] > 0.0


def test_a_word_counts_around_where_it_stands_once():
    scores = score(["a", "b", "c", "d", "e"], "a", gap=1.0)
    assert scores[1] == pytest.approx(BEFORE[0] * scores[0], rel=1e-5)
    assert scores[2] == pytest.approx(BEFORE[1] * scores[0], rel=1e-5)
    assert scores[3:] == [0.0, 0.0]
    assert score(["a", "a"], "a", gap=1.0)[1] == score(["a", "a"], "a")[1]


def test_words_that_stand_everywhere_are_not_scanned(monkeypatch):
    monkeypatch.setattr(lexical, "MAX_POSTINGS", 3)
    scores = score(["ab", "ab", "ab", "bc"], "bc")
    assert scores[:3] == [0.0, 0.0, 0.0]
    assert scores[3] > 0.0


def test_the_rarest_word_is_always_read(monkeypatch):
    monkeypatch.setattr(lexical, "MAX_POSTINGS", 1)
    assert min(score(["a", "a", "a"], "a")) > 0.0


def test_words_that_came_later_are_found():
    index, neighbours = index_of("a", "b")
    index.extend(0, ["c"])
    assert index.score(["c"], neighbours)[0][0] > 0.0


@pytest.mark.slow
@given(st.lists(WORDS, min_size=2, max_size=8), st.data())
def test_nothing_is_left_of_what_is_removed(documents, data):
    gone = data.draw(st.sets(st.sampled_from(range(len(documents))), min_size=1))
    index, neighbours = index_of(*documents)
    index.remove(gone)
    emptied = [[] if row in gone else words for row, words in enumerate(documents)]
    for word in "abcdef":
        assert index.score([word], neighbours)[0].tolist() == pytest.approx(score(emptied, [word]), abs=1e-5)
