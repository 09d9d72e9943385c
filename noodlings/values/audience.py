"""Audience: who witnessed something, and who may learn of it; and the one way by which it reaches anybody.

Entries, the agent's own lines, images, lenses and traces each carry an `Audience`. Whatever is on its way to
whoever listens (a prompt, a voice, a view, a live event) passes `disclosed`, or asks `may_learn` for a single
thing. The rule both keep: what is confined to some is told only where everybody who listens is among them,
and nothing goes a way that its tier does not allow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol, TypeVar


class Tier(IntEnum):
    """How far something is kept from others; each tier has the limits of those below it."""

    OPEN = 0
    """Anybody may learn of it."""
    CONFINED = 1
    """Only those who witnessed it."""
    SECRET = 2
    """It leaves this machine for no model and no embedder, and is encrypted wherever it is kept."""
    SEALED = 3
    """Its words are kept and nothing is made of them: it is counted, exported with the key, and forgotten."""


TIER_WORDS = ("open", "confined", "secret", "sealed")
"""What each tier is called before people."""


@dataclass(frozen=True, slots=True)
class Audience:
    """Who knows of something. A value.

    Attributes:
        witnesses: ids of those who saw or heard it, as far as that is known.
        confined: only the witnesses may learn of it; else anybody may.
        tier: how far it is kept from others; above `Tier.OPEN` just where it is confined.
    """

    witnesses: frozenset[str] = frozenset()
    confined: bool = False
    tier: Tier = Tier.OPEN

    def __post_init__(self) -> None:
        if self.confined != (self.tier > Tier.OPEN):
            object.__setattr__(self, "confined", True)
            object.__setattr__(self, "tier", max(self.tier, Tier.CONFINED))

    def joined_by(self, *user_ids: str) -> Audience:
        """The same with more witnesses."""
        return Audience(self.witnesses.union(user_ids), self.confined, self.tier)

    def at_least(self, tier: Tier) -> Audience:
        """The same, of this tier where its own is lower."""
        return self if tier <= self.tier else Audience(self.witnesses, tier > Tier.OPEN, tier)

    def without(self, user_ids: Collection[str]) -> Audience:
        """The same with fewer witnesses; what was confined to them alone nobody may learn."""
        return Audience(self.witnesses.difference(user_ids), self.confined, self.tier)

    def closed(self, confined: bool) -> Audience:
        """The same for its witnesses alone, of its tier or the lowest that is confined, or open to all."""
        return self.at_least(Tier.CONFINED) if confined else Audience(self.witnesses)


OPEN = Audience()
"""Of what anybody may learn, whoever was there."""


def confined_to(user_ids: Collection[str]) -> Audience:
    """Only these may learn of it; where none are named, anybody may."""
    return Audience(frozenset(user_ids), confined=True) if user_ids else OPEN


class Witnessed(Protocol):
    """Something that not everybody may know of."""

    @property
    def audience(self) -> Audience:
        """Who witnessed it, and who may learn of it."""


Thing = TypeVar("Thing", bound=Witnessed)


def may_learn(listeners: frozenset[str], audience: Audience, reach: Tier = Tier.SECRET) -> bool:
    """Whether something may be told before these listeners (ids), that is before all of them at once.

    Before nobody nothing confined is told: an empty set is a mistake of whoever asks, not a secret place.

    Args:
        reach: the highest tier that may go this way; `Tier.CONFINED` where it leaves this machine.
    """
    if not audience.confined:
        return True
    return audience.tier <= reach and bool(listeners) and listeners <= audience.witnesses


def disclosed(
    things: Iterable[Thing], listeners: frozenset[str], reach: Tier = Tier.SECRET
) -> tuple[Thing, ...]:
    """Those of the things that all of these listeners may learn of by this way, in the same order."""
    return tuple(thing for thing in things if may_learn(listeners, thing.audience, reach))


def within(audience: Audience, other: Audience) -> bool:
    """Whether everybody who may learn of the one may learn of the other."""
    return not other.confined or (audience.confined and audience.witnesses <= other.witnesses)


def of_all(things: Iterable[Witnessed]) -> Audience:
    """Who may learn of what is made of all these: those who know every secret among them.

    It is of the highest tier among them.
    """
    secret = [thing.audience for thing in things if thing.audience.confined]
    if not secret:
        return OPEN
    witnesses = frozenset.intersection(*(audience.witnesses for audience in secret))
    return Audience(witnesses, confined=True, tier=max(audience.tier for audience in secret))
