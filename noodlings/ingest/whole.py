"""A source that is complete: a record that is no longer in it is withdrawn.

A withdrawn record is replaced by a version without its text. The old text is kept but is no longer recalled,
until the record is back in the source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from noodlings.ingest.record import SourceNote, SourceProblem, SourceRecord
from noodlings.ingest.sources.document import DocumentSource
from noodlings.ingest.sources.lore import LoreSource
from noodlings.values.memory import WITHDRAWN
from noodlings.values.percept import Kind


class WholeSource:
    """Wraps a source and withdraws what is missing from it.

    Args:
        source: the wrapped source.
        kind, who: of its records.
        held: ids of the records that the agent already has from it.
    """

    def __init__(
        self, source: DocumentSource | LoreSource, kind: Kind, who: str, held: Iterable[str]
    ) -> None:
        self._source = source
        self._kind = kind
        self._who = who
        self._held = held

    def records(self) -> Iterator[SourceRecord | SourceProblem | SourceNote]:
        """Its records, then the withdrawn ones; none is withdrawn if part of the source could not be read."""
        missing, torn = dict.fromkeys(self._held), False
        for item in self._source.records():
            torn |= isinstance(item, SourceProblem)
            if isinstance(item, SourceRecord):
                missing.pop(item.id, None)
            yield item
        if torn and missing:
            yield SourceNote(0, "part of it could not be read, so nothing was withdrawn")
        elif missing:
            data = {WITHDRAWN: True}
            for record_id in missing:
                yield SourceRecord(
                    self._source.name, record_id, "(withdrawn)", self._who, kind=self._kind, data=data
                )
