"""Search: the right memory out of everything an agent ever perceived.

A search reads the question's cues; scores every entry that passes the filters, by words, vectors and cues;
takes the best; and lets mood decide among those that are about equally good. It never reads the clock or a
random number: the same archive and question give the same hits. If only one user's entries are asked for,
nothing that anybody else said changes a hit or a score.

A line is also found by the lines around it (`noodlings.recall.neighbours`), and a hit tells which it was.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from noodlings.errors import UserError
from noodlings.recall import cues
from noodlings.recall.archive import SearchIndex
from noodlings.recall.cues import DAY, WEEK_AFTER, Cues, spans
from noodlings.recall.filters import EVERYTHING, Filters
from noodlings.recall.mood_congruence import DEFAULT_WEIGHT, congruence, lift
from noodlings.recall.neighbours import Neighbours, Numbers, Rows
from noodlings.recall.rank import DEFAULT_WEIGHTS, LOOSE_WEIGHTS, best_rows, combine
from noodlings.recall.vectors import VectorIndex, candidates
from noodlings.text import clean
from noodlings.values.affect import Affect
from noodlings.values.memory import Why

CONNECTED = 0.15
"""Coherence of an archive at which neighbours count as much as a line itself: two people in a long talk reach
.19, a busy room .00 (docs/decisions/0018-lived-talk.md)."""
PAIRS, ENOUGH_PAIRS = 512, 16
"""How many pairs of lines are measured at most, and at least; a shorter talk is taken for connected."""
BITS = 10.0
"""Bits at which the component `asker` is full: one line in a thousand is theirs."""
MEANT = 0.3
"""Cosine from which a connected line by itself means something of what is asked
(docs/decisions/0009-asking.md). The less connected lines are, the lower it is."""


@dataclass(frozen=True, slots=True)
class ContentScores:
    """The components for meaning and words, for the rows that were asked for.

    Attributes:
        meaning: with neighbours, 0…1; None if words alone decide.
        words: with neighbours, 0…1; `own` is the part by the words of the line itself.
        connected: how much lines go on from each other, and so how much neighbours count, 0…1.
        rough: whether meaning is by the signs of the vectors alone; see `exactly`.
    """

    meaning: Numbers | None
    words: Numbers
    own: Numbers
    connected: float
    rough: bool
    _rows: Rows | None
    _hidden: Rows
    _near: Neighbours
    _asks: npt.NDArray[np.bool_]
    _vectors: VectorIndex | None
    _query: npt.ArrayLike | None
    _common: Numbers | float

    def exactly(self, places: Rows, centred: bool = True) -> Numbers:
        """The meaning of the rows at some places, measured exactly; not `centred`, it is a plain cosine."""
        if self.meaning is None or self._vectors is None or self._query is None:
            raise ValueError("searching by meaning needs an embedding model; set embedding.model")
        rows = places if self._rows is None else self._rows[places]
        average, common = float(self.meaning.mean()), self._common if centred else 0.0
        return self._vectors.meaning(
            self._query, self._near, self.connected, rows, self._hidden, average, common=common
        )

    def only_near(self, place: int) -> bool:
        """Whether a line was found by the lines around it alone.

        A line right after a question answers it, in whatever words, and counts as one with it.
        """
        if self.own[place] > 0.0 or not self.connected:
            return False
        row = place if self._rows is None else int(self._rows[place])
        before = self._near.before(row)
        if before is not None and self._asks[before]:
            return False
        if self._vectors is None or self._query is None:
            return True
        return self._vectors.cosine(self._query, row) < MEANT * self.connected


def content(
    archive: SearchIndex,
    question: Cues,
    query_vector: npt.ArrayLike | None,
    rows: Rows | None,
    told: Rows | None,
    hidden: Rows,
) -> ContentScores:
    """The scores of `rows` (None: all) and of the lines around them.

    If the filters ask for one user, only rows that this user `told` count. `hidden` rows count nowhere, so
    that no score tells that they are there.
    """
    words, near, asks = archive.words, archive.neighbours, archive.asks.rows
    vectors = None if query_vector is None else archive.vectors
    if told is not None and rows is not None:
        hidden = np.flatnonzero(np.isin(told, hidden))
        rows = np.searchsorted(told, rows)
        words, near, asks = words.only(told, question.words), near.only(told), asks[told]
        vectors = None if vectors is None else vectors.only(told)
    if len(hidden):
        asks = asks.copy()
        asks[hidden] = False
    meaning, connected, rough = None, 1.0, False
    common: Numbers | float = 0.0
    if vectors is not None and query_vector is not None:
        connected, common = _connected(vectors, near, hidden)
        rough = vectors.many(rows)
        meaning = vectors.meaning(query_vector, near, connected, rows, hidden, rough=rough, common=common)
    scores, own = words.score(question.words, near, hidden)
    if rows is not None:
        scores, own = scores[rows], own[rows]
    if connected < 1.0:
        scores = own + np.float32(connected) * (scores - own)
    return ContentScores(
        meaning, scores, own, connected, rough, rows, hidden, near, asks, vectors, query_vector, common
    )


def _connected(vectors: VectorIndex, near: Neighbours, hidden: Rows) -> tuple[float, Numbers | float]:
    """How much the lines that are not hidden go on from each other, 0…1; what their vectors are lessened by.

    In a talk that goes on, what all lines have in common is its subject, and stays. In a busy room it is
    idle talk, which is near to every question.
    """
    earlier, later = near.pairs(PAIRS, hidden)
    if len(later) < ENOUGH_PAIRS:
        return 1.0, 0.0
    coherence, mean = vectors.coherence(earlier, later)
    connected = min(max(coherence / CONNECTED, 0.0), 1.0)
    return connected, np.float32(1.0 - connected) * mean


Moments = npt.NDArray[np.float64]

COMPONENTS = {Why.SEMANTIC: "meaning", Why.LEXICAL: "words", Why.NEXT_TO: "next_to", Why.DATE: "date"}
"""The reasons for an entry (`noodlings.recall.rank.EVIDENCE`), and the component for each."""

MAX_LIMIT = 1_000


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that was found.

    Attributes:
        score: 0…1, mood included.
        why: semantic, lexical, next_to, date: what found it, the strongest first; affect, for mood, last.
        scores: each component, 0…1, by its name (see `noodlings.recall.rank.Weights`), and "mood": the part
            of the score that mood added. "words" counts the words of the line itself, "next_to" what the
            lines around it add; "meaning" is a cosine. "standing_out", only where lines have little to do
            with those around them, is what counted for meaning: how much nearer it is than idle talk.
        only_near: it was found by the lines around it alone.
    """

    entry_id: int
    score: float
    why: tuple[Why, ...]
    scores: dict[str, float] = field(default_factory=dict)
    only_near: bool = False


class Searcher:
    """Searches one archive.

    Attributes:
        sets_aside: whether a question leaves out what it names only to exclude it ("rather than the
            drizzle"); an evaluation turns it off.
        hindsight: whether what mattered is what matters in hindsight.
    """

    def __init__(self, archive: SearchIndex) -> None:
        self.archive = archive
        self.sets_aside = self.hindsight = True

    def wording(self, query: str, filters: Filters = EVERYTHING, asker: str | None = None) -> str:
        """The question as it is to be embedded for `search`."""
        with self.archive.lock:
            return self._read(clean(query), filters, asker).wording

    def nearest(self, query_vector: npt.ArrayLike, limit: int = 10) -> list[tuple[int, float]]:
        """(entry id, cosine) of the nearest vectors, nearest first: meaning alone, no words, no cues."""
        with self.archive.lock:
            found = self.archive.vectors.search(query_vector, limit)
            return [(int(self.archive.ids.rows[row]), cosine) for row, cosine in found]

    def search(
        self,
        query: str,
        filters: Filters = EVERYTHING,
        limit: int = 10,
        mood: Affect | None = None,
        emotion_weight: float = DEFAULT_WEIGHT,
        candidate_multiplier: int = 2,
        min_score: float = 0.0,
        query_vector: npt.ArrayLike | None = None,
        asker: str | None = None,
        now: float | None = None,
    ) -> list[Hit]:
        """The entries that answer a question, best first; of equal ones the earlier first.

        Args:
            query: names, dates and "when" in it count.
            limit: hits at most, 1…1000.
            mood: what is felt now; of about equal matches, those that felt alike are preferred.
            emotion_weight: how much, 0 (not at all)…1.
            candidate_multiplier: how many times `limit` entries compete for that, 1…5.
            min_score: hits below it are left out, 0…1.
            query_vector: the embedded `wording(query, filters)`; without it words alone decide.
            asker: id of whoever asks, so that "my dog" is theirs.
            now: world time, so that "on Saturday" is a day.

        Raises:
            UserError: a parameter is out of range, there are no words, or the vector is of another model.
        """
        _check(limit, emotion_weight, candidate_multiplier, min_score)
        query = clean(query)
        if not query:
            raise UserError("the query is empty; say in a few words what to look for")
        archive = self.archive
        with archive.lock:
            rows = archive.index.rows(filters)
            if not len(archive) or (rows is not None and not len(rows)):
                return []
            question = self._read(query, filters, asker, now)
            told = archive.index.told(filters)
            around = content(archive, question, query_vector, rows, told, archive.index.hidden(filters))
            parts = self._parts(question, around, rows, told, asker)
            weights = LOOSE_WEIGHTS.toward(DEFAULT_WEIGHTS, around.connected)
            scores = combine(parts, weights)
            if rows is None:
                scores[~archive.index.alive.rows] = -1.0
            count = limit if mood is None else limit * candidate_multiplier
            if around.connected < 1.0:
                count *= 2  # some turn out to have nothing to do with the question
            few = np.arange(len(scores))
            if around.rough:
                few = np.sort(best_rows(scores, candidates(count)))
                few = few[scores[few] >= 0.0]
                parts = {name: part[few] for name, part in parts.items()}
                parts["meaning"] = around.exactly(few)
                scores = combine(parts, weights)
            places = best_rows(scores, count)
            places = places[scores[places] >= 0.0]
            found = few[places] if rows is None else rows[few[places]]
            lifts = np.zeros_like(scores[places])
            if mood is not None:
                congruent = congruence(mood, archive.affects.rows[found])
                lifts = lift(scores[places], congruent, emotion_weight).astype(np.float32)
            totals = np.minimum(scores[places] + lifts, 1.0)
            if around.connected < 1.0 and len(places):
                parts["standing_out"], parts["meaning"] = parts["meaning"], parts["meaning"].copy()
                parts["meaning"][places] = around.exactly(few[places], centred=False)
            hits = list[Hit]()
            for at in np.lexsort((places, -totals)):
                place, there = int(places[at]), int(few[places[at]])
                components = {name: float(part[place]) for name, part in parts.items()}
                components["words"] = own = float(around.own[there])
                components["next_to"] = max(float(around.words[there]) - own, 0.0)
                of_day = question.only_day and components["date"] == DAY
                entry_id = int(archive.ids.rows[found[at]])
                only_near = not of_day and around.only_near(there)
                hit = _hit(entry_id, totals[at], components, lifts[at], only_near)
                if hit.score >= min_score and hit.why[:1] not in ((), (Why.AFFECT,)):
                    hits.append(hit)
                if len(hits) == limit:
                    break
            return hits

    def _read(self, query: str, filters: Filters, asker: str | None, now: float | None = None) -> Cues:
        return cues.read(query, self.archive.people, asker, filters.user, self.sets_aside, now)

    def _parts(
        self,
        question: cues.Cues,
        around: ContentScores,
        rows: Rows | None,
        told: Rows | None,
        asker: str | None,
    ) -> dict[str, Numbers]:
        """Each component that this question has, 0…1, for `rows` (all where None)."""
        archive, index = self.archive, self.archive.index
        take: Rows | slice = slice(None) if rows is None else rows
        parts = {} if around.meaning is None else {"meaning": around.meaning}
        parts["words"] = around.words
        users, connected = index.users.rows[take], np.float32(around.connected)
        if question.speakers:
            spoke = np.zeros(len(users), np.float32)
            for user_id in question.speakers:
                # Without connected lines, "my" alone does not tell one's own lines from others'.
                weight = connected if user_id == asker else np.float32(1.0)
                np.maximum(spoke, weight * (users == index.user_code(user_id)), out=spoke)
            parts["speaker"] = spoke
        if connected < 1.0:
            hindsight = self.hindsight and told is None  # others have a part in it
            parts["importance"] = (index.weights if hindsight else index.importances).rows[take]
            if asker is not None and question.speakers <= {asker}:
                parts["asker"] = _told_by(users == index.user_code(asker))
        if question.dates or question.day is not None:
            times = index.timestamps.rows
            known = archive.happened.rows[take], archive.happened_given.rows[take]
            parts["date"] = _dated(question, times if told is None else times[told], times[take], *known)
        if question.asks_when:
            parts["time"] = archive.with_time.rows[take].astype(np.float32)
        parts["length"] = archive.lengths.rows[take]
        return parts


def _told_by(theirs: npt.NDArray[np.bool_]) -> Numbers:
    """For rows of the asker, how much that says, in `BITS`, 0…1; 0 for all others."""
    share = max(float(theirs.mean()), 2.0**-BITS)
    return theirs * np.float32(-math.log2(share) / BITS)


def _dated(
    question: Cues, all_moments: Moments, moments: Moments, happened: Moments, given: npt.NDArray[np.bool_]
) -> Numbers:
    """How well each row fits one of the dates that were named, 0…1.

    It does by when it `happened`, shape (n, 2), and by the time at which it was told, unless that is `given`,
    or the day is counted back ("on Saturday") and the words of the row say when it happened.
    """
    first, last = float(all_moments.min()), float(all_moments.max())
    fits = np.zeros(len(moments), np.float32)
    begins, ends = happened[:, 0], happened[:, 1]
    known = ~np.isnan(begins)
    named = [
        (span, known if span.weight == WEEK_AFTER else given)
        for date in question.dates
        for span in spans(date, first, last)
    ]
    if question.day is not None:
        named.append((question.day, known))
    for span, otherwise in named:
        within = ~otherwise & (moments >= span.start) & (moments < span.end)
        if span.weight != WEEK_AFTER:
            within |= (begins < span.end) & (ends > span.start)  # False for NaN
        fits[within] = np.maximum(fits[within], np.float32(span.weight))
    return fits


def _hit(entry_id: int, score: float, components: dict[str, float], lifted: float, only_near: bool) -> Hit:
    found = [reason for reason, name in COMPONENTS.items() if components.get(name, 0.0) > 0.0]
    why = sorted(found, key=lambda reason: -components[COMPONENTS[reason]])
    if lifted > 0.0:
        why.append(Why.AFFECT)
    return Hit(entry_id, float(score), tuple(why), components | {"mood": float(lifted)}, only_near)


def _check(limit: int, emotion_weight: float, candidate_multiplier: int, min_score: float) -> None:
    for name, value, low, high in (
        ("limit", limit, 1, MAX_LIMIT),
        ("emotion_weight", emotion_weight, 0.0, 1.0),
        ("candidate_multiplier", candidate_multiplier, 1, 5),
        ("min_score", min_score, 0.0, 1.0),
    ):
        if not low <= value <= high:
            raise UserError(f"{name} is {value!r}: it must lie between {low:g} and {high:g}")
