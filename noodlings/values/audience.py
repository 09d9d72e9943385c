"""Audience: who witnessed something, and who may learn of it.

Entries, the agent's own lines, images, lenses and traces each carry an `Audience`. Before anything reaches
listeners (by a prompt, a voice, a view, a live event), `disclosed` or `may_learn` must allow it: what is
confined is told only if every listener is a witness, and nothing goes a way that its tier does not allow.
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
    """Only those who witnessed it may learn of it."""
    SECRET = 2
    """It never leaves this machine for a model or embedder, and is stored encrypted."""
    SEALED = 3
    """Its words are only stored: it can be counted, exported with the key, and forgotten."""


TIER_WORDS = ("open", "confined", "secret", "sealed")
"""The name of each tier as people see it."""


@dataclass(frozen=True, slots=True)
class Audience:
    """Who knows of something. A value.

    Attributes:
        witnesses: ids of those who saw or heard it, as far as that is known.
        confined: only the witnesses may learn of it; else anybody may.
        tier: above `Tier.OPEN` if and only if it is confined.
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
        """The same without these witnesses; nobody may learn what was confined to them alone."""
        return Audience(self.witnesses.difference(user_ids), self.confined, self.tier)

    def closed(self, confined: bool) -> Audience:
        """The same confined to its witnesses, of at least `Tier.CONFINED`, or open to all."""
        return self.at_least(Tier.CONFINED) if confined else Audience(self.witnesses)


OPEN = Audience()
"""Anybody may learn of it."""


def confined_to(user_ids: Collection[str]) -> Audience:
    """Only these may learn of it; if none are named, anybody may."""
    return Audience(frozenset(user_ids), confined=True) if user_ids else OPEN


class Witnessed(Protocol):
    """Something with an audience."""

    @property
    def audience(self) -> Audience: ...


Thing = TypeVar("Thing", bound=Witnessed)


def may_learn(listeners: frozenset[str], audience: Audience, reach: Tier = Tier.SECRET) -> bool:
    """Whether something may be told before all of these listeners (ids); before none, nothing confined.

    Args:
        reach: the highest tier that may go this way; `Tier.CONFINED` if it leaves this machine.
    """
    if not audience.confined:
        return True
    return audience.tier <= reach and bool(listeners) and listeners <= audience.witnesses


def disclosed(
    things: Iterable[Thing], listeners: frozenset[str], reach: Tier = Tier.SECRET
) -> tuple[Thing, ...]:
    """The things that all of these listeners may learn of this way, in the same order."""
    return tuple(thing for thing in things if may_learn(listeners, thing.audience, reach))


def within(audience: Audience, other: Audience) -> bool:
    """Whether everybody who may learn of `audience` may learn of `other`."""
    return not other.confined or (audience.confined and audience.witnesses <= other.witnesses)


def of_all(things: Iterable[Witnessed]) -> Audience:
    """Who may learn of what is made of all these: those who know every secret, at the highest tier."""
    return of_audiences(thing.audience for thing in things)


def of_audiences(audiences: Iterable[Audience]) -> Audience:
    """The same, by the audiences of what it is made of."""
    secret = [audience for audience in audiences if audience.confined]
    if not secret:
        return OPEN
    witnesses = frozenset.intersection(*(audience.witnesses for audience in secret))
    return Audience(witnesses, confined=True, tier=max(audience.tier for audience in secret))
