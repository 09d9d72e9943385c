"""The symbols of an agent as one caller may read them: what they were made of decides."""

from __future__ import annotations

from noodlings.inspect.look import Look, cut, felt
from noodlings.inspect.rights import readable
from noodlings.inspect.symbol_views import SymbolsView, SymbolView
from noodlings.inspect.views import iso
from noodlings.memory.likeness import likeness
from noodlings.ports import Store
from noodlings.text import clean
from noodlings.values.memory import Symbol


def symbols_of(look: Look, store: Store, limit: int | None, offset: int, similar: bool) -> SymbolsView:
    """A page of them: the latest first, or with `similar` what the agent's feeling brings back."""
    subconscious, now = look.agent.subconscious, look.affect()
    if similar:
        found = subconscious.retrieve_by_affect(now, len(subconscious))
    else:
        found = list(reversed(subconscious.symbols))
    entries = store.entries(look.agent_id, [symbol.entry_id for symbol in found])
    kept, hidden = readable(look.caller, found, lambda symbol: entries.get(symbol.entry_id))
    return SymbolsView(
        agent=look.agent_id,
        name=look.name,
        similar=similar,
        current=felt(now),
        threshold=subconscious.threshold,
        symbols=tuple(_seen(look, symbol) for symbol in cut(kept, limit, offset)),
        offset=offset,
        total=len(kept),
        capacity=subconscious.capacity,
        hidden=hidden,
    )


def _seen(look: Look, symbol: Symbol) -> SymbolView:
    subconscious, now = look.agent.subconscious, look.affect()
    return SymbolView(
        id=symbol.id,
        entry_id=symbol.entry_id,
        image=clean(symbol.symbolic_encoding),
        event=clean(symbol.literal_event),
        timestamp=symbol.timestamp,
        when=iso(symbol.timestamp),
        age=max(look.now - symbol.timestamp, 0.0),
        felt=felt(symbol.affect),
        salience=look.figure(symbol.salience),
        surprise=look.figure(symbol.surprise),
        made_by=clean(symbol.made_by),
        private=symbol.audience.confined,
        likeness=likeness(now, symbol.affect, subconscious.metric),
    )
