"""What became of a record of a source: the memory it is, what it waits for, or that it was forgotten."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from noodlings.values.circumstances import CIRCUMSTANCES


@dataclass(frozen=True, slots=True)
class IngestedRecord:
    """A record that an agent was given, by source and id.

    It is a memory (`entry_id`), or it waits (`record`), or both while a later form of it waits. Where it is
    neither, the memory was forgotten: what is left says that it does not come back, and nothing of its words.

    Attributes:
        source, id: see `noodlings.ingest.record.SourceRecord`; both clean.
        digest: of the form that was given last; "" once forgotten, or withheld.
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

    @property
    def circumstances(self) -> list[Any]:
        """Those in what waits, as they were given."""
        known = self.record or {}
        return [one.get(CIRCUMSTANCES) for one in (known, known.get("data")) if isinstance(one, dict)]
