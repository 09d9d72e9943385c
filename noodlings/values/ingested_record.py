"""What became of a record of a source: the memory it is, what it waits for, or that it was forgotten."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from noodlings.text import clean
from noodlings.values.circumstances import CIRCUMSTANCES, names_one


@dataclass(frozen=True, slots=True)
class IngestedRecord:
    """A record that an agent was given, by source and id.

    It is a memory (`entry_id`), or it waits (`record`), or both while a later form of it waits. Where it is
    neither, the memory was forgotten: what is left says that it does not come back, and nothing of its words.

    Attributes:
        source, id: see `noodlings.ingest.record.SourceRecord`; both clean.
        digest: of the form that was given last; "" once forgotten.
        entry_id: the memory that it is now, or None.
        user_id: who told what waits, or "".
        attempts: how often it was tried, as long as it waits.
        reason: why it waits, or "".
        record: what waits, JSON-compatible; None otherwise.
    """

    source: str
    id: str
    digest: str = ""
    entry_id: int | None = None
    user_id: str = ""
    attempts: int = 0
    reason: str = ""
    record: dict[str, Any] | None = None

    @property
    def forgotten(self) -> bool:
        return self.entry_id is None and self.record is None

    def observes(self, called: Collection[str]) -> bool:
        """Whether circumstances in what waits name somebody with these ids and names: of a form that cannot
        be read it is not known what they say of whom."""
        known = self.record or {}
        given = [one.get(CIRCUMSTANCES) for one in (known, known.get("data")) if isinstance(one, dict)]
        return _names_one(given, called, str(known.get("text", "")))


def _names_one(value: Any, called: Collection[str], told: str) -> bool:
    """Whether JSON-compatible data names somebody; what the word for an emotion says is no name."""
    match value:
        case str():
            return names_one(clean(value), called, told)
        case list():
            return any(_names_one(part, called, told) for part in value)
        case dict():
            parts = [part for name, part in value.items() if name != "emotion"]
            theirs = str(value.get("who") or "").casefold() in map(str.casefold, called)
            return theirs or _names_one(parts, called, told) or _names_one([*value], called, "")
    return False
