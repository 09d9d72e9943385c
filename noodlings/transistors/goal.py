"""The goal transistor: what the character has long wanted shows in what it says.

Which memories speak of a want follows from what moves the drive behind it (`mind/appetites.yaml`): by the
same arithmetic a moment fed it or sharpened it.
"""

from __future__ import annotations

from collections.abc import Sequence

from noodlings.mind.appetites import Drive, DriveTable, shipped_drives, signals
from noodlings.transistors.base import CognitiveTransistor, ThoughtState
from noodlings.transistors.reading import HISTORY, READ, readable
from noodlings.values.lens import Lens
from noodlings.values.memory import MemoryEntry

AT_STAKE = 0.15
"""How much a moment must have moved a drive, 0…1, for the drive to have been at stake in it."""

_DIRECTION = (
    "Let what the character wants show in what it says: a leaning, a question, a small condition; with what "
    "came of it before in mind. It does not explain the wish."
)


class GoalTransistor(CognitiveTransistor):
    """Nothing to add without a goal that was ever at stake in what it remembers.

    Args:
        gain: see `CognitiveTransistor`.
        drives: what moves each drive.
    """

    name = "goal"

    def __init__(self, gain: float = 1.0, drives: DriveTable | None = None) -> None:
        super().__init__(gain)
        self._drives = (drives or shipped_drives()).appetites

    def lens(self, state: ThoughtState) -> Lens | None:
        """The strongest goal that has a history, as strong as its drive."""
        if not state["goals"]:
            return None
        past = readable(state["memory"].retrieve_episodic(limit=HISTORY), state)
        moments = [(entry, happened(entry)) for entry in past]
        for goal in state["goals"]:
            drive = self._drives[goal.appetite]
            moved = [(entry, *moves(drive, signs)) for entry, signs in moments]
            at_stake = [(entry, much, net) for entry, much, net in moved if much >= AT_STAKE]
            if at_stake:
                at_stake.sort(key=lambda found: (-found[1], -found[0].id))
                return self.seen(
                    _DIRECTION,
                    goal.level,
                    cue=goal.appetite,
                    notes=(goal.text, came_of_it([net for _, _, net in at_stake])),
                    entries=[entry for entry, _, _ in at_stake[:READ]],
                )
        return None


def happened(entry: MemoryEntry) -> dict[str, float]:
    """What there was in a remembered moment that can move a drive; see `signals`."""
    if entry.affect is None:
        return {}
    return signals(entry.affect, entry.surprise, entry.parts.addressed > 0.0)


def moves(drive: Drive, signs: dict[str, float]) -> tuple[float, float]:
    """How much a moment moved a drive in all, and which way: below 0 it was fed, above it was sharpened."""
    shares = [part * signs.get(what, 0.0) for what, part in drive.moved_by.items()]
    return sum(map(abs, shares)), sum(shares)


def came_of_it(nets: Sequence[float]) -> str:
    """What came of a want, in words for a model."""
    fed, missed = sum(net < 0.0 for net in nets), sum(net > 0.0 for net in nets)
    if fed and missed:
        return "it came to something at times, and to nothing at others"
    return "it was given before" if fed else "so far nothing came of it"
