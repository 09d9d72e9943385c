"""Ports: small protocols by which the core asks something of the outside, and which adapters fulfil.

All of them are imported from here, also those that `language` and `storage` define.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from noodlings.ports.language import (
    ActionChooser,
    Allowance,
    Ask,
    FactReader,
    FeelingModel,
    JournalWriter,
    LanguageModel,
    OwnLine,
    Speech,
    Symbolist,
    ToldDay,
    ToldLines,
    Utterance,
    Voice,
)
from noodlings.ports.storage import (
    ROOMS,
    AgentImporter,
    AgentRecord,
    AgentState,
    ArchivedRecord,
    Changes,
    EntryColumns,
    Forgotten,
    Notes,
    Ownership,
    ReadTraces,
    Repository,
    Store,
    StoreSnapshot,
    WorldStore,
)
from noodlings.values.reading import LineReading


class Clock(Protocol):
    """World time."""

    def now(self) -> float:
        """Seconds since 1970-01-01 UTC."""


class Embedder(Protocol):
    """Texts to vectors."""

    @property
    def name(self) -> str:
        """Which model this is; vectors of two names never meet."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Unit vectors of shape (len(texts), dimensions). Raises `NoodlingsError` when it cannot."""


@dataclass(frozen=True, slots=True, eq=False)
class Understood:
    """A text as an embedder understood it.

    Attributes:
        vector: unit vector, (dimensions,).
        layers: what the layers of its model hold; None without a `LayeredEmbedder`.
        reading: what the text is when somebody says it; None likewise.
    """

    vector: npt.NDArray[np.float32]
    layers: npt.NDArray[np.float32] | None = None
    reading: LineReading | None = None


@runtime_checkable
class LayeredEmbedder(Embedder, Protocol):
    """An embedder that also tells what its model makes of a text."""

    def read(self, texts: Sequence[str]) -> Sequence[Understood]:
        """What `embed` gives, and more of the same pass, for each text. Raises as `embed` does."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How far a line answers a question, or is touched on by a remark.

    Attributes:
        likely: the probability that it does or is, 0…1.
        words: where its words begin and end, and the probability of each that it is told as the answer.
    """

    likely: float
    words: tuple[tuple[int, int, float], ...] = ()


@runtime_checkable
class AnsweringEmbedder(Embedder, Protocol):
    """An embedder whose model also tells which lines answer a question, and which a remark touches on."""

    def answers(
        self, asked: tuple[str, str], lines: Sequence[tuple[str, str]], asks: bool = True
    ) -> list[Answer]:
        """How far each line answers a question, or without `asks` how far a remark touches on it.

        Both are given as who says it, and what. Raises as `embed` does.
        """

    def let_go(self) -> None:
        """Drop what is kept of what was read."""


@dataclass(frozen=True, slots=True)
class PersonalDatum:
    """Personal data in a text: what it is, in words, and where it begins and ends."""

    kind: str
    start: int
    end: int
