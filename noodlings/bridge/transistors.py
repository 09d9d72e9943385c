"""The five transistors as a bridge calls them: with a thought and a dict of what it knows.

    await AffectTransistor().modulate("I am fine.", {"affect": [-0.6, 0.8, 0.7, 0.1, 0.0]})
    lens = MemoryTransistor(hierarchical_memory=hm)
    await lens.modulate("Come in.", {"affect": affect, "user": "caity", "text": "hello"})

What a dict leaves out gets a neutral default. Without a voice the offline one puts a lens into words. A whole
`ThoughtState` is taken as it is.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, cast

from noodlings.agent.recipes import plain_persona
from noodlings.errors import UserError
from noodlings.memory.encode import read_affect, read_state, unit
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.subconscious import SubconsciousMemory
from noodlings.ports import Allowance, Utterance
from noodlings.transistors import builtin
from noodlings.transistors.base import CognitiveTransistor, DisclosedMemories, DisclosedSymbols, ThoughtState
from noodlings.validation import nearest
from noodlings.values.affect import NEUTRAL
from noodlings.values.percept import Percept
from noodlings.voice.offline import OfflineVoice

KEYS = (
    *("affect", "mood", "phenomenal_state", "surprise", "user", "text", "timestamp"),
    *("persona", "goals", "appetites", "voice"),
)
"""Allowed keys. Affect and mood are five numbers, the phenomenal state is 40, or a dict of arrays with 40."""


def thought_state(
    given: Mapping[str, Any],
    memory: HierarchicalMemory | None = None,
    subconscious: SubconsciousMemory | None = None,
) -> ThoughtState:
    """The state of a thought from what a bridge knows of it.

    Raises:
        UserError: a key that is not in `KEYS`, or a value out of range or of the wrong shape.
    """
    for key in given:
        if key not in KEYS:
            raise UserError(f"the state of a thought has no {key!r:.40}{nearest(str(key), KEYS)}")
    affect = read_affect(given.get("affect")) or NEUTRAL
    mood = read_affect(given.get("mood")) or NEUTRAL
    now = float(given.get("timestamp") or time.time())
    user, surprise = str(given.get("user") or "somebody"), unit(given.get("surprise") or 0.0, "surprise")
    percept = Percept(user, str(given.get("text") or ""), now, affect=affect, surprise=surprise)
    persona = given.get("persona") or plain_persona("somebody")
    return ThoughtState(
        persona=persona,
        affect=affect,
        mood=mood,
        percept=percept,
        recalled=(),
        memory=DisclosedMemories(memory or HierarchicalMemory(), percept.listeners),
        subconscious=DisclosedSymbols(subconscious or SubconsciousMemory(), percept.listeners),
        goals=given.get("goals", ()),
        appetites=given.get("appetites", persona.appetites),
        present=percept.listeners,
        said=(),
        now=now,
        phenomenal_state=read_state(given.get("phenomenal_state")),
        surprise=surprise,
        voice=given.get("voice") or OfflineVoice(),
        utterance=Utterance(persona, percept, user, mood, seed=int(now)),
        allowance=Allowance(),
    )


class _OfBridge(CognitiveTransistor):
    """A transistor that also takes a dict as the state; it reads these memories, empty ones by default."""

    def __init__(
        self,
        gain: float = 1.0,
        *,
        hierarchical_memory: HierarchicalMemory | None = None,
        symbolic_memory: SubconsciousMemory | None = None,
    ) -> None:
        super().__init__(gain)
        self.hierarchical_memory = hierarchical_memory
        self.symbolic_memory = symbolic_memory

    async def modulate(self, thought: str, state: Mapping[str, Any]) -> str:
        """See `CognitiveTransistor.modulate`. Raises `UserError` as `thought_state` does."""
        if state.keys() >= ThoughtState.__required_keys__:
            return await super().modulate(thought, cast(ThoughtState, state))
        given = thought_state(state, self.hierarchical_memory, self.symbolic_memory)
        return await super().modulate(thought, given)


class AffectTransistor(_OfBridge, builtin.AffectTransistor):
    """See `noodlings.transistors.builtin.AffectTransistor`."""


class GoalTransistor(_OfBridge, builtin.GoalTransistor):
    """See `noodlings.transistors.builtin.GoalTransistor`."""


class MemoryTransistor(_OfBridge, builtin.MemoryTransistor):
    """See `noodlings.transistors.builtin.MemoryTransistor`."""


class SubconsciousTransistor(_OfBridge, builtin.SubconsciousTransistor):
    """See `noodlings.transistors.builtin.SubconsciousTransistor`."""


class EgoTransistor(_OfBridge, builtin.EgoTransistor):
    """See `noodlings.transistors.builtin.EgoTransistor`."""
