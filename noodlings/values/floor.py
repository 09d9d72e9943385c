"""The floor of a room, as its hearers know it: each says what it would do alone, and the room decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether to speak, and the reason, as the trace shows it.

    Attributes:
        speak, reason: see above.
        eagerness: how much it has to say to what was said to nobody in particular, 0 … about 2; None where
            that is not the question: it was asked itself, or is not to answer at all.
        last_spoke: when it last said something, world time, or None.
        lot: 0…1, by chance: decides between those of whom nothing else does.
    """

    speak: bool
    reason: str
    eagerness: float | None = None
    last_spoke: float | None = None
    lot: float = 0.0


class Floor(Protocol):
    """Who of those who hear one line answers it.

    Attributes:
        to_you: why somebody answers whom the line was said to.
        to_others: why nobody else does; "" for a line to nobody in particular.
    """

    to_you: str
    to_others: str

    def bid(self, agent_id: str, decision: Decision) -> None:
        """What a hearer would do by itself."""

    def drop(self, agent_id: str) -> None:
        """A hearer that has not bid will not do so any more."""

    async def decision(self, agent_id: str) -> Decision:
        """What a hearer that has bid does, once it is decided."""
