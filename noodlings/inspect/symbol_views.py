"""What one sees of a subconscious. See `noodlings.inspect.views`."""

from __future__ import annotations

from dataclasses import dataclass

from noodlings.inspect.views import FeltView, View


@dataclass(frozen=True, slots=True)
class SymbolView(View):
    """A symbol, and what it stands for.

    Attributes:
        entry_id: the memory it was made of.
        image, event: the metaphor, and what happened.
        when: `timestamp` as ISO 8601; age: seconds since then, at least 0.
        salience: 0…1; the lowest fades first.
        made_by: which model made it; "images" for the table that comes with noodlings.
        private: only some may hear of it.
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
class SymbolsView(View):
    """The symbols of an agent that the caller may read; `hidden` counts the others.

    Attributes:
        similar: only those that what it feels now brings back, the most alike first; else the latest first.
        current: what the agent feels now.
        threshold: from this likeness on a symbol comes back, 0…1.
        total: how many there are for the caller, of which `symbols` are some from `offset` on.
        capacity: how many the agent can hold.
    """

    agent: str
    name: str
    similar: bool
    current: FeltView
    threshold: float
    symbols: tuple[SymbolView, ...]
    offset: int
    total: int
    capacity: int
    hidden: int
