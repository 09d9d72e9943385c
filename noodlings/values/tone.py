"""The tone of a turn: how a decent listener answers. It is decided first, and every voice keeps to it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ToneName(StrEnum):
    """What an answer must do justice to."""

    GRAVE = "grave"
    GLAD = "glad"
    PLAIN = "plain"


class ToneSource(StrEnum):
    """What a tone comes from."""

    SAID = "said"
    """What is answered."""
    RECALLED = "recalled"
    """What is answered together with a memory that it brings back."""
    BEFORE = "before"
    """What the same person told a moment ago."""


@dataclass(frozen=True, slots=True)
class Tone:
    """A tone, what it comes from, and the memory behind it; None if what is answered decides alone."""

    name: ToneName = ToneName.PLAIN
    why: ToneSource = ToneSource.SAID
    entry_id: int | None = None

    @property
    def grave(self) -> bool:
        """Whether nothing light may be said."""
        return self.name is ToneName.GRAVE


PLAIN = Tone()
