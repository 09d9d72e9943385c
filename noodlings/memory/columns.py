"""How an entry lies in a row of a stream: numbers in two matrices, and the words beside them.

The rule it keeps: an entry that is unpacked is equal to the one that was packed. Its phenomenal state has a
matrix of its own.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

from noodlings.values.affect import Affect
from noodlings.values.build import builder
from noodlings.values.memory import ImportanceParts, MemoryEntry

# Columns of the integer matrix. A circle is 0 for what is open; the last three are 0 or 1.
ID, STEP, USER, CIRCLE, RECALL_COUNT, HELD, PINNED, HAS_STATE = range(INTS := 8)
# Columns of the float matrix; the six parts of importance and affect follow. NaN stands for None.
TIMESTAMP, SURPRISE, ENCODED, OVERRIDE, SALIENCE, LAST_RECALLED, STABILITY = range(7)
FLOATS = 18

Words = tuple[Any, ...]
"""user_id, text, response, kind, audience, place, override_by, extra."""
AUDIENCE = 4

PUBLIC = 0
_NO_AFFECT = [math.nan] * 5

_build_entry = builder(MemoryEntry)
_build_affect = builder(Affect)
_build_parts = builder(ImportanceParts)


def packed(entry: MemoryEntry) -> tuple[tuple[int, ...], tuple[float, ...], Words]:
    """The integers, floats and words of an entry, in the order of the columns."""
    parts = entry.parts
    ints = (
        entry.id,
        entry.step,
        code(entry.user_id),
        code(entry.audience) if entry.audience.confined else PUBLIC,
        entry.recall_count,
        entry.held,
        entry.pinned,
        entry.phenomenal_state is not None,
    )
    floats = (
        entry.timestamp,
        entry.surprise,
        entry.encoded_importance,
        math.nan if entry.override is None else entry.override,
        entry.identity_salience,
        math.nan if entry.last_recalled is None else entry.last_recalled,
        entry.stability,
        parts.surprise,
        parts.intensity,
        parts.salience,
        parts.addressed,
        parts.answered,
        parts.remember,
        *(_NO_AFFECT if entry.affect is None else entry.affect.as_list()),
    )
    words = (
        entry.user_id,
        entry.user_text,
        entry.response,
        entry.kind,
        entry.audience,
        entry.place,
        entry.override_by,
        entry.extra or None,
    )
    return ints, floats, words


def unpacked(ints: list[int], floats: list[float], words: Words, state: Any) -> MemoryEntry:
    """An entry from its row; the numbers in the order of the columns. NaN, unlike itself, stands for None."""
    entry_id, step, _, _, recall_count, _, pinned, has_state = ints
    (
        timestamp, surprise, encoded, override, salience, last_recalled, stability,
        p_surprise, p_intensity, p_salience, p_addressed, p_answered, p_remember,
        valence, arousal, fear, sorrow, boredom,
    ) = floats  # fmt: skip
    user_id, text, response, kind, audience, place, override_by, extra = words
    return _build_entry(
        entry_id,
        timestamp,
        step,
        user_id,
        text,
        _build_affect(valence, arousal, fear, sorrow, boredom) if valence == valence else None,
        surprise,
        encoded,
        _build_parts(p_surprise, p_intensity, p_salience, p_addressed, p_answered, p_remember),
        override if override == override else None,
        override_by,
        response,
        salience,
        state if has_state else None,
        kind,
        audience,
        place,
        pinned == 1,
        recall_count,
        last_recalled if last_recalled == last_recalled else None,
        stability,
        {} if extra is None else extra,
    )


def code(of: Hashable) -> int:
    """64 bits for somebody, or for an audience; never 0. Only ever compared within this process."""
    return hash(of) or 1
