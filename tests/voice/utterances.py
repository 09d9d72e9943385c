"""What a voice is handed, made short: somebody says something to a character who remembers this and that."""

from __future__ import annotations

from typing import Any

from noodlings.agent.recipes import BUILT_IN, find_recipes, plain_persona
from noodlings.ports import OwnLine, Utterance
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.audience import OPEN
from noodlings.values.memory import ImportanceParts, MemoryEntry, Recalled, Why
from noodlings.values.percept import Kind, Percept
from noodlings.values.persona import Persona
from noodlings.values.tone import PLAIN, Tone

DAY = 86_400.0
NOW = 100 * DAY
CAITY, BOB = "user_caity", "user_bob"
PERSONAS: dict[str, Persona] = {
    **find_recipes([BUILT_IN]).personas,
    "plain": plain_persona("agent_fred_rogers"),
}


def memory(
    number: int, text: str, user: str = CAITY, days: float = 3, importance: float = 0.6, **more: Any
) -> Recalled:
    """An entry of so many days ago, as recalled."""
    why, scores = more.pop("why", (Why.IMPORTANT,)), more.pop("scores", {})
    entry = MemoryEntry(
        number,
        NOW - days * DAY,
        number,
        user,
        text,
        more.pop("affect", None),
        0.3,
        importance,
        ImportanceParts(),
        **more,
    )
    return Recalled(entry, why, importance, scores)


def utterance(
    text: str,
    *recalled: Recalled,
    who: str = "plain",
    user: str = CAITY,
    kind: Kind = Kind.SAY,
    mood: Affect = NEUTRAL,
    said: tuple[str, ...] = (),
    turn: int = 0,
    tone: Tone = PLAIN,
    **percept: Any,
) -> Utterance:
    """Caity (or another user) says it to the character `who`, at turn `turn` of a talk."""
    return Utterance(
        persona=PERSONAS[who],
        percept=Percept(user, text, NOW + turn, kind, **percept),
        speaker=user.removeprefix("user_"),
        mood=mood,
        recalled=recalled,
        names={CAITY: "caity", BOB: "bob", "agent_phi": "Phi"},
        own_lines=tuple(OwnLine(line, OPEN) for line in said),
        seed=turn,
        tone=tone,
    )
