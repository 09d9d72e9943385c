"""Relationships: what an agent makes of somebody, by how their lines felt.

A line moves as far as it was pleasant or unpleasant, but not where it was felt with sorrow or fear: whoever
tells of a death is not unkind. Important lines and those of the latest weeks count more.
"""

from __future__ import annotations

import numpy as np

from noodlings.values.affect import FloatArray
from noodlings.values.audience import Audience
from noodlings.values.relationship import Relationship

DAY = 86_400.0
MOVES = 0.2
"""Valence without sorrow and fear, positive or negative, from which a line moves."""
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
) -> Relationship:
    """What an agent makes of the person `of` at world time `now`, by all of their lines in any order.

    Args:
        audience: who may learn of all of the lines.
        affects: shape (n, 5), NaN where it is unknown what was felt; the other columns have shape (n,).
        importances: 0…1.
    """
    if not len(ids):
        return Relationship(of)
    valence, _, fear, sorrow, _ = affects.T
    felt = np.nan_to_num(valence * (1.0 - fear) * (1.0 - sorrow))
    moved = np.sign(felt) * np.maximum(np.abs(felt) - MOVES, 0.0) / (1.0 - MOVES)
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
