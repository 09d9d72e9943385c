"""Why a memory came to mind: its best reason, how well it fits, and the order in which memories are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from noodlings.inspect.views import FlowEntryView

REASONS = {
    "due": "its time came",
    "told": "just told",
    "semantic": "same subject",
    "important": "important",
    "affect": "felt alike",
    "linked": "linked",
    "name": "told their name",
    "recent": "recent",
}
"""Reasons in words, the best first. Any other reason is the name of a transistor and ranks as "important"."""
SEARCHED = {"semantic": "by meaning", "lexical": "same words", "next_to": "lines beside", "date": "day named"}
"""The parts of a search. They share one score, and together they count as the reason "semantic"."""


def rank(why: str) -> int:
    """Where a reason stands, 0 for the best."""
    why = "semantic" if why in SEARCHED else why
    return list(REASONS).index(why if why in REASONS else "important")


def reason_of(one: FlowEntryView) -> str:
    """The best reason that brought a memory to mind; "recent" only where there is no other."""
    return min(("semantic" if why in SEARCHED else why for why in one.why), key=rank, default="")


def score_of(one: FlowEntryView) -> float:
    """How well it fits its reason, 0…1; for a search, the score of all its parts together."""
    why = reason_of(one)
    if why == "semantic":
        parts = [score for name, score in one.scores.items() if name in SEARCHED]
        return one.score if one.why[0] in SEARCHED else max(parts, default=one.score)
    return one.scores.get(why, one.score)


def in_groups(recalled: Sequence[FlowEntryView]) -> list[FlowEntryView]:
    """Grouped by reason, groups with a used memory first; in a group, used memories first, then by score."""
    used = {reason_of(one) for one in recalled if one.used}

    def place(one: FlowEntryView) -> tuple[bool, int, str, bool, float]:
        why = reason_of(one)
        return why not in used, rank(why), why, not one.used, -score_of(one)

    return sorted(recalled, key=place)
