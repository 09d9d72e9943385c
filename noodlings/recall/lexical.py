"""Lexical search: BM25 over the entries of one agent, in memory.

Words of entries and queries are folded and stemmed, and stop words are left out. The work is bounded: words
are read from the rarest on until `MAX_POSTINGS` places were looked at.

A word counts where it stands, and less in the lines around it (`Neighbours`); each line gets the best of
these counts, once. So a line whose neighbourhood holds all the words of a question wins over one that repeats
a single word.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from noodlings import stemming
from noodlings.recall.growing_array import GrowingArray
from noodlings.recall.neighbours import NOWHERE, Mask, Neighbours, Numbers, Rows
from noodlings.stemming import STOP_WORDS

_WORD = re.compile(r"\w+")


def stems(text: str) -> list[str]:
    """The stemmed words of a text in their order, with repeats, without stop words."""
    return in_words(text)[0]


def in_words(text: str) -> tuple[list[str], list[str]]:
    """The same, and all words in lower case before they are stemmed."""
    words = _WORD.findall(text.casefold())
    return [stem for word in words if (stem := _STEMS[word])], words


class _Stems(dict[str, str]):
    """A cache of the stems of words, "" for a stop word."""

    def __missing__(self, word: str) -> str:
        if len(self) > _MOST_STEMS:
            self.clear()
        stem = self[word] = "" if word in STOP_WORDS else stemming.stem(word)
        return stem


_STEMS, _MOST_STEMS = _Stems(), 100_000


K1 = 1.2
"""How soon a repeated word stops counting more (Robertson and Zaragoza 2009, section 3.3)."""
B = 0.75
"""How far a long entry is held against its words, 0…1."""
MAX_POSTINGS = 20_000
"""Places looked at for one query, at most; the rarest word is always read whole."""

_NOWHERE = np.uint32(2**32 - 1)


class LexicalIndex:
    """Which rows hold which stemmed words."""

    def __init__(self) -> None:
        # Rows in which a word stands, as often as it stands there, those of a row one after the other.
        self._places: dict[str, array[int]] = defaultdict(partial(array, "I"))
        self._lengths = GrowingArray(np.float32)
        self._total_length = 0

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, rows: Sequence[Collection[str]]) -> None:
        for row, stems in enumerate(rows, len(self._lengths)):
            self.extend(row, stems)
        lengths = np.fromiter(map(len, rows), np.float32, len(rows))
        self._lengths.extend(lengths)
        self._total_length += int(lengths.sum())

    def put(self, row: int, stems: Collection[str]) -> None:
        """Set the words of a row that has none."""
        self.extend(row, stems)
        self._lengths.rows[row] = len(stems)
        self._total_length += len(stems)

    def extend(self, row: int, stems: Iterable[str]) -> None:
        """Let a row be found by more words, none of which it held before, without making it longer."""
        places = self._places
        for stem in stems:
            places[stem].append(row)

    def remove(self, rows: Collection[int]) -> None:
        """Remove all words of these rows. This reads the whole index, but forgetting is rare."""
        gone = np.zeros(len(self), np.bool_)
        gone[list(rows)] = True
        stems, ends = list(self._places), np.cumsum([*map(len, self._places.values())])
        found = np.flatnonzero(gone[np.frombuffer(b"".join(self._places.values()), np.uint32)])
        for at in np.unique(np.searchsorted(ends, found, "right")):
            places = np.frombuffer(self._places[stems[at]], np.uint32)
            if len(kept := places[~gone[places]]):
                self._places[stems[at]] = array("I", kept.tobytes())
            else:
                del self._places[stems[at]]
        self._total_length -= int(self._lengths.rows[gone].sum())
        self._lengths.rows[gone] = 0.0

    def only(self, rows: Rows, stems: Iterable[str]) -> LexicalIndex:
        """A copy with these words and these rows (rising) alone, as if there were no others."""
        part = LexicalIndex()
        part._lengths = self._lengths.taken(rows)
        part._total_length = int(part._lengths.rows.sum())
        renumbered = np.full(len(self), -1, np.int64)
        renumbered[rows] = np.arange(len(rows))
        for stem in set(stems) & self._places.keys():
            at = renumbered[np.frombuffer(self._places[stem], np.uint32)]
            if len(kept := at[at >= 0]):
                part._places[stem] = array("I", kept.astype(np.uint32).tobytes())
        return part

    def score(
        self, stems: Iterable[str], neighbours: Neighbours, hidden: Rows = NOWHERE
    ) -> tuple[Numbers, Numbers]:
        """How well each row matches, shape (n,), 0…1: the share of the query's words, by their rarity.

        Args:
            hidden: rows that count nowhere, not even for how rare a word is or how long a line.

        Returns:
            The score by the words of the row and those around it, and the part by its own words alone.
        """
        scores, own, best = np.zeros((3, len(self) + 1), np.float32)
        seen = None
        if len(hidden):
            seen = np.ones(len(self), np.bool_)
            seen[hidden] = False
        lines = max(len(self) - len(hidden), 1)
        average = (self._total_length - float(self._lengths.rows[hidden].sum())) / lines or 1.0
        whole = 0.0
        for rarity, rows, counts in self._readable(set(stems), seen):
            whole += rarity
            if not len(rows):
                continue
            counts /= (
                counts + np.float32(K1 * (1.0 - B)) + np.float32(K1 * B / average) * self._lengths.rows[rows]
            )
            own[rows] += np.float32(rarity) * counts
            touched = neighbours.spread(rows, counts)
            for places, values in touched:
                best[places] = np.maximum(best[places], values)
            for places, _ in touched:
                scores[places] += np.float32(rarity) * best[places]
                best[places] = 0.0
        if whole:
            scores /= np.float32(whole)
            own /= np.float32(whole)
        return scores[:-1], own[:-1]

    def _readable(self, stems: set[str], seen: Mask | None) -> list[tuple[float, Rows, Numbers]]:
        """(rarity, rows, counts) from the rarest word on, as many as may be read; some words have no rows."""
        lines = len(self) if seen is None else int(seen.sum())
        found = []
        for stem in stems:
            places = np.frombuffer(self._places.get(stem, b""), np.uint32)
            if seen is not None:
                places = places[seen[places]]
            found.append((_different(places), stem, places))
        readable = []
        looked_at = 0
        for many, _, places in sorted(found, key=lambda one: one[:2]):
            looked_at += many
            if many and looked_at > MAX_POSTINGS and looked_at > many:
                break
            # Inverse document frequency, above 0 (the form that Lucene uses).
            rarity = math.log(1.0 + (lines - many + 0.5) / (many + 0.5))
            first = np.flatnonzero(np.diff(places, prepend=_NOWHERE))
            counts: Numbers = np.diff(first, append=len(places)).astype(np.float32)
            readable.append((rarity, places[first].astype(np.intp), counts))
        return readable


def _different(places: npt.NDArray[np.uint32]) -> int:
    """How many different rows there are, where equal ones follow each other."""
    return int(np.count_nonzero(places[1:] != places[:-1])) + 1 if len(places) else 0
