"""Relations between lines of an archive: what contradicts what was told before, and what is the cause of it.

Lines are read in the order in which they were heard. What comes out for a line rests on that line and on
earlier ones of the same person alone, so that it is the same however often, and from where, one begins.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from noodlings.reflection.causes import causes
from noodlings.reflection.contradictions import MOST_LINES, LinesOfPerson, ReadLine
from noodlings.values.memory import Link, LinkType, MemoryEntry

TALK_SECONDS = 300.0
"""World time within which a line of the same person in the same place continues a talk."""

_Teller = tuple[str, str]
"""Who told it, and the source, as what is ingested has an order of its own."""


class RelationReader:
    """Reads the lines of many people, each in its order."""

    def __init__(self) -> None:
        self._unread: dict[_Teller, deque[MemoryEntry]] = {}
        self._lines: dict[_Teller, LinesOfPerson] = {}
        self._last: dict[tuple[_Teller, str], MemoryEntry] = {}

    def pass_over(self, entry: MemoryEntry) -> None:
        """Note a line that is linked already: `catch_up` reads it if its teller told something later."""
        teller = _teller(entry)
        self._unread.setdefault(teller, deque(maxlen=MOST_LINES)).append(entry)
        self._last[teller, entry.place] = entry

    def catch_up(self, entry: MemoryEntry) -> Iterator[None]:
        """Read what was passed over of the teller of a line, step by step."""
        lines = self._lines.setdefault(_teller(entry), LinesOfPerson())
        for earlier in self._unread.pop(_teller(entry), ()):
            lines.add(ReadLine.of(earlier.id, earlier.user_text))
            yield

    def links_of(self, entry: MemoryEntry) -> list[Link]:
        """The links between a line and earlier ones of its teller, once `catch_up` has read these."""
        teller, line = _teller(entry), ReadLine.of(entry.id, entry.user_text)
        lines, before = self._lines[teller], self._last.get((teller, entry.place))
        if before is not None and not 0.0 <= entry.timestamp - before.timestamp <= TALK_SECONDS:
            before = None
        found = [(LinkType.CONTRADICTS, *one) for one in lines.contradicted(line)]
        found += [(LinkType.CAUSES, *one) for one in causes(line, lines, before)]
        lines.add(line)
        self._last[teller, entry.place] = entry
        return [
            Link(source, target, kind, 1.0, entry.timestamp, (*words, *other_words))
            for kind, source, target, words, other_words in found
        ]


def _teller(entry: MemoryEntry) -> _Teller:
    return entry.user_id, "" if entry.in_person else entry.source
