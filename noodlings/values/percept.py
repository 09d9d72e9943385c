"""A percept: something an agent perceived, as the world hands it over."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from noodlings.clock import moment
from noodlings.errors import UserError
from noodlings.text import clean
from noodlings.values.action import OfferedAction, require_offer
from noodlings.values.affect import Affect
from noodlings.values.audience import Audience, Tier
from noodlings.values.floor import Floor


class Kind(StrEnum):
    """What sort of thing was perceived."""

    SAY = "say"
    EMOTE = "emote"
    WHISPER = "whisper"
    ARRIVE = "arrive"
    LEAVE = "leave"
    EVENT = "event"
    THOUGHT = "thought"
    """The agent's own rumination: never as if somebody had said it."""
    READ = "read"
    """A passage of a document or a commit: read, and never as if it had been lived or told."""
    KNOWN = "known"
    """Lore: what anybody of that place or trade knows, and nobody told it."""


LEARNED = frozenset({Kind.READ, Kind.KNOWN})
"""Kinds that were not lived: they come to mind where they are asked for, and nowhere else."""
LIVED = frozenset(Kind) - LEARNED
PRIVATE = frozenset({Kind.WHISPER, Kind.THOUGHT})
"""Kinds that are always confined to those who witnessed them."""
_TOLD = frozenset({Kind.SAY, Kind.EMOTE})
"""Kinds that are confined where nobody else is there: alone with a character is private."""


def audience_of(kind: Kind, user_id: str, witnessed: Audience | Collection[str]) -> Audience:
    """Who may learn of something: of a whisper or a thought never anybody who did not witness it.

    Args:
        kind: what it was.
        user_id: who did it; a witness too.
        witnessed: who may learn of it, or only the ids of those who witnessed it.
    """
    audience = witnessed if isinstance(witnessed, Audience) else Audience(frozenset(witnessed))
    confined = audience.confined or kind in PRIVATE
    return Audience(audience.witnesses | {user_id}, True, audience.tier) if confined else audience


def kept_audience(
    kind: Kind, user_id: str, witnesses: Collection[str], confined: bool | None, tier: int = Tier.OPEN
) -> Audience:
    """The audience of something that was kept; None for `confined` where it was kept before that was noted.

    Then it follows from the kind. The other arguments as in `audience_of`; a tier from before there were any
    is 0. Raises ValueError for a number that is no tier.
    """
    if confined is None:
        return audience_of(kind, user_id, witnesses)
    return Audience(frozenset(witnesses), confined, Tier(tier))


@dataclass(frozen=True, slots=True)
class Percept:
    """Something an agent perceived.

    Attributes:
        user_id: who did it (a player, another agent, or the agent itself).
        text: what was said or done, without the name: "My dog died yesterday", "waves". It is
            made one printable line here (`noodlings.text.clean`), so that nobody after has to.
        kind: see `Kind`.
        timestamp: world time in seconds since 1970-01-01 UTC, see `noodlings.clock.moment`.
        addressed: it was meant for this agent (named, whispered to, alone together).
        present: who would hear the agent's answer, ids without the agent's own; whoever did it always does.
        audience: who may learn of it, or the ids of those who witnessed it; None where that follows from what
            it is and who is there, see `heard_by`.
        affect: what the agent feels about it, when the world already knows; else it is appraised.
        surprise: 0…1, when the world already knows; else it is forecast and compared.
        identity_salience: how much it touches who the agent is, 0…1.
        depth: how many replies of other agents led to it; a person's line has 0. Ends echo between agents.
        place: where it happened, a room's id, or "".
        things: what lies about there, by name; not kept with the memory.
        data: whatever else the world wants to have kept (JSON-compatible).
        floor: decides who of those who hear it answers; None where the agent decides alone. It is never kept.
        actions: what the agent may do beside answering; not kept with the memory.
        tier: how far it is kept from others, at least; a number of `Tier` will do.
    """

    user_id: str
    text: str
    timestamp: float
    kind: Kind = Kind.SAY
    addressed: bool = False
    audience: Audience | Collection[str] | None = None
    present: frozenset[str] = frozenset()
    affect: Affect | None = None
    surprise: float | None = None
    identity_salience: float = 0.0
    depth: int = 0
    place: str = ""
    things: tuple[str, ...] = ()
    data: dict[str, Any] = field(default_factory=dict)
    floor: Floor | None = field(default=None, compare=False, repr=False)
    actions: tuple[OfferedAction, ...] = ()
    tier: Tier = Tier.OPEN

    def __post_init__(self) -> None:
        if not self.user_id:
            raise UserError("a percept needs a user_id: who said or did it")
        if not isinstance(self.text, str):
            raise UserError(f"the text of a percept must be text, not {self.text!r:.40}")
        object.__setattr__(self, "text", clean(self.text))
        if isinstance(self.things, str) or not all(isinstance(thing, str) for thing in self.things):
            raise UserError(f"the things of a percept must be a list of names, not {self.things!r:.40}")
        object.__setattr__(self, "things", tuple(filter(None, map(clean, self.things))))
        moment(self.timestamp, "a percept's timestamp")
        if self.tier not in tuple(Tier):
            raise UserError(f"tier is {self.tier!r:.40}: it must be 0 (open), 1, 2 or 3 (sealed)")
        object.__setattr__(self, "tier", Tier(self.tier))
        for name in ("surprise", "identity_salience"):
            value = getattr(self, name)
            if value is not None and not 0.0 <= value <= 1.0:
                raise UserError(f"{name} is {value!r}: it must lie between 0 and 1")
        if self.actions:
            require_offer(self.actions)

    @property
    def listeners(self) -> frozenset[str]:
        """Whoever hears the agent's answer, ids; never empty."""
        return self.present | {self.user_id}

    @property
    def heard_by(self) -> Audience:
        """Who witnessed it and may learn of it, the agent itself aside.

        A whisper, a thought, and what is told to a character with nobody else there, is confined to those who
        heard it. What is told before others is open, and so is what happens in the world. A tier confines it
        whatever it is.
        """
        if self.audience is not None:
            given = (
                self.audience if isinstance(self.audience, Audience) else Audience(frozenset(self.audience))
            )
            return audience_of(self.kind, self.user_id, given.at_least(self.tier))
        alone = self.kind in _TOLD and self.listeners == {self.user_id}
        return Audience(self.listeners, alone or self.kind in PRIVATE).at_least(self.tier)
