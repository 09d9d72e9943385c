"""Filters: what a search may bring at all, and an index for them.

What is filtered out never takes part, neither in the limit nor in the maximum of a score.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from noodlings.affect.feeling import FAMILIES, family_of, feeling, feelings
from noodlings.clock import UNITS
from noodlings.errors import UserError
from noodlings.ports import EntryColumns
from noodlings.recall.growing_array import GrowingArray
from noodlings.recall.neighbours import NOWHERE, Rows
from noodlings.text import clean, shorten
from noodlings.values.audience import Audience, may_learn, of_audiences
from noodlings.values.memory import MemoryEntry, tags_of
from noodlings.values.percept import Kind


@dataclass(frozen=True, slots=True)
class Filters:
    """What may be found. Every field that is set must hold.

    Attributes:
        user: only what this user said or did.
        since, until: world time, both included.
        kinds: only these; empty for all.
        tags: only what has all of these.
        min_importance: importance in force, 0…1.
        feeling: a word or family of `noodlings.affect.feeling` ("sorrow", "annoyed").
        among: only these entries, by id; None for all.
        without: not these entries, by id.
        present: who would hear of it; only what all of them may learn of. None for no limit.
    """

    user: str | None = None
    since: float | None = None
    until: float | None = None
    kinds: frozenset[Kind] = frozenset()
    tags: frozenset[str] = frozenset()
    min_importance: float = 0.0
    feeling: str | None = None
    among: frozenset[int] | None = None
    without: frozenset[int] = frozenset()
    present: frozenset[str] | None = None

    def __post_init__(self) -> None:
        for name in ("since", "until"):
            moment = getattr(self, name)
            if moment is not None and not math.isfinite(moment):
                raise UserError(f"{name} must be seconds of world time, not {moment!r}")
        if self.since is not None and self.until is not None and self.since > self.until:
            raise UserError("since is later than until; swap them")
        if not 0.0 <= self.min_importance <= 1.0:
            raise UserError(f"min_importance is {self.min_importance!r}: it must lie between 0 and 1")
        if not (self.feeling is None or self.feeling in FAMILIES or family_of(self.feeling) != "unknown"):
            raise UserError(
                f"{self.feeling!r} is not a feeling; try joy, calm, fear, anger, sorrow or boredom"
            )

    def admits(self, entry: MemoryEntry) -> bool:
        return (
            self.user in (None, entry.user_id)
            and (self.since is None or entry.timestamp >= self.since)
            and (self.until is None or entry.timestamp <= self.until)
            and (not self.kinds or entry.kind in self.kinds)
            and self.tags <= tags_of(entry)
            and entry.importance >= self.min_importance
            and (self.feeling is None or self.feeling in _felt(entry))
            and (self.among is None or entry.id in self.among)
            and entry.id not in self.without
            and (self.present is None or may_learn(self.present, entry.audience))
        )


def _felt(entry: MemoryEntry) -> tuple[str, str]:
    """The word for what an entry felt like, and its family."""
    felt = feeling(entry.affect)
    return felt, family_of(felt)


EVERYTHING = Filters()

_AGE = re.compile(rf"(\d{{1,6}}) ?({'|'.join(UNITS)})(?: ago)?", re.I)


def moment_of(text: str, now: float) -> float:
    """A moment in world time as people write one: how long ago, or a date, or a date and time (UTC).

    Raises:
        UserError: it is none of these.
    """
    back = _AGE.fullmatch(text.strip())
    if back is not None:
        return now - float(back[1]) * UNITS[back[2].lower()]
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UserError(
            f"'{shorten(clean(text), 30)}' is not a time;"
            " say how long ago (3d, 12h, 2wk) or a date (2026-01-31)."
        ) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


class FilterIndex:
    """What filters need, by row.

    Attributes:
        row_of: entry id → row, without forgotten entries.
        users: as numbers, see `user_code`.
        alive: whether each entry was not forgotten.
    """

    def __init__(self) -> None:
        self.row_of: dict[int, int] = {}
        self.timestamps = GrowingArray(np.float64)
        self.users = GrowingArray(np.int32)
        self.alive = GrowingArray(np.bool_)
        self.importances = GrowingArray(np.float32)
        self.weights = GrowingArray(np.float32)
        self._feelings = GrowingArray(np.int16)
        self._codes: dict[tuple[str, str], int] = {}
        self._rows: dict[tuple[str, str], array[int]] = {}
        self._kinds: set[Kind] = set()
        # Each audience that an entry is confined to has a number; by row that, or 0 for an open entry.
        self._audiences: dict[Audience, int] = {}
        self._confined = GrowingArray(np.int32)
        self._in_order = True

    def extend(self, columns: EntryColumns) -> None:
        first = len(self.timestamps)
        timestamps, importances = np.array(columns.timestamps, np.float64), np.array(columns.importances)
        felt = self._codes_of("feeling", feelings(columns.affects))  # all that can fail comes first
        self.row_of.update(zip(columns.ids, range(first, first + len(columns.ids)), strict=True))
        self.timestamps.extend(timestamps)
        times = self.timestamps.rows[max(first - 1, 0) :]
        self._in_order = self._in_order and bool((times[1:] >= times[:-1]).all())
        self.users.extend(self._codes_of("user", columns.users))
        self.alive.extend(np.ones(len(columns.ids), np.bool_))
        self.importances.extend(importances.astype(np.float32))
        self.weights.extend(np.array(columns.weights or columns.importances, np.float32))
        self._feelings.extend(felt)
        self._kinds.update(columns.kinds)
        for sort, names in (("user", columns.users), ("kind", columns.kinds)):
            places = {name: self._rows.setdefault((sort, name), array("I")) for name in set(names)}
            for row, name in enumerate(names, first):
                places[name].append(row)
        for place, tags in columns.tags.items():
            for tag in tags:
                self._rows.setdefault(("tag", tag), array("I")).append(first + place)
        self._confined.extend(len(columns.ids))
        for place, audience in columns.audiences.items():
            self._confined.rows[first + place] = self._audience_code(audience)

    def update(self, row: int, entry: MemoryEntry) -> None:
        """Update what may change about an entry: its importance, its audience, and tags that were added."""
        self._confined.rows[row] = self._audience_code(entry.audience)
        self.importances.rows[row] = entry.importance
        self.weights.rows[row] = entry.weight
        for tag in tags_of(entry):
            rows = self._rows.setdefault(("tag", tag), array("I"))
            if row not in rows:
                rows.append(row)

    def remove(self, entry_ids: Iterable[int]) -> list[int]:
        """Forget entries. Returns their rows; unknown ids are ignored."""
        rows = [self.row_of.pop(entry_id) for entry_id in set(entry_ids) & self.row_of.keys()]
        for row in rows:
            self.alive.rows[row] = False
        return rows

    def user_code(self, user_id: str) -> int:
        """The number of a user in `users`, −1 for an unknown one."""
        return self._codes.get(("user", user_id), -1)

    def rows(self, filters: Filters) -> Rows | None:
        """Rows that pass, rising; None if all rows that are alive pass, without a filter for a user."""
        if filters == EVERYTHING:
            return None
        rows = self._listed(filters)
        if filters.since is not None or filters.until is not None:
            rows = self._within(rows, filters)
        if rows is None:
            rows = np.arange(len(self.alive))
        keep = self.alive.rows[rows]
        if filters.min_importance > 0.0:
            keep &= self.importances.rows[rows] >= np.float32(filters.min_importance)
        if filters.feeling is not None:
            keep &= np.isin(self._feelings.rows[rows], self._feeling_codes(filters.feeling))
        if filters.without:
            keep &= ~np.isin(rows, [self.row_of[i] for i in filters.without & self.row_of.keys()])
        if len(hidden := self.hidden(filters)):
            seen = np.ones(len(self.alive), np.bool_)
            seen[hidden] = False
            keep &= seen[rows]
        passed: Rows = rows[keep]
        return passed if filters.user is not None or len(passed) < len(self.row_of) else None

    def hidden(self, filters: Filters) -> Rows:
        """Rows that one of those present may not learn of."""
        if filters.present is None:
            return NOWHERE
        unknown = [code for known, code in self._audiences.items() if not may_learn(filters.present, known)]
        return np.flatnonzero(np.isin(self._confined.rows, unknown)) if unknown else NOWHERE

    def audience(self, rows: Rows) -> Audience:
        """Who may learn of all of these rows."""
        codes = set(np.flatnonzero(np.bincount(self._confined.rows[rows])).tolist())
        return of_audiences(known for known, code in self._audiences.items() if code in codes)

    def told(self, filters: Filters) -> Rows | None:
        """If filters ask for one user: the rows of that user, of the kinds that are asked for, rising."""
        if filters.user is None:
            return None
        return self.rows(Filters(user=filters.user, kinds=filters.kinds))

    def _audience_code(self, audience: Audience) -> int:
        if not audience.confined:
            return 0
        return self._audiences.setdefault(audience, len(self._audiences) + 1)

    def _listed(self, filters: Filters) -> Rows | None:
        """Rows by ids, users, kinds and tags, the shortest list first; None for no such filter."""
        lists: list[Rows] = [self._list("tag", tag) for tag in filters.tags]
        if filters.among is not None:
            lists.append(
                np.array(sorted(self.row_of[i] for i in filters.among & self.row_of.keys()), np.intp)
            )
        if filters.user is not None:
            lists.append(self._list("user", filters.user))
        if filters.kinds and not filters.kinds >= self._kinds:
            of_kinds = [self._list("kind", kind) for kind in filters.kinds]
            lists.append(np.sort(np.concatenate(of_kinds)))
        if not lists:
            return None
        lists.sort(key=len)
        rows = lists[0]
        for other in lists[1:]:
            rows = rows[np.isin(rows, other)]
        return rows

    def _within(self, rows: Rows | None, filters: Filters) -> Rows:
        since = -math.inf if filters.since is None else filters.since
        until = math.inf if filters.until is None else filters.until
        times = self.timestamps.rows
        if rows is None and self._in_order:
            return np.arange(np.searchsorted(times, since, "left"), np.searchsorted(times, until, "right"))
        if rows is None:
            return np.flatnonzero((times >= since) & (times <= until))
        return rows[(times[rows] >= since) & (times[rows] <= until)]

    def _list(self, sort: str, name: str) -> Rows:
        return np.sort(np.array(self._rows.get((sort, name), ()), np.intp))

    def _codes_of(self, sort: str, names: Sequence[str]) -> npt.NDArray[np.int32]:
        """The number of each name; new ones in the order in which they come."""
        codes = {
            name: self._codes.setdefault((sort, name), len(self._codes)) for name in dict.fromkeys(names)
        }
        return np.array([codes[name] for name in names], np.int32)

    def _feeling_codes(self, wanted: str) -> list[int]:
        return [
            code
            for (sort, word), code in self._codes.items()
            if sort == "feeling" and wanted in (word, family_of(word))
        ]
