"""The last lines of each room, for whoever comes back.

Held in memory alone, and few: what was said there is kept in minds, not here. What was whispered, or told
with nobody else there, is shown again only to those it was between.
"""

from __future__ import annotations

from collections import defaultdict, deque

from noodlings.values.audience import Audience, may_learn
from noodlings.values.percept import Kind
from noodlings.worlds.lines import Line
from noodlings.worlds.places import Room

LINES = 20
"""Lines of one room."""

_KINDS = (Kind.SAY, Kind.EMOTE, Kind.WHISPER)


class Scrollback:
    """What was said and done in each room of late."""

    def __init__(self, lines: int = LINES) -> None:
        self._rooms: defaultdict[str, deque[tuple[Line, Audience]]] = defaultdict(lambda: deque(maxlen=lines))

    def note(self, room: Room, line: Line, audience: Audience) -> None:
        """A line was seen in a room, by an audience; who came and went is not kept."""
        if line.kind in _KINDS:
            self._rooms[room.name].append((line, audience))

    def of(self, room: Room, viewer: str) -> list[Line]:
        """What a viewer may see again of a room, oldest first."""
        lines = self._rooms.get(room.name, ())
        return [line for line, audience in lines if may_learn(frozenset({viewer}), audience)]
