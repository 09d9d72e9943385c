"""The symbols of an agent. A caller may read a symbol if it may read the memory that it was made of."""

from __future__ import annotations

from dataclasses import dataclass

from noodlings.inspect.viewpoint import Viewpoint, cut, felt
from noodlings.inspect.views import FeltView, View, ViewOfAgent, iso
from noodlings.memory.likeness import likeness
from noodlings.text import clean
from noodlings.values.affect import Affect
from noodlings.values.memory import Symbol


@dataclass(frozen=True, slots=True)
class SymbolView(View):
    """A symbol, and what it stands for.

    Attributes:
        entry_id: the memory it was made of.
        image, event: the metaphor, and what happened.
        when: `timestamp` as ISO 8601; age: seconds since then, at least 0.
        salience: 0…1; the lowest fades first.
        made_by: which model made it; "images" for the table that comes with noodlings.
        private: whether it is kept from some.
        likeness: to what the agent feels now, 0…1.
    """

    id: int
    entry_id: int
    image: str
    event: str
    timestamp: float
    when: str
    age: float
    felt: FeltView
    salience: float
    surprise: float
    made_by: str
    private: bool
    likeness: float


@dataclass(frozen=True, slots=True)
class SymbolsView(ViewOfAgent):
    """The symbols of an agent that the caller may read; `hidden` counts the others.

    Attributes:
        similar: whether these are only the symbols that the present feeling brings back, the most alike
            first; else the latest come first.
        current: what the agent feels now.
        threshold: the least likeness at which a symbol comes back, 0…1.
        total: how many the caller may read; `symbols` are those from `offset` on.
        capacity: how many the agent can hold.
    """

    similar: bool
    current: FeltView
    threshold: float
    symbols: tuple[SymbolView, ...]
    offset: int
    total: int
    capacity: int
    hidden: int


def symbols_of(
    viewpoint: Viewpoint, limit: int | None = None, offset: int = 0, similar: bool = False
) -> SymbolsView:
    """A page of symbols: the latest first, or with `similar` those that the agent's feeling brings back."""
    subconscious, now = viewpoint.agent.subconscious, viewpoint.affect()
    found = subconscious.symbols[::-1]
    entries = viewpoint.stored([symbol.entry_id for symbol in found])
    # Rights come first: how many symbols of others are alike would tell what those felt.
    kept, hidden = viewpoint.readable_among(found, lambda symbol: entries.get(symbol.entry_id))
    if similar:
        kept = [one for one in subconscious.retrieve_by_affect(now, len(subconscious)) if one in kept]
    return SymbolsView(
        *viewpoint.of_agent,
        similar=similar,
        current=felt(now),
        threshold=subconscious.threshold,
        symbols=tuple(_seen(viewpoint, symbol, now) for symbol in cut(kept, limit, offset)),
        offset=offset,
        total=len(kept),
        capacity=subconscious.capacity,
        hidden=hidden,
    )


def _seen(viewpoint: Viewpoint, symbol: Symbol, now: Affect) -> SymbolView:
    return SymbolView(
        id=symbol.id,
        entry_id=symbol.entry_id,
        image=clean(symbol.symbolic_encoding),
        event=clean(symbol.literal_event),
        timestamp=symbol.timestamp,
        when=iso(symbol.timestamp),
        age=viewpoint.since(symbol.timestamp),
        felt=felt(symbol.affect),
        salience=viewpoint.figure(symbol.salience),
        surprise=viewpoint.figure(symbol.surprise),
        made_by=clean(symbol.made_by),
        private=symbol.audience.confined,
        likeness=likeness(now, symbol.affect, viewpoint.agent.subconscious.metric),
    )
