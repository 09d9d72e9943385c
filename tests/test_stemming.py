"""One stemmer for all, and it does not mix up the words of threads."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from noodlings import stemming
from noodlings.stemming import COMMON_WORDS, STOP_WORDS, stem

SHAPES = ("memories", "running", "happily", "nationalisation", "argued", "responsibility", "dogs", "ponies")
WORDS = [shape + ending for shape in SHAPES for ending in ("", "ness", "ings", "edly", "ations", "fully")]


def test_threads_get_the_stems_that_one_alone_gets() -> None:
    alone = [stem.__wrapped__(word) for word in WORDS]
    start = threading.Barrier(4)

    def stems(_: int) -> list[list[str]]:
        start.wait()
        return [[stem.__wrapped__(word) for word in WORDS] for _ in range(40)]

    with ThreadPoolExecutor(4) as threads:
        for rounds in threads.map(stems, range(4)):
            assert all(found == alone for found in rounds)


def test_each_thread_has_a_stemmer_of_its_own() -> None:
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(stemming._stemmer).result() is not stemming._stemmer()
    assert stemming._stemmer() is stemming._stemmer()


def test_words_that_search_leaves_out_never_give_anything_away() -> None:
    assert STOP_WORDS < COMMON_WORDS
    assert not {"dog", "died", "harbour", "secret"} & COMMON_WORDS
