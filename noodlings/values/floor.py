"""The floor of a room, which decides who of its hearers answers: each says what it would do alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether to speak, and the reason, as the trace shows it.

    Attributes:
        eagerness: how much it has to say to a line for nobody in particular, 0 … about 2; None if it was
            asked itself, or must not answer at all.
        last_spoke: when it last said something, world time, or None.
        lot: 0…1, random, to decide between equals.
    """

    speak: bool
    reason: str
    eagerness: float | None = None
    last_spoke: float | None = None
    lot: float = 0.0


class Floor(Protocol):
    """Decides who of those who hear one line answers it.

    Attributes:
        to_you: the reason of somebody to whom the line was said.
        to_others: the reason of the others not to answer; "" for a line to nobody in particular.
    """

    to_you: str
    to_others: str

    def bid(self, agent_id: str, decision: Decision) -> None:
        """Note what a hearer would do by itself."""

    def drop(self, agent_id: str) -> None:
        """Stop waiting for the bid of a hearer."""

    async def decision(self, agent_id: str) -> Decision:
        """Wait for the decision about a hearer that has bid."""
