"""The subconscious as each caller may read it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import UserError
from noodlings.inspect.inspector import Inspector
from noodlings.ports import Changes
from noodlings.store.memory import MemoryStore
from noodlings.values.affect import NEUTRAL
from noodlings.values.audience import confined_to
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import Symbol
from noodlings.values.percept import INNER, Kind
from tests.fakes import FakeAgent, FakeSociety
from tests.memory.entries import ANXIOUS, JOYFUL, WORRIED, an_entry

ADMIN = Caller("user_root", "root", Role.ADMIN)
VIEWER = Caller("user_eve", "eve", Role.VIEWER)
ANN = Caller("user_ann", "ann")


def a_symbol(number, entry_id, affect=ANXIOUS, **changes):
    fields = {"literal_event": f"line {entry_id}", "symbolic_encoding": f"image {number}", "salience": 0.75}
    fields |= {"surprise": 0.5, "made_by": "images", "timestamp": float(number)}
    return Symbol(id=number, entry_id=entry_id, affect=affect, **(fields | changes))


def an_inspector(entries, symbols, affect=NEUTRAL):
    """Phi with these entries in the archive and these symbols in mind."""
    society = FakeSociety(store=MemoryStore())
    agent = society.add(FakeAgent(affect=affect))
    society.store.commit(Changes("phi", added=tuple(entries)))
    agent.subconscious.restore(symbols)
    society.clock.set(1_000.0)
    return Inspector(society)


def ids(view):
    return [symbol.id for symbol in view.symbols]


def test_the_latest_stand_first_with_all_there_is_to_them():
    entries = [an_entry(1), an_entry(2)]
    private = a_symbol(2, 2, JOYFUL, audience=confined_to({"user_ann"}), literal_event="a \x1b[31msecret")
    view = an_inspector(entries, [a_symbol(1, 1), private]).symbols(ADMIN, "phi")
    assert (view.agent, view.name, view.total, view.capacity, view.hidden) == ("phi", "Phi", 2, 100, 0)
    assert ids(view) == [2, 1]
    newest = view.symbols[0]
    assert (newest.entry_id, newest.image, newest.event) == (2, "image 2", "a secret")
    assert (newest.felt.affect, newest.felt.family) == (JOYFUL, "joy")
    assert (newest.age, newest.salience, newest.made_by, newest.private) == (998.0, 0.75, "images", True)
    assert json.loads(json.dumps(view.as_dict(), allow_nan=False)) == view.as_dict()


def test_pages_count_from_the_latest():
    inspector = an_inspector([an_entry(1)], [a_symbol(number, 1) for number in range(1, 8)])
    assert ids(inspector.symbols(ADMIN, "phi", 3)) == [7, 6, 5]
    view = inspector.symbols(ADMIN, "phi", 3, 6)
    assert (ids(view), view.offset, view.total) == ([1], 6, 7)
    for limit, offset in ((0, 0), (1, -1)):
        with pytest.raises(UserError):
            inspector.symbols(ADMIN, "phi", limit, offset)


def test_similar_are_those_that_the_feeling_brings_back():
    symbols = [a_symbol(1, 1, ANXIOUS), a_symbol(2, 1, JOYFUL), a_symbol(3, 1, WORRIED)]
    view = an_inspector([an_entry(1)], symbols, affect=WORRIED).symbols(ADMIN, "phi", similar=True)
    assert (view.similar, view.current.affect, ids(view)) == (True, WORRIED, [3, 1])
    assert 1.0 >= view.symbols[0].likeness > view.symbols[1].likeness >= view.threshold
    assert ids(an_inspector([an_entry(1)], symbols).symbols(ADMIN, "phi", similar=True)) == []


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.sampled_from(["user_ann", "user_bob"]), st.sampled_from(Kind)), max_size=6),
    st.booleans(),
)
def test_a_player_sees_symbols_of_their_own_words(told, similar):
    entries = [an_entry(n, user_id=user, kind=kind) for n, (user, kind) in enumerate(told, start=1)]
    symbols = [a_symbol(n + 10, n) for n in range(1, len(told) + 1)]
    inspector = an_inspector(entries, symbols, affect=ANXIOUS)
    own = [n for n, (user, kind) in enumerate(told, start=1) if user == "user_ann" and kind not in INNER]
    view = inspector.symbols(ANN, "phi", similar=similar)
    seen = sorted(symbol.entry_id for symbol in view.symbols)
    if similar:  # to what the player's own words left, which may be nothing
        assert set(seen) <= set(own)
    else:
        assert (seen, view.total) == (own, len(own))
    assert view.hidden == len(told) - len(own)
    for caller in (ADMIN, VIEWER):
        assert inspector.symbols(caller, "phi", similar=similar).total == len(told)


def test_the_figures_of_a_memory_count_symbols():
    view = an_inspector([an_entry(1)], [a_symbol(1, 1), a_symbol(2, 1)]).stats(ANN, "phi")
    assert (view.symbols, view.symbol_capacity) == (2, 100)
