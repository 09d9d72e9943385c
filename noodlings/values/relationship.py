"""What an agent makes of a person, and how that shaped a turn. It is computed, and never stored."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from noodlings.values.audience import OPEN, Audience
from noodlings.values.percept import Kind

FOND, WARY = 0.35, -0.35
"""Warmth from which somebody is a friend, and down to which one is wary of them."""
FRIEND, WELL_KNOWN = 0.25, 0.5
"""Familiarity that a friend has at least, and from which somebody is well known."""

BOUND = 0.1
"""How far a relationship changes the valence of a feeling, or a chance to speak."""


class Stance(IntEnum):
    """What a line is about, by its words: those who hear it, the speaker, or something else."""

    ELSEWHERE = 0
    AT_HEARERS = 1
    OF_ONESELF = 2


_IN_PASSING = re.compile(
    r"\b(?:(?:tell|telling|told|ask|asking|asked|assure|thank|see|believe) (?:you|u)"
    r"|(?:you|u) (?:know|see|remember|ask|asked|think|mean|(?:won|wouldn)['’]?t believe)"
    r"|(?:can|could|would|will) (?:you|u)|between you and me)\b"
)
"""A "you" that says nothing of whoever hears it."""
_YOU = re.compile(r"\b(?:you|your|yours|yourself|yourselves|u|ur|ya)\b")
_OWN = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b")
_INSULT = re.compile(
    r"\b(?:shut up|go away|get lost|go to hell|drop dead|piss off|fuck off)\b"
    r"|^(?:\w+[,:] )?(?:what )?(?:an? )?(?P<bad>(?:stupid|dumb|useless|worthless|bad|lying) )*"
    r"(?:idiot|fool|liar|moron|coward|cheat|traitor|(?(bad)(?:robot|machine|bot|thing|cat|dog)|$^))s?\W*$"
)


def stance_of(kind: Kind, text: str) -> Stance:
    """What a line is about; its hearers if it says "you" of them, is a bare insult, or is a deed."""
    said = text.casefold()
    if _YOU.search(said) and _YOU.search(_IN_PASSING.sub("", said)):
        return Stance.AT_HEARERS
    if _OWN.search(said):
        return Stance.OF_ONESELF
    return Stance.AT_HEARERS if kind is Kind.EMOTE or _INSULT.search(said) else Stance.ELSEWHERE


class Manner(StrEnum):
    """How somebody is met."""

    WARM = "warm"
    PLAIN = "plain"
    RESERVED = "reserved"


@dataclass(frozen=True, slots=True)
class Relationship:
    """What an agent makes of one person.

    Attributes:
        lines: how many of their lines it is made of; 0 for a stranger.
        familiarity: 0…1; warmth: −1…1, near 0 while little moved the agent.
        met, last: world time of the first and the last line; 0 for a stranger.
        pleasant, unpleasant: how many lines moved it for and against them.
        evidence: ids of the few lines that weigh most, rising.
    """

    of: str
    lines: int = 0
    familiarity: float = 0.0
    warmth: float = 0.0
    met: float = 0.0
    last: float = 0.0
    pleasant: int = 0
    unpleasant: int = 0
    evidence: tuple[int, ...] = ()
    audience: Audience = OPEN

    @property
    def manner(self) -> Manner:
        if self.warmth <= WARY:
            return Manner.RESERVED
        return Manner.WARM if self.warmth >= FOND and self.familiarity >= FRIEND else Manner.PLAIN

    @property
    def pull(self) -> float:
        """What it adds to a valence, or to a chance to speak."""
        return round(BOUND * self.warmth, 2)

    @property
    def words(self) -> str:
        """What the agent is to them: "fond of them"."""
        if not self.lines:
            return "a stranger to them"
        well = self.familiarity >= WELL_KNOWN
        return {
            Manner.WARM: "fond of them" if well else "glad of their company",
            Manner.PLAIN: "used to them" if well else "hardly acquainted with them",
            Manner.RESERVED: "wary of them",
        }[self.manner]


def manner_to(person: str, relationships: Iterable[Relationship]) -> Manner:
    return next((one.manner for one in relationships if one.of == person), Manner.PLAIN)


@dataclass(frozen=True, slots=True)
class Regard:
    """How relationships shaped a turn.

    Attributes:
        manner: of the answer.
        feeling, chance: what was added to the valence of what was felt, and to the chance to speak unasked,
            −0.1…0.1 each.
        evidence: ids of the lines that weigh most in them, rising.
    """

    manner: Manner = Manner.PLAIN
    feeling: float = 0.0
    chance: float = 0.0
    evidence: tuple[int, ...] = ()


NO_REGARD = Regard()
