"""The turns of a simulation as rows of a table: the whole trace of each, and what was known of it beforehand.

Nothing in a row depends on when, where or how fast it was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from noodlings.values.affect import AXES, Affect
from noodlings.values.memory import MemoryEntry
from noodlings.values.trace import Trace

COLUMNS: dict[str, type] = {
    "seed": int,
    "ablated": str,
    "tick": int,
    "time": float,
    "agent": str,
    "entry": int,
    "kind": str,
    "user": str,
    "text": str,
    "about": str,
    **dict.fromkeys(AXES, float),
    "appraised_by": str,
    **dict.fromkeys([f"mood_{axis}" for axis in AXES], float),
    "surprise": float,
    "importance": float,
    "decision": str,
    "response": str,
    "voice": str,
    "recalled": str,
    "recalled_about": str,
    "modulations": str,
    "degraded": str,
}
"""Column → type. Texts are "" where there is nothing."""

DIGITS = 6

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of one agent.

    Attributes:
        tick: when.
        entry: what was perceived, as it was remembered.
        about: the tag of the scenario, or "".
        trace: the record of the turn.
        recalled_about: the tags of what was in mind, in the order of `trace.recalled`.
    """

    tick: int
    entry: MemoryEntry
    about: str
    trace: Trace
    recalled_about: tuple[str, ...]

    def row(self, seed: int, ablated: str) -> Row:
        """As it stands in a table, in the order of `COLUMNS`.

        `recalled` is a list as `12:recent+affect 15:important`, `recalled_about` has a tag for each of them,
        `modulations` is `affect:offline ego:passed`; lists of words are set off with semicolons.
        """
        trace, entry = self.trace, self.entry
        recalled = (f"{found.entry_id}:{'+'.join(found.why)}" for found in trace.recalled)
        values = (
            seed,
            ablated,
            self.tick,
            entry.timestamp,
            trace.agent_id,
            entry.id,
            entry.kind.value,
            entry.user_id,
            entry.user_text,
            self.about,
            *_rounded(trace.affect),
            trace.appraised_by,
            *_rounded(trace.mood),
            round(trace.surprise, DIGITS),
            round(trace.importance, DIGITS),
            trace.decision,
            trace.response or "",
            trace.voice,
            " ".join(recalled),
            _listed(self.recalled_about),
            " ".join(f"{done.transistor}:{done.how}" for done in trace.modulations),
            _listed(trace.degraded),
        )
        return dict(zip(COLUMNS, values, strict=True))


def _listed(words: Sequence[str]) -> str:
    return ";".join(words)


def _rounded(affect: Affect) -> list[float]:
    return [round(number, DIGITS) for number in affect.as_list()]
