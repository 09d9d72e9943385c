"""What one sees of links between memories, and of a context that they help to put together.

See `noodlings.inspect.views`.
"""

from __future__ import annotations

from dataclasses import dataclass

from noodlings.inspect.views import EntryView, View


@dataclass(frozen=True, slots=True)
class LinkedEntryView(View):
    """A memory that a link leads to.

    Attributes:
        via: the memory it was reached from, `depth` steps (1 or 2) away from the first.
        type: followed, recalled, by_hand or reflected.
        outgoing: whether the link points from `via` to it, or the other way.
        strength: of the link, 0…1.
    """

    via: int
    depth: int
    type: str
    outgoing: bool
    strength: float
    entry: EntryView


@dataclass(frozen=True, slots=True)
class LinksView(View):
    """A memory, and what its links lead to: nearer ones first, then the stronger way.

    `hidden` counts neighbours that the caller may not read; what lies behind them is not followed.
    """

    agent: str
    name: str
    entry: EntryView
    linked: tuple[LinkedEntryView, ...]
    hidden: int


@dataclass(frozen=True, slots=True)
class FocusEntryView(View):
    """A memory of a reconstructed context.

    Attributes:
        score: 0…1, what the context is ranked by; `why` and `scores` say what it is made of.
        via, type, strength, depth: the memory and the link it was reached by, and in how many steps; None and
            0 for what the search alone found.
    """

    score: float
    why: tuple[str, ...]
    scores: dict[str, float]
    via: int | None
    type: str | None
    strength: float | None
    depth: int
    entry: EntryView


@dataclass(frozen=True, slots=True)
class FocusView(View):
    """What an agent remembers about a question, as far as the caller may read it.

    Attributes:
        level: 0…5, and what it means: at most `limit` found by the search, within `hours` of world time, and
            `depth` steps along links.
        memories: best first; `searched` of them were found by the search, to `linked` only links led.
        context: the block of context, a line each, oldest to newest; `tokens` is about what it costs.
    """

    agent: str
    name: str
    query: str
    level: int
    limit: int
    hours: float
    depth: int
    memories: tuple[FocusEntryView, ...]
    searched: int
    linked: int
    context: tuple[str, ...]
    tokens: int
