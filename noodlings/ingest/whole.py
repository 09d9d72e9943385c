"""A source that is complete: a record that is no longer in it is withdrawn.

A withdrawn record is replaced by a version without its text. The old text is kept but is no longer recalled,
until the record is back in the source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from noodlings.ingest.record import Item, SourceNote, SourceProblem, SourceRecord
from noodlings.values.memory import WITHDRAWN
from noodlings.values.percept import Kind


def whole(items: Iterable[Item], source: str, held: Iterable[str], kind: Kind, who: str) -> Iterator[Item]:
    """The items, then what is missing from them; none is withdrawn if part of them could not be read.

    Args:
        source, kind, who: of its records.
        held: ids of the records that the agent already has from it.
    """
    missing, torn = dict.fromkeys(held), False
    for item in items:
        torn |= isinstance(item, SourceProblem)
        if isinstance(item, SourceRecord):
            missing.pop(item.id, None)
        yield item
    if torn and missing:
        yield SourceNote(0, "part of it could not be read, so nothing was withdrawn")
        return
    for record_id in missing:
        yield SourceRecord(source, record_id, "(withdrawn)", who, kind=kind, data={WITHDRAWN: True})
