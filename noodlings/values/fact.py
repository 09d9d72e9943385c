"""Facts about people: their kinds, and those that a model understood from what was told."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class FactKind(StrEnum):
    """What a fact tells of somebody."""

    KNOWN = "known"
    """Written by hand."""
    NAME = "name"
    KIN = "kin"
    AGE = "age"
    TRADE = "trade"
    HOME = "home"
    HEALTH = "health"
    LIKES = "likes"
    DISLIKES = "dislikes"
    FEAR = "fear"
    SKILL = "skill"
    HAS = "has"
    BELIEF = "belief"
    BETWEEN = "between"
    """How two people stand to each other."""
    EVENT = "event"
    """What happened to them."""
    PLAN = "plan"
    PROMISE = "promise"
    TOLD = "told"
    """Something that no pattern knows a kind for, in the words it was told in."""


class Tells(NamedTuple):
    """How likely a line tells any fact that is worth knowing in some weeks about whoever says it, and about
    somebody else, 0…1 each."""

    of_speaker: float
    of_other: float


SPEAKER = "speaker"
"""Whom a fact is about, where it is whoever told it."""
ABOUT, FACT_KIND = "about", "fact_kind"
"""Where the data of an entry of kind `FACT` says whom it is about, and what kind of fact it is."""


@dataclass(frozen=True, slots=True)
class UnderstoodFact:
    """A fact that a model understood from a line.

    Attributes:
        entry_id: the line.
        about: `SPEAKER`, or who it is in the words of the line: "my sister Ruth", "Bob".
        words: one sentence that can be understood by itself.
        replaces: the id of an earlier fact that no longer holds, or None.
    """

    entry_id: int
    about: str
    kind: FactKind
    words: str
    replaces: int | None = None
