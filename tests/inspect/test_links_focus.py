"""What an agent remembers about a question: for each caller what is theirs, as if there were nothing else."""

import asyncio
import json
import re
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.agent.archive import AgentArchive
from noodlings.embed.queue import EmbeddingQueue
from noodlings.errors import NotFound, UserError
from noodlings.inspect.inspector import Inspector
from noodlings.inspect.viewpoint import may_read
from noodlings.ports import Changes
from noodlings.recall.focus import HOUR
from noodlings.store.memory import MemoryStore
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import Link, LinkType
from noodlings.values.percept import Kind
from tests.fakes import FakeAgent, FakeSociety, HashingEmbedder
from tests.memory.entries import an_entry

ADMIN = Caller("user_root", "root", Role.ADMIN)
VIEWER = Caller("user_eve", "eve", Role.VIEWER)
ANN = Caller("user_ann", "ann")
NOW = 1_000_000.0


@dataclass
class Searchable(FakeAgent):
    """An agent with an archive, as far as one can look at it."""

    archive: AgentArchive | None = None


def told(number, text, user="user_ann", kind=Kind.SAY, hours=0.5, audience=()):
    return an_entry(
        number,
        user_id=user,
        user_text=text,
        kind=kind,
        audience=audience,
        timestamp=NOW - hours * HOUR,
        response=f"answer{number}",
    )


def an_inspector(entries, pairs=(), embedder=None):
    """Phi with these entries in the archive, linked by pairs of ids."""
    store = MemoryStore()
    links = tuple(Link(source, target, LinkType.RECALLED, 0.9, NOW) for source, target in pairs)
    store.commit(Changes("phi", added=tuple(entries), links=links))
    embedding = EmbeddingQueue(embedder, idle=True)
    society = FakeSociety(people={"user_ann": "Ann", "user_bob": "Bob"}, store=store)
    society.add(Searchable(archive=AgentArchive("phi", store, embedding, society.names, len(entries))))
    society.clock.set(NOW)
    return Inspector(society)


def focus(inspector, caller, query, level=3):
    return asyncio.run(inspector.focus(caller, "phi", level, query))


def ids(view):
    return [one.entry.id for one in view.memories]


def test_a_context_with_what_came_from_where():
    inspector = an_inspector(
        [told(1, "the red boat"), told(2, "rain", hours=2), told(3, "a dog", hours=100)], [(2, 1)]
    )
    view = focus(inspector, ADMIN, " boat\n", 2)
    assert (view.agent, view.name, view.query) == ("phi", "Phi", "boat")
    assert (view.level, view.limit, view.hours, view.depth) == (2, 8, 12, 1)
    assert (view.searched, view.linked) == (1, 1)
    found, linked = view.memories
    assert (found.entry.id, found.why, found.via, found.type, found.depth) == (1, ("lexical",), None, None, 0)
    assert (linked.entry.id, linked.why, linked.via) == (2, ("linked",), 1)
    assert (linked.type, linked.strength, linked.depth) == ("recalled", 0.9, 1)
    assert view.context == (
        '- 2 h ago Ann said: "rain"; Phi answered: "answer2"',
        '- 30 min ago Ann said: "the red boat"; Phi answered: "answer1"',
    )
    assert view.tokens == -(-len("\n".join(view.context)) // 4)
    assert json.loads(json.dumps(view.as_dict())) == view.as_dict()


def test_meaning_finds_too():
    inspector = an_inspector([told(1, "boat boat"), told(2, "rain")], embedder=HashingEmbedder())
    assert focus(inspector, ADMIN, "boat").memories[0].scores["words"] > 0


@pytest.mark.parametrize(("level", "query"), [(6, "boat"), (-1, "boat"), (3, " ")])
def test_what_cannot_be_asked(level, query):
    with pytest.raises(UserError):
        focus(an_inspector([told(1, "boat")]), ANN, query, level)


def test_an_agent_that_is_not_there():
    with pytest.raises(NotFound):
        asyncio.run(an_inspector([]).focus(ADMIN, "nobody", 3, "boat"))


def test_a_plain_list_cannot_be_searched():
    society = FakeSociety()
    society.add(Searchable())
    with pytest.raises(UserError, match="use_hierarchical"):
        asyncio.run(Inspector(society).focus(ADMIN, "phi", 3, "boat"))


PEOPLE = st.sampled_from(["user_ann", "user_bob", "phi"])
ROWS = st.lists(
    st.tuples(
        PEOPLE,
        st.sampled_from(Kind),
        st.frozensets(PEOPLE, max_size=2),
        st.sampled_from(["boat", "rain", "boat and rain"]),
        st.sampled_from([0.5, 3.0, 50.0]),
    ),
    min_size=1,
    max_size=9,
)


@pytest.mark.slow
@given(
    ROWS,
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=20),
    st.sampled_from([ADMIN, VIEWER, ANN, Caller("user_ann", "ann", Role.WORLD), Caller("phi", "phi")]),
    st.integers(0, 5),
    st.sampled_from(["boat", "rain", "what did Bob say of the boat"]),
)
def test_nobody_is_told_what_is_not_theirs_nor_that_there_is_any(rows, pairs, caller, level, query):
    entries = [
        told(n, f"{text} secret{n}", user, kind, hours, audience)
        for n, (user, kind, audience, text, hours) in enumerate(rows)
    ]
    pairs = {(a, b) for a, b in pairs if a != b and max(a, b) < len(rows)}
    view = focus(an_inspector(entries, pairs), caller, query, level)
    readable = {entry.id for entry in entries if may_read(caller, entry)}
    named = {end for one in view.memories for end in (one.entry.id, one.via) if end is not None}
    assert named <= readable
    words = " ".join(view.context)
    assert {int(n) for n in re.findall(r"(?:secret|answer)(\d+)", words)} == set(ids(view))
    # Whatever the caller may not read might as well not be there.
    own = an_inspector(
        [entry for entry in entries if entry.id in readable],
        {pair for pair in pairs if set(pair) <= readable},
    )
    assert focus(own, caller, query, level) == view


def test_thoughts_are_the_agents_own_whatever_a_player_is_called():
    inspector = an_inspector(
        [told(1, "boat", "phi"), told(2, "rain", "phi", Kind.THOUGHT), told(3, "boat", "phi", Kind.THOUGHT)],
        [(2, 1)],
    )
    assert ids(focus(inspector, Caller("phi", "phi"), "boat")) == [1]
    assert sorted(ids(focus(inspector, ADMIN, "boat"))) == [1, 2, 3]
