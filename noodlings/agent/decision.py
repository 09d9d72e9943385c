"""Whether an agent answers: always when addressed, otherwise by temperament, surprise and cool-down.

Where several hear a line, the room decides after that, see `noodlings.values.floor`.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from noodlings.values.affect import Affect
from noodlings.values.floor import Decision
from noodlings.values.percept import Kind, Percept
from noodlings.values.persona import Persona
from noodlings.values.relationship import BOUND

MAX_DEPTH = 2
"""Answers to answers stop here even when addressed, so that two agents fall silent."""

URGENT = 0.4
"""What full urgency adds to the chance of speaking unasked."""
CALM_ENOUGH = 0.4
"""Intensity of feeling up to which nothing is urgent."""

_WILLINGNESS = {Kind.SAY: 0.35, Kind.EMOTE: 0.2, Kind.ARRIVE: 0.5, Kind.LEAVE: 0.1, Kind.EVENT: 0.15}


def decide(
    percept: Percept,
    persona: Persona,
    affect: Affect,
    surprise: float,
    last_spoke: float | None,
    rng: random.Random,
    salience: float = 0.0,
    liking: Callable[[], float] = lambda: 0.0,
) -> Decision:
    """Whether `persona` answers `percept`.

    If not addressed, it answers with a chance that depends on the kind of percept and on extraversion, and
    rises with surprise and urgency: fear, or any strong feeling.

    Args:
        affect: what is felt about this percept.
        surprise: of this percept, 0…1.
        last_spoke: when the agent last said something, world time.
        rng: seeded by the turn, so that a replay decides alike.
        salience: how much the percept touches who it is, 0…1; this raises its bid for the floor.
        liking: what its relationship with the speaker adds to the chance, −`BOUND`…`BOUND`; only asked where
            that may decide.
    """
    if percept.user_id == persona.id or percept.kind is Kind.THOUGHT:
        return Decision(False, "its own")
    if percept.depth > MAX_DEPTH:
        return Decision(False, "this conversation has gone back and forth enough")
    if percept.addressed or percept.kind is Kind.WHISPER:
        return Decision(True, "addressed" if percept.floor is None else percept.floor.to_you)
    if percept.floor is not None and percept.floor.to_others:
        return Decision(False, percept.floor.to_others)
    if last_spoke is not None and 0.0 <= percept.timestamp - last_spoke < persona.response_cooldown:
        return Decision(False, "spoke a moment ago", 0.0, last_spoke, rng.random())
    if percept.depth:
        return Decision(False, "not its talk")
    chance = _WILLINGNESS.get(percept.kind, 0.0) * (0.4 + persona.personality["extraversion"])
    chance += 0.5 * max(surprise - 0.5, 0.0) + URGENT * _urgency(affect)
    luck, lot, eagerness = rng.random(), rng.random(), chance + salience
    if abs(luck - chance) <= BOUND:  # else it changes nothing
        chance = max(chance + liking(), 0.0)
    speaks = luck < chance
    why = f"felt like it (chance {chance:.2f})" if speaks else f"kept silent (chance to speak {chance:.2f})"
    return Decision(speaks, why, eagerness, last_spoke, lot)


def _urgency(affect: Affect) -> float:
    """How urgent a feeling is, 0…1."""
    return max(affect.fear, max(affect.intensity - CALM_ENOUGH, 0.0) / (1.0 - CALM_ENOUGH))
