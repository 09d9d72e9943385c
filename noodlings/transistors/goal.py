"""The goal transistor: what the character has long wanted shows in what it says.

Which memories speak of a want follows from their words, or from what moves the drive behind it
(`mind/appetites.yaml`): by the same arithmetic a moment fed it or sharpened it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from noodlings.mind.appetites import DriveTable, Goal, shipped_drives, signals
from noodlings.transistors.base import CognitiveTransistor, ThoughtState
from noodlings.transistors.reading import FAINT, HISTORY, READ, readable
from noodlings.values.lens import Lens
from noodlings.values.memory import MemoryEntry

AT_STAKE = 0.15
"""How much a moment must have moved a drive, 0…1, for the drive to have been at stake in it."""

_DIRECTION = (
    "Let what the character wants show in what it says: a leaning, a question, a small condition; with what "
    "came of it before in mind. It does not explain the wish."
)
_OUTRIGHT = ("I still want to {want}.", "One day I will {want}.", "All I want is to {want}.")
"""Of a goal that somebody set in words of their own; the first note is the filling."""
_SPOKEN_OF = {
    appetite: re.compile(rf"\b(?:{words})", re.IGNORECASE)
    for appetite, words in {
        "curiosity": "curious|wonder|secret|riddle|discover|explor|find out|myster",
        "status": "respect|famous|honou?r|admir|proud|pride|laughed at|promot",
        "mastery": "learn|practi[sc]|master|skill|improv|get better|succeed|fail",
        "novelty": r"new\b|never seen|adventur|journey|travel|different",
        "safety": "safe|danger|protect|guard|lock|shelter",
        "social_bond": r"friend|lonely|alone\b|together|visit|miss you|love|company",
        "comfort": r"warm|rest\b|soft|tired|co[sz]y|blanket|comfort|sleep",
        "autonomy": r"free\b|freedom|order|obey|own way|decide|choose",
    }.items()
}
"""Beginnings of words by which a line speaks of a want."""


@dataclass(frozen=True, slots=True)
class _Moment:
    """A remembered moment in which a drive was at stake: how much, and which way (below 0, it was fed)."""

    entry: MemoryEntry
    much: float
    net: float


class GoalTransistor(CognitiveTransistor):
    """Nothing to add without a goal that presses, or was at stake in what is remembered.

    Args:
        gain: see `CognitiveTransistor`.
        drives: what moves each drive, and from which level on a goal presses.
    """

    name = "goal"

    def __init__(self, gain: float = 1.0, drives: DriveTable | None = None) -> None:
        super().__init__(gain)
        self._drives = drives or shipped_drives()

    def lens(self, state: ThoughtState) -> Lens | None:
        """The strongest such goal that is at stake now, as strong as its drive; else the strongest, faint.

        With it come the moments in which it was most at stake.
        """
        if not state["goals"]:
            return None
        percept = state["percept"]
        now = signals(state["affect"], state["surprise"], percept.addressed)
        past = readable(state["memory"].retrieve_episodic(limit=HISTORY), state)
        touched = {goal.appetite for goal in state["goals"] if self._moved(goal, percept.text, now)}
        for goal in sorted(state["goals"], key=lambda goal: goal.appetite not in touched):
            moments = self._moments(goal, past)
            if not moments and goal.level < self._drives.presses_from:
                continue
            moments.sort(key=lambda moment: (-moment.much, -moment.entry.id))
            return self.seen(
                _DIRECTION,
                goal.level if goal.appetite in touched else goal.level * FAINT,
                cue=goal.appetite,
                notes=(goal.text, came_of_it([moment.net for moment in moments])),
                entries=[moment.entry for moment in moments[:READ]],
                phrases=() if self._is_common(goal) else _OUTRIGHT,
            )
        return None

    def _is_common(self, goal: Goal) -> bool:
        """Whether everybody with this appetite wants just that: then a voice has words of its own for it."""
        drive = self._drives.appetites[goal.appetite]
        return goal.text in (drive.wants, drive.presses)

    def _moments(self, goal: Goal, past: Sequence[MemoryEntry]) -> list[_Moment]:
        found = ((entry, self._moved(goal, entry.user_text, _happened(entry))) for entry in past)
        return [_Moment(entry, *moved) for entry, moved in found if moved]

    def _moved(self, goal: Goal, text: str, signs: Mapping[str, float]) -> tuple[float, float] | None:
        """How much a moment moved a drive in all, and which way; None where it was not at stake."""
        moved_by = self._drives.appetites[goal.appetite].moved_by
        shares = [part * signs.get(what, 0.0) for what, part in moved_by.items()]
        much = sum(map(abs, shares))
        spoken = _SPOKEN_OF[goal.appetite].search(text)
        return (much, sum(shares)) if spoken or much >= AT_STAKE else None


def came_of_it(nets: Sequence[float]) -> str:
    """What came of a want, in words for a model; below 0 it was fed, above it was sharpened."""
    fed, missed = any(net < 0.0 for net in nets), any(net > 0.0 for net in nets)
    if fed and missed:
        return "it came to something at times, and to nothing at others"
    return "it was given before" if fed else "so far nothing came of it"


def _happened(entry: MemoryEntry) -> dict[str, float]:
    """What there was in a remembered moment that can move a drive; see `signals`."""
    if entry.affect is None:
        return {}
    return signals(entry.affect, entry.surprise, entry.parts.addressed > 0.0)
