"""A source that is the whole of something: what it holds no more is withdrawn.

A withdrawn record is a later form of it without its words: what it said is kept, and does not come to mind.
Where it is back in the source, it is back in mind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from noodlings.ingest.record import SourceNote, SourceProblem, SourceRecord
from noodlings.ingest.sources.document import DocumentSource
from noodlings.ingest.sources.lore import LoreSource
from noodlings.values.memory import WITHDRAWN
from noodlings.values.percept import Kind


class WholeSource:
    """The port `Source` over another that is read as a whole.

    Args:
        source: the other.
        kind, who: of its records.
        held: ids of the records of it that an agent has by now.
    """

    def __init__(
        self, source: DocumentSource | LoreSource, kind: Kind, who: str, held: Iterable[str]
    ) -> None:
        self._source = source
        self._kind = kind
        self._who = who
        self._held = held

    def records(self) -> Iterator[SourceRecord | SourceProblem | SourceNote]:
        """Its records, and then those that are withdrawn: none where some of it could not be read."""
        missing, torn = dict.fromkeys(self._held), False
        for item in self._source.records():
            torn |= isinstance(item, SourceProblem)
            if isinstance(item, SourceRecord):
                missing.pop(item.id, None)
            yield item
        if torn and missing:
            yield SourceNote(0, "not all of it could be read, so nothing that it holds no more was withdrawn")
        elif missing:
            data = {WITHDRAWN: True}
            for record_id in missing:
                yield SourceRecord(
                    self._source.name, record_id, "(withdrawn)", self._who, kind=self._kind, data=data
                )
