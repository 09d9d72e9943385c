"""What a cognitive transistor is: it reads a character's mind and says how that colours a thought.

To write one, override `lens`, which is cheap and asks no model, or override `modulate` to do everything
yourself. A transistor only gets what every listener may learn of, so that none can reveal a secret.

It also holds the rule that all transistors share: a memory may colour a reply when somebody else made it, and
it is not the thing that is being answered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from noodlings.errors import UserError
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.likeness import likeness
from noodlings.memory.subconscious import SubconsciousMemory
from noodlings.mind.appetites import Goal
from noodlings.ports import Allowance, Utterance, Voice
from noodlings.values.affect import Affect, FloatArray
from noodlings.values.audience import Tier, disclosed
from noodlings.values.lens import Lens
from noodlings.values.memory import MemoryEntry, Recalled, Symbol
from noodlings.values.percept import NOT_LIVED, Kind, Percept
from noodlings.values.persona import Persona


@dataclass(frozen=True, slots=True)
class DisclosedMemories:
    """The memories that a transistor may read: only what all listeners may learn of.

    Args:
        listeners: ids of all who hear the reply.
        reach: the highest tier that the voice may be told.
    """

    _memory: HierarchicalMemory
    _listeners: frozenset[str]
    _reach: Tier = Tier.SECRET

    def recall_by_affect(
        self, current_affect: Any, top_k: int = 5, min_similarity: float = 0.7
    ) -> list[Recalled]:
        """Entries that felt alike, most alike first, with the likeness as score."""
        found = self._memory.recall_by_affect(current_affect, top_k, min_similarity, present=self._listeners)
        return list(disclosed(found, self._listeners, self._reach))

    def retrieve_episodic(
        self, user_id: str | None = None, min_importance: float = 0.0, limit: int | None = 10
    ) -> list[MemoryEntry]:
        """Entries that matter, the most important first."""
        found = self._memory.retrieve_episodic(user_id, min_importance, limit, present=self._listeners)
        return list(disclosed(found, self._listeners, self._reach))


@dataclass(frozen=True, slots=True)
class DisclosedSymbols:
    """The symbols that a transistor may read; arguments as in `DisclosedMemories`."""

    _subconscious: SubconsciousMemory
    _listeners: frozenset[str]
    _reach: Tier = Tier.SECRET

    def retrieve_by_affect(self, current_affect: Any, top_k: int = 3) -> list[Symbol]:
        """Symbols that felt alike, most alike first."""
        found = self._subconscious.retrieve_by_affect(current_affect, top_k, present=self._listeners)
        return list(disclosed(found, self._listeners, self._reach))


class ThoughtState(TypedDict):
    """What a transistor may read while a reply is made. It must not change it."""

    persona: Persona
    """Who speaks."""
    affect: Affect
    """What is felt about the percept."""
    mood: Affect
    """The slow feeling after it."""
    percept: Percept
    """What is answered."""
    recalled: Sequence[Recalled]
    """What is in mind for the answer, oldest to newest."""
    memory: DisclosedMemories
    """All that the agent has in mind and may tell. It holds the percept that is answered, too."""
    subconscious: DisclosedSymbols | None
    """Its symbols, or None where it has none."""
    goals: Sequence[Goal]
    """What it wants now, the strongest first."""
    appetites: Mapping[str, float]
    """The eight drives, 0 (sated) … 1."""
    present: frozenset[str]
    """Whoever hears the reply, ids. The one who is answered always does."""
    said: Sequence[str]
    """Its own latest lines that whoever listens may know, oldest first."""
    now: float
    """World time, seconds since 1970-01-01 UTC."""
    phenomenal_state: FloatArray | None
    """Its 40 numbers, shape (40,)."""
    surprise: float
    """0…1."""
    voice: Voice
    """Who puts a lens into words."""
    utterance: Utterance
    """The same moment, as a voice is handed it."""
    allowance: Allowance
    """What the turn may spend on models."""


class CognitiveTransistor:
    """One way of colouring a thought. Overrides `lens`, or `modulate`, or both.

    Args:
        gain: how strong it is set, 0 (off) … 1.

    Attributes:
        name: as in recipes; for one of a user's own, the name of its file.

    Raises `UserError`: a gain out of range, or a class that overrides neither.
    """

    name: str = ""

    def __init__(self, gain: float = 1.0) -> None:
        if not 0.0 <= gain <= 1.0:  # NaN fails this too
            raise UserError(f"a gain must be between 0 and 1, not {gain!r}")
        cls = type(self)
        if cls.lens is CognitiveTransistor.lens and cls.modulate is CognitiveTransistor.modulate:
            raise UserError(f"the transistor {cls.__name__} does nothing: define lens or modulate in it")
        self.gain = gain

    @property
    def by_lens(self) -> bool:
        """Whether it only makes a lens, so that a voice can take several in one call."""
        return type(self).modulate is CognitiveTransistor.modulate

    def lens(self, state: ThoughtState) -> Lens | None:
        """How it would colour a thought now, or None for not at all. Cheap, without a model."""
        return None

    async def modulate(self, thought: str, state: ThoughtState) -> str:
        """The thought coloured by this transistor, as one printable line, or unchanged.

        Raises `LLMError` when the voice cannot, or not in time.
        """
        lens = self.lens(state) if self.gain else None
        return thought if lens is None else await through(lens, thought, state)

    def seen(
        self,
        direction: str,
        strength: float = 1.0,
        *,
        cue: str = "",
        notes: Collection[str] = (),
        entries: Collection[MemoryEntry] = (),
        symbols: Collection[Symbol] = (),
        phrases: Collection[str] = (),
    ) -> Lens | None:
        """A lens of this transistor, or None when gain or strength is 0; arguments as in `Lens`."""
        strength = min(strength, 1.0)
        if not (self.gain > 0.0 and strength > 0.0):
            return None
        return Lens(
            self.name,
            self.gain,
            strength,
            direction,
            cue,
            tuple(notes),
            tuple(entries),
            tuple(symbols),
            tuple(phrases),
        )


async def through(lens: Lens, thought: str, state: ThoughtState) -> str:
    """The thought as the voice says it through a lens. Raises `LLMError`.

    It stays as it is where a listener may not learn of all that the lens shows.
    """
    if not disclosed([lens], state["percept"].listeners):
        return thought
    return await state["voice"].modulate(thought, lens, state["utterance"], state["allowance"])


HISTORY = 12
"""The most important episodic entries that a transistor reads."""
READ = 2
"""Most entries or symbols in a lens."""

NOTICEABLE = 0.25
"""A feeling weaker than this (0…1) colours nothing."""
FAINT = 0.4
"""Factor of the strength of something that this moment does not touch."""

_PASSING = NOT_LIVED | {Kind.THOUGHT, Kind.ARRIVE, Kind.LEAVE}


@dataclass(frozen=True, slots=True)
class Felt:
    """The feeling that colours a moment, and its strength, 0…1."""

    affect: Affect
    strength: float

    @property
    def noticeable(self) -> bool:
        return self.strength >= NOTICEABLE


def felt(state: ThoughtState) -> Felt:
    """The feeling about the percept or the mood, whichever is stronger.

    Only the difference of the mood from the character's baseline counts.
    """
    affect, mood = state["affect"], state["mood"]
    unusual = _amount(mood) * (1.0 - likeness(mood, state["persona"].baseline))
    return Felt(affect, _amount(affect)) if _amount(affect) >= unusual else Felt(mood, unusual)


def _amount(affect: Affect) -> float:
    """How much there is of a feeling; boredom has little intensity, however strong it is."""
    return max(affect.intensity, affect.boredom)


def readable(entries: Iterable[MemoryEntry], state: ThoughtState) -> list[MemoryEntry]:
    """Those of the entries that may colour this reply, in the same order."""
    persona, percept = state["persona"], state["percept"]
    own, text = persona.own_ids, percept.text
    return [
        entry
        for entry in entries
        if entry.kind not in _PASSING
        and entry.user_id not in own
        and not (entry.timestamp >= percept.timestamp and entry.user_text == text)
    ]
