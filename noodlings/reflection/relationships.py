"""Relationships: what an agent makes of somebody, by how their lines felt.

A line moves as far as it was pleasant or unpleasant, but not where it was felt with sorrow or fear, and it is
held against nobody unless it is about its hearers: telling of a thief is not unkind. A sorrow or fear of
one's own is told in trust. Important lines and those of the latest weeks count more.
"""

from __future__ import annotations

import numpy as np

from noodlings.values.affect import FloatArray
from noodlings.values.audience import Audience
from noodlings.values.relationship import Relationship, Stance

DAY = 86_400.0
MOVES = 0.2
"""Valence without sorrow and fear, positive or negative, from which a line moves."""
TRUST, TROUBLE = 0.25, 0.3
"""How far a confided trouble moves, the kindest line being 1, and the sorrow or fear that makes it one."""
HALF_LIFE = 28 * DAY
"""World time in which a line comes to count half."""
DOUBT = 1.0
"""How much has to move before a warmth is half of what it would be without doubt: about four insults."""
DAYS, LINES = 7.0, 100.0
"""Days with talk, and lines, that close half of the gap to full familiarity."""
MOST = 3
"""Lines named as evidence."""


def relationship(
    of: str,
    now: float,
    audience: Audience,
    ids: FloatArray,
    timestamps: FloatArray,
    affects: FloatArray,
    importances: FloatArray,
    stances: FloatArray,
) -> Relationship:
    """What an agent makes of the person `of` at world time `now`, by all of their lines in any order.

    Args:
        audience: who may learn of all of the lines.
        affects: shape (n, 5), NaN where it is unknown what was felt; the other columns have shape (n,).
        importances: 0…1.
        stances: the `Stance` of each.
    """
    if not len(ids):
        return Relationship(of)
    valence, _, fear, sorrow, _ = affects.T
    felt = np.nan_to_num(valence * (1.0 - fear) * (1.0 - sorrow))
    moved = np.sign(felt) * np.maximum(np.abs(felt) - MOVES, 0.0) / (1.0 - MOVES)
    moved[stances != Stance.AT_HEARERS] = np.maximum(moved[stances != Stance.AT_HEARERS], 0.0)
    confided = (stances == Stance.OF_ONESELF) & (np.maximum(fear, sorrow) >= TROUBLE)
    moved[confided] = np.maximum(moved[confided], TRUST)
    fading = np.exp2(np.minimum(timestamps - now, 0.0) / HALF_LIFE)
    pull = moved * importances * fading
    weights = np.abs(pull)
    least = np.partition(weights, -MOST)[-MOST] if len(ids) > MOST else 0.0
    heavy = np.flatnonzero((weights >= least) & (weights > 0.0))
    heaviest = heavy[np.lexsort((ids[heavy], -weights[heavy]))][:MOST]
    days = 1 + np.count_nonzero(np.diff(np.sort(timestamps // DAY, kind="stable")))
    return Relationship(
        of,
        lines=len(ids),
        familiarity=float(1.0 - np.exp2(-days / DAYS - len(ids) / LINES)),
        warmth=float(pull.sum() / (weights.sum() + DOUBT)),
        met=float(timestamps.min()),
        last=float(timestamps.max()),
        pleasant=int((moved > 0.0).sum()),
        unpleasant=int((moved < 0.0).sum()),
        evidence=tuple(sorted(ids[heaviest].tolist())),
        audience=audience,
    )
