"""Audience: who witnessed something, and who may learn of it; and the one way by which it reaches anybody.

Entries, the agent's own lines, images, lenses and traces each carry an `Audience`. Whatever is on its way to
whoever listens (a prompt, a voice, a view, a live event) passes `disclosed`, or asks `may_learn` for a single
thing. The rule both keep: what is confined to some is told only where everybody who listens is among them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar


@dataclass(frozen=True, slots=True)
class Audience:
    """Who knows of something. A value.

    Attributes:
        witnesses: ids of those who saw or heard it, as far as that is known.
        confined: only the witnesses may learn of it; else anybody may.
    """

    witnesses: frozenset[str] = frozenset()
    confined: bool = False

    def joined_by(self, *user_ids: str) -> Audience:
        """The same with more witnesses."""
        return Audience(self.witnesses.union(user_ids), self.confined)

    def without(self, user_ids: Collection[str]) -> Audience:
        """The same with fewer witnesses; what was confined to them alone nobody may learn."""
        return Audience(self.witnesses.difference(user_ids), self.confined)


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


def may_learn(listeners: frozenset[str], audience: Audience) -> bool:
    """Whether something may be told before these listeners (ids), that is before all of them at once.

    Before nobody nothing confined is told: an empty set is a mistake of whoever asks, not a secret place.
    """
    return not audience.confined or (bool(listeners) and listeners <= audience.witnesses)


def disclosed(things: Iterable[Thing], listeners: frozenset[str]) -> tuple[Thing, ...]:
    """Those of the things that all of these listeners may learn of, in the same order."""
    return tuple(thing for thing in things if may_learn(listeners, thing.audience))


def within(audience: Audience, other: Audience) -> bool:
    """Whether everybody who may learn of the one may learn of the other."""
    return not other.confined or (audience.confined and audience.witnesses <= other.witnesses)


def of_all(things: Iterable[Witnessed]) -> Audience:
    """Who may learn of what is made of all these: those who know every secret among them."""
    secret = [thing.audience.witnesses for thing in things if thing.audience.confined]
    return Audience(frozenset.intersection(*secret), confined=True) if secret else OPEN
