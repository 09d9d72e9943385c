"""A moment as transistors see it, made short: what is felt, remembered and wanted, and who listens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.subconscious import SubconsciousMemory
from noodlings.mind.appetites import Goal
from noodlings.ports import Allowance, OwnLine, Utterance
from noodlings.transistors.base import DisclosedMemories, DisclosedSymbols, ThoughtState
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.audience import OPEN
from noodlings.values.memory import Symbol
from noodlings.values.percept import Kind, Percept
from noodlings.voice.offline import OfflineVoice
from tests.fakes import make_persona

NOW = 1_000_000.0
CAITY, BOB = "user_caity", "user_bob"
SAD = Affect(-0.7, 0.45, 0.0, 0.8)
AFRAID = Affect(-0.6, 0.85, 0.8)
GLAD = Affect(0.85, 0.7)
BORED = Affect(-0.2, 0.35, 0.0, 0.0, 0.8)
CURIOUS = Goal("curiosity", 0.7, "find out what is behind this")


def remembered(memory: HierarchicalMemory, text: str, affect: Affect | None = SAD, **more: Any) -> int:
    """Something told a day ago, by Caity unless it is said otherwise; its id."""
    return memory.add(
        more.pop("timestamp", NOW - 86_400.0), 1, more.pop("user", CAITY), text, affect, **more
    ).id


def symbol(
    number: int = 1, image: str = "A boat comes back empty", affect: Affect = SAD, **more: Any
) -> Symbol:
    """A symbol of something that Bob told."""
    values = Symbol(number, number, NOW - 1e6, "Bob's brother drowned", image, affect, 0.8, 0.5, "images")
    return replace(values, **more)


def make_state(text: str = "it rained", affect: Affect = NEUTRAL, **more: Any) -> ThoughtState:
    """Caity says it to Phi, who has an empty mind unless `memory`, `symbols`, `goals` … say otherwise."""
    persona = more.pop("persona", make_persona("Phi", identity_words=("kitten", "whiskers", "phi")))
    percept = Percept(
        CAITY,
        text,
        NOW,
        more.pop("kind", Kind.SAY),
        present=more.pop("present", frozenset()),
        identity_salience=more.pop("salience", 0.0),
    )
    subconscious = SubconsciousMemory()
    memory = more.pop("memory", None) or HierarchicalMemory(surprise_threshold=0.0)
    subconscious.restore(more.pop("symbols", ()))
    mood, said = more.pop("mood", NEUTRAL), more.pop("said", ())
    state = ThoughtState(
        persona=persona,
        affect=affect,
        mood=mood,
        percept=percept,
        recalled=(),
        memory=DisclosedMemories(memory, percept.listeners),
        subconscious=DisclosedSymbols(subconscious, percept.listeners),
        goals=(),
        appetites=persona.appetites,
        present=percept.listeners,
        said=said,
        now=NOW,
        phenomenal_state=None,
        surprise=0.2,
        voice=OfflineVoice(),
        utterance=Utterance(
            persona,
            percept,
            "caity",
            mood,
            own_lines=tuple(OwnLine(line, OPEN) for line in said),
            seed=more.pop("seed", 0),
        ),
        allowance=Allowance(),
    )
    return {**state, **more}  # type: ignore[typeddict-item]
