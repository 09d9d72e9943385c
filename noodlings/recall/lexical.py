"""Lexical search: BM25 over the entries of one agent, in memory, growing with every entry.

Words are folded and stemmed, and those that say nothing are left out. Entries and queries go through the same
function, as they would not match otherwise.

The work is bounded: words are read from the rarest on until `MAX_POSTINGS` places were looked at, so that a
word that is everywhere, and says nothing, is never scanned for.

A word counts where it stands, and less in the lines around it (`Neighbours`); each line gets the best of
these counts, once. So a line whose neighbourhood holds all the words of a question wins over one that repeats
a single word.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Collection, Iterable

import numpy as np

from noodlings import stemming
from noodlings.recall.growing_array import GrowingArray
from noodlings.recall.neighbours import NOWHERE, Mask, Neighbours, Numbers, Rows
from noodlings.stemming import STOP_WORDS

_WORD = re.compile(r"\w+")


def stems(text: str) -> list[str]:
    """The stemmed words of a text in their order, repeats kept, stop words left out."""
    return [stemming.stem(word) for word in _WORD.findall(text.casefold()) if word not in STOP_WORDS]


K1 = 1.2
"""How soon a repeated word stops counting more (Robertson and Zaragoza 2009, section 3.3)."""
B = 0.75
"""How far a long entry is held against its words, 0…1."""
MAX_POSTINGS = 20_000
"""Places looked at for one query, at most; the rarest word is always read whole."""

_MAX_COUNT = 255


class _Postings:
    """Where one word stands: rows, each once, and how often it stands there."""

    __slots__ = ("counts", "rows")

    def __init__(self) -> None:
        self.rows = array("I")
        self.counts = array("B")

    def places(self, seen: Mask) -> int:
        """In how many of the rows that are `seen`, shape (n,), it stands."""
        return int(seen[np.frombuffer(self.rows, np.uint32)].sum()) if len(self.rows) else 0

    def only(self, rows: Rows) -> _Postings:
        """Where it stands among some rows (rising), which are counted from 0."""
        at = np.searchsorted(rows, held := np.array(self.rows, np.intp))
        keep = rows[np.minimum(at, len(rows) - 1)] == held
        part = _Postings()
        part.rows.frombytes(at[keep].astype(np.uint32).tobytes())
        part.counts.frombytes(np.array(self.counts, np.uint8)[keep].tobytes())
        return part


class LexicalIndex:
    """Which rows hold which stemmed words."""

    def __init__(self) -> None:
        self._postings: dict[str, _Postings] = {}
        self._lengths = GrowingArray(np.float32)
        self._total_length = 0

    def __len__(self) -> int:
        return len(self._lengths)

    def append(self, stems: Collection[str]) -> None:
        """The words of the next row."""
        self._lengths.append(0.0)
        self.put(len(self._lengths) - 1, stems)

    def put(self, row: int, stems: Collection[str]) -> None:
        """The words of a row that has none."""
        self.extend(row, stems)
        self._lengths.rows[row] = len(stems)
        self._total_length += len(stems)

    def extend(self, row: int, stems: Iterable[str]) -> None:
        """Words by which a row is found too, none of which it held before. They do not make it longer."""
        for stem, count in Counter(stems).items():
            postings = self._postings.get(stem)
            if postings is None:
                postings = self._postings[stem] = _Postings()
            postings.rows.append(row)
            postings.counts.append(min(count, _MAX_COUNT))

    def remove(self, rows: Collection[int]) -> None:
        """Take all words of these rows out. Looks through the whole index: for forgetting, which is rare."""
        gone = np.array(sorted(rows), np.uint32)
        for stem in list(self._postings):
            postings = self._postings[stem]
            keep = ~np.isin(np.frombuffer(postings.rows, np.uint32), gone)
            if keep.all():
                continue
            if not keep.any():
                del self._postings[stem]
                continue
            kept = _Postings()
            kept.rows.frombytes(np.frombuffer(postings.rows, np.uint32)[keep].tobytes())
            kept.counts.frombytes(np.frombuffer(postings.counts, np.uint8)[keep].tobytes())
            self._postings[stem] = kept
        self._total_length -= int(self._lengths.rows[gone].sum())
        self._lengths.rows[gone] = 0.0

    def only(self, rows: Rows, stems: Iterable[str]) -> LexicalIndex:
        """Where these words stand in some rows (rising), as if there were no others."""
        part = LexicalIndex()
        part._lengths = self._lengths.taken(rows)
        part._total_length = int(part._lengths.rows.sum())
        for stem in set(stems) & self._postings.keys():
            kept = self._postings[stem].only(rows)
            if kept.rows:
                part._postings[stem] = kept
        return part

    def score(
        self, stems: Iterable[str], neighbours: Neighbours, hidden: Rows = NOWHERE
    ) -> tuple[Numbers, Numbers]:
        """How well each row matches, shape (n,), 0…1: the share of the query's words, by their rarity.

        Args:
            hidden: rows whose words count nowhere, nor in how rare a word is or how long a line.

        Returns:
            By the words there or around it; and how much of that is by the words that stand there itself.
        """
        scores, own, best = np.zeros((3, len(self) + 1), np.float32)
        seen = np.ones(len(self), np.bool_)
        seen[hidden] = False
        lines = max(len(self) - len(hidden), 1)
        average = (self._total_length - float(self._lengths.rows[hidden].sum())) / lines or 1.0
        whole = 0.0
        for rarity, postings in self._readable(set(stems), seen):
            whole += rarity
            if postings is None:
                continue
            rows, values = self._counts(postings, seen, average)
            own[rows] += np.float32(rarity) * values
            touched = neighbours.spread(rows, values)
            for places, counts in touched:
                best[places] = np.maximum(best[places], counts)
            for places, _ in touched:
                scores[places] += np.float32(rarity) * best[places]
                best[places] = 0.0
        if whole:
            scores /= np.float32(whole)
            own /= np.float32(whole)
        return scores[:-1], own[:-1]

    def _readable(self, stems: set[str], seen: Mask) -> list[tuple[float, _Postings | None]]:
        """(rarity, postings) from the rarest word on, as many as may be read; None: it stands nowhere."""
        lines = int(seen.sum())
        found = sorted((p.places(seen) if (p := self._postings.get(s)) else 0, s) for s in stems)
        readable: list[tuple[float, _Postings | None]] = []
        looked_at = 0
        for places, stem in found:
            looked_at += places
            if places and looked_at > MAX_POSTINGS and looked_at > places:
                break
            # Inverse document frequency, above 0 (the form that Lucene uses).
            rarity = math.log(1.0 + (lines - places + 0.5) / (places + 0.5))
            readable.append((rarity, self._postings.get(stem)))
        return readable

    def _counts(self, postings: _Postings, seen: Mask, average: float) -> tuple[Rows, Numbers]:
        """Where a word stands and how much it counts there, 0…1, in lines that are `average` words long."""
        rows: Rows = np.array(postings.rows, np.intp)
        keep = seen[rows]
        rows = rows[keep]
        counts: Numbers = np.array(postings.counts, np.float32)[keep]
        counts /= (
            counts + np.float32(K1 * (1.0 - B)) + np.float32(K1 * B / average) * self._lengths.rows[rows]
        )
        return rows, counts
