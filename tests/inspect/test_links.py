"""The links of a memory as each caller may follow them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import NotFound
from noodlings.inspect.inspector import Inspector
from noodlings.inspect.viewpoint import may_read
from noodlings.ports import Changes
from noodlings.store.memory import MemoryStore
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import Link, LinkType
from noodlings.values.percept import Kind
from tests.fakes import FakeAgent, FakeSociety
from tests.memory.entries import an_entry

ADMIN = Caller("user_root", "root", Role.ADMIN)
VIEWER = Caller("user_eve", "eve", Role.VIEWER)
ANN = Caller("user_ann", "ann")
WORLD = Caller("user_ann", "ann", Role.WORLD)


def an_inspector(entries, links):
    """Phi with these entries in the archive, linked by pairs of ids."""
    society = FakeSociety(store=MemoryStore())
    society.add(FakeAgent())
    edges = tuple(Link(source, target, LinkType.RECALLED, 0.5, 0.0) for source, target in links)
    society.store.commit(Changes("phi", added=tuple(entries), links=edges))
    return Inspector(society)


def ids(view):
    return [one.entry.id for one in view.linked]


def test_links_are_shown_two_steps_deep_with_where_they_lead():
    inspector = an_inspector([an_entry(n) for n in range(1, 6)], [(2, 1), (1, 3), (3, 4), (4, 5)])
    view = inspector.links(ADMIN, "phi", 1)
    assert (view.agent, view.name, view.entry.id, view.hidden) == ("phi", "Phi", 1, 0)
    assert [(one.entry.id, one.via, one.depth, one.outgoing) for one in view.linked] == [
        (2, 1, 1, False),
        (3, 1, 1, True),
        (4, 3, 2, True),
    ]
    assert {(one.type, one.strength) for one in view.linked} == {("recalled", 0.5)}
    assert json.loads(json.dumps(view.as_dict())) == view.as_dict()


def test_no_memory_and_one_of_somebody_else_look_the_same():
    inspector = an_inspector([an_entry(1, user_id="user_ann"), an_entry(2, user_id="user_bob")], [(2, 1)])
    for entry_id in (2, 99):
        with pytest.raises(NotFound, match=f"^Phi has no memory {entry_id} that you could read"):
            inspector.links(ANN, "phi", entry_id)
    assert ids(inspector.links(VIEWER, "phi", 2)) == [1]


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.sampled_from(["user_ann", "user_bob", "phi"]), st.sampled_from(Kind)),
        min_size=1,
        max_size=9,
    ),
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=25),
    st.sampled_from([ADMIN, VIEWER, ANN, WORLD]),
)
def test_nobody_follows_a_link_to_what_they_may_not_read(rows, pairs, caller):
    entries = {n: an_entry(n, user_id=user, kind=kind) for n, (user, kind) in enumerate(rows)}
    pairs = {(a, b) for a, b in pairs if a != b and {a, b} <= entries.keys()}
    inspector = an_inspector(entries.values(), pairs)
    for entry_id, entry in entries.items():
        if not may_read(caller, entry):
            with pytest.raises(NotFound):
                inspector.links(caller, "phi", entry_id)
            continue
        view = inspector.links(caller, "phi", entry_id)
        named = {end for one in view.linked for end in (one.via, one.entry.id)}
        assert all(may_read(caller, entries[number]) for number in named)
        next_to = {b for a, b in pairs if a == entry_id} | {a for a, b in pairs if b == entry_id}
        mine = {number for number in next_to if may_read(caller, entries[number])}
        shown = {one.entry.id for one in view.linked if one.depth == 1}
        assert shown <= mine
        assert len(shown) == min(len(mine), 4)
        assert not (caller.sees_all and view.hidden)
