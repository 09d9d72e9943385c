"""Searching everything an agent perceived: for each caller what is theirs, as if there were nothing else."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from commands.recall import recall_view
from noodlings.agent.archive import SOON, AgentArchive
from noodlings.embed.queue import EmbeddingQueue
from noodlings.errors import Forbidden, NotFound, UserError
from noodlings.inspect import recall as waiting
from noodlings.inspect.inspector import Inspector
from noodlings.inspect.recall import RecallOptions, Status
from noodlings.inspect.viewpoint import may_read
from noodlings.ports import Changes, Embedder
from noodlings.recall.filters import Filters
from noodlings.store.memory import MemoryStore
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import EntryVector, MemoryEntry
from noodlings.values.percept import Kind
from tests.fakes import FakeAgent, FakeSociety, HashingEmbedder
from tests.memory.entries import JOYFUL, SORROWFUL, an_entry

ADMIN = Caller("user_root", "root", Role.ADMIN)
VIEWER = Caller("user_eve", "eve", Role.VIEWER)
ANN = Caller("user_ann", "ann")
BOB = Caller("user_bob", "bob")
NOW = 1_000_000.0
TALK_APART = 7_200.0


@dataclass
class Searchable(FakeAgent):
    """An agent with an archive, as far as one can look at it."""

    archive: AgentArchive | None = None


def told(number: int, text: str, user: str = "user_ann", **changes: object) -> MemoryEntry:
    """In a talk of its own, unless a timestamp says otherwise."""
    fields = {"timestamp": NOW - number * TALK_APART, "user_id": user, "user_text": text} | changes
    return an_entry(number, **fields)  # type: ignore[arg-type]


def an_inspector(*entries: MemoryEntry, embedder: Embedder | None = None, mind: int = 0) -> Inspector:
    """Of Phi, who perceived all of them; the last `mind` are in working memory."""
    store = MemoryStore()
    vectors = ()
    if embedder is not None:
        vectors = tuple(
            EntryVector(entry.id, embedder.name, embedder.embed([entry.user_text])[0]) for entry in entries
        )
    store.commit(Changes("phi", added=entries, vectors=vectors))
    society = FakeSociety(people={"user_ann": "Ann", "user_bob": "Bob"}, store=store)  # type: ignore[arg-type]
    archive = AgentArchive("phi", store, EmbeddingQueue(embedder, idle=True), society.names, len(entries))
    agent = society.add(Searchable(archive=archive))
    agent.memory.restore(entries[len(entries) - mind :], (), len(entries), 0, len(entries))
    society.clock.set(NOW)
    return Inspector(society)  # type: ignore[arg-type]


def recall(inspector: Inspector, caller: Caller, query: str, *arguments: object, **how: object):
    return asyncio.run(
        inspector.recall(caller, "phi", query, *arguments, how=RecallOptions(**how))  # type: ignore[arg-type]
    )


def ids(view) -> list[int]:
    return [one.entry.id for one in view.memories]


def test_each_hit_says_why_where_it_is_and_what_its_score_is_made_of() -> None:
    inspector = an_inspector(
        told(1, "the red boat"), told(2, "a boat"), told(3, "rain"), embedder=HashingEmbedder(), mind=2
    )
    view = recall(inspector, ADMIN, " red\nboat ")
    assert (view.agent, view.name, view.query, view.mood, view.by_meaning) == (
        "phi",
        "Phi",
        "red boat",
        None,
        True,
    )
    first, second, *_ = view.memories
    assert (first.entry.id, first.status) == (1, "archive")
    assert (second.entry.id, second.status) == (2, "working")
    assert set(first.why) == {"semantic", "lexical"}
    assert 0.0 < second.score < first.score <= 1.0
    assert set(first.scores) == {"meaning", "words", "next_to", "length", "mood"}
    assert first.entry.text == "the red boat"
    assert json.loads(json.dumps(view.as_dict())) == view.as_dict()


def test_without_a_model_words_find_it() -> None:
    view = recall(an_inspector(told(1, "the red boat"), told(2, "rain")), ADMIN, "boat")
    assert (ids(view), view.by_meaning) == ([1], False)
    assert (view.archive.model, view.archive.embedded, view.archive.entries) == ("", 0, 2)


def test_the_words_of_asking_are_not_looked_for() -> None:
    inspector = an_inspector(told(1, "what did I say? say it again"), told(2, "my dog ran off"))
    assert ids(recall(inspector, ADMIN, "what did I say about my dog")) == [2]


def test_limit_score_and_filters_hold() -> None:
    entries = [told(number, "boat", affect=JOYFUL if number % 2 else SORROWFUL) for number in range(1, 9)]
    inspector = an_inspector(*entries, told(9, "boat", "user_bob", kind=Kind.EMOTE))
    assert len(recall(inspector, ADMIN, "boat", 3).memories) == 3
    assert recall(inspector, ADMIN, "boat", min_score=1.0).memories == ()
    assert ids(recall(inspector, ADMIN, "boat", 10, "Bob")) == [9]
    assert ids(recall(inspector, ADMIN, "boat", filters=Filters(kinds=frozenset({Kind.EMOTE})))) == [9]
    assert set(ids(recall(inspector, ADMIN, "boat", filters=Filters(feeling="joy")))) == {1, 3, 5, 7}
    recent = Filters(since=NOW - 2 * TALK_APART)
    assert set(ids(recall(inspector, ADMIN, "boat", filters=recent))) == {1, 2}


def test_where_it_is_can_be_asked_for() -> None:
    inspector = an_inspector(*(told(number, "boat") for number in range(1, 7)), mind=2)
    assert set(ids(recall(inspector, ADMIN, "boat", status=Status.WORKING))) == {5, 6}
    assert recall(inspector, ADMIN, "boat", status=Status.EPISODIC).memories == ()
    assert set(ids(recall(inspector, ADMIN, "boat", status=Status.ARCHIVE))) == {1, 2, 3, 4}
    both = Filters(among=frozenset({1, 5}))
    assert ids(recall(inspector, ADMIN, "boat", status=Status.WORKING, filters=both)) == [5]


def test_mood_brings_what_felt_alike_to_the_top() -> None:
    inspector = an_inspector(
        told(1, "a boat", affect=JOYFUL),
        told(2, "a boat", affect=SORROWFUL),
        told(3, "a boat", affect=JOYFUL),
    )
    assert ids(recall(inspector, ADMIN, "boat"))[0] == 1
    view = recall(inspector, ADMIN, "boat", mood=SORROWFUL)
    assert ids(view)[0] == 2
    assert view.memories[0].why[-1] == "affect"
    assert view.mood is not None
    assert view.mood.affect == SORROWFUL
    assert ids(recall(inspector, ADMIN, "boat", mood=SORROWFUL, emotion_weight=0.0))[0] == 1
    inspector._society.find("phi").mood = SORROWFUL
    assert recall(inspector, ADMIN, "boat", include_emotion=True) == view
    assert recall(inspector, ADMIN, "boat", include_emotion=True, mood=JOYFUL).mood.affect == JOYFUL


@pytest.mark.parametrize(
    ("query", "limit", "how"),
    [
        (" ", 10, {}),
        ("boat", 0, {}),
        ("boat", 1_001, {}),
        ("boat", 10, {"emotion_weight": 1.5}),
        ("boat", 10, {"candidate_multiplier": 6}),
        ("boat", 10, {"min_score": -0.1}),
    ],
)
def test_what_cannot_be_asked(query: str, limit: int, how: dict[str, object]) -> None:
    with pytest.raises(UserError):
        recall(an_inspector(told(1, "boat")), ADMIN, query, limit, **how)


def test_an_agent_that_is_not_there_and_a_plain_list() -> None:
    inspector = an_inspector(told(1, "boat"))
    with pytest.raises(NotFound):
        asyncio.run(inspector.recall(ADMIN, "nobody", "boat"))
    inspector._society.find("phi").archive = None  # type: ignore[assignment]
    for ask in (lambda: recall(inspector, ADMIN, "boat"), lambda: inspector.archive(ADMIN, "phi")):
        with pytest.raises(UserError, match="plain list"):
            ask()


def test_a_player_asks_only_after_what_is_theirs() -> None:
    inspector = an_inspector(told(1, "the red boat"), told(2, "the blue boat", "user_bob"))
    assert ids(recall(inspector, ANN, "boat")) == [1]
    assert ids(recall(inspector, ANN, "boat", 10, "me")) == [1]
    assert set(ids(recall(inspector, VIEWER, "boat"))) == {1, 2}
    with pytest.raises(Forbidden):
        recall(inspector, ANN, "boat", 10, "Bob")


def test_figures_are_open_and_reasons_are_not() -> None:
    inspector = an_inspector(told(1, "boat"), embedder=HashingEmbedder())
    archive = inspector._society.find("phi").archive
    assert archive is not None
    while not archive.loaded:
        archive.load_some()
    archive._backlog.fail([1], "it cannot be reached", 0.0)
    assert inspector.archive(ADMIN, "phi").reason == "it cannot be reached"
    assert inspector.archive(ANN, "phi").reason == ""
    view = inspector.archive(ANN, "phi")
    assert (view.perceived, view.entries, view.loaded, view.model) == (1, 1, True, "hashing-64")


WORDS = st.sampled_from(["boat", "mellon", "dog", "red", "storm", "well", "bob", "ann"])
TEXTS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
TALK = st.lists(
    st.tuples(
        TEXTS,
        st.sampled_from(["user_ann", "user_bob", "phi"]),
        st.sampled_from([Kind.SAY, Kind.WHISPER, Kind.THOUGHT, Kind.EMOTE]),
        st.none() | TEXTS,
    ),
    min_size=1,
    max_size=12,
)
HOW = st.builds(
    RecallOptions,
    filters=st.builds(
        Filters,
        user=st.sampled_from([None, "user_ann", "user_bob"]),
        among=st.none() | st.frozensets(st.integers(1, 12)),
        present=st.sampled_from([frozenset(), frozenset({"user_bob"})]),
    ),
    status=st.none() | st.sampled_from(Status),
    mood=st.none() | st.just(SORROWFUL),
)


def talk(lines) -> list[MemoryEntry]:
    return [
        told(
            number,
            text,
            user,
            kind=kind,
            response=response,
            timestamp=NOW - 60.0 * number,
        )
        for number, (text, user, kind, response) in enumerate(lines, 1)
    ]


@pytest.mark.slow
@given(TALK, TEXTS, HOW, st.booleans(), st.sampled_from([ANN, BOB]))
def test_nobody_reads_what_is_not_theirs(lines, query, how, meaning, caller) -> None:
    inspector = an_inspector(*talk(lines), embedder=HashingEmbedder() if meaning else None)
    view = asyncio.run(inspector.recall(caller, "phi", query, 100, how=how))
    for one in view.memories:
        assert one.entry.user == caller.user_id
        assert one.entry.kind != "thought"


@given(TALK, TALK, TEXTS, HOW, st.booleans())
@pytest.mark.slow
def test_what_others_told_changes_nothing_in_what_one_finds(lines, others, query, how, meaning) -> None:
    """Neither which entries come, nor in what order, nor a single digit of a score."""
    embedder = HashingEmbedder() if meaning else None
    entries = talk(lines)
    own = [entry for entry in entries if may_read(ANN, entry)]
    strangers = [
        replace(entry, id=100 + entry.id, user_id="user_bob", timestamp=entry.timestamp - 30.0)
        for entry in talk(others)
    ]
    seen = [
        asyncio.run(an_inspector(*known, embedder=embedder).recall(ANN, "phi", query, 100, how=how)).memories
        for known in (own, sorted([*own, *strangers], key=lambda entry: entry.id))
        if known
    ]
    assert all(view == seen[0] for view in seen)


@pytest.mark.slow
@pytest.mark.parametrize("patient", [0.0, 60.0])
async def test_what_was_lately_is_waited_for_where_nothing_older_answers(
    monkeypatch: pytest.MonkeyPatch, patient: float
) -> None:
    monkeypatch.setattr(waiting, "LOADING_SECONDS", 0.0)
    monkeypatch.setattr(waiting, "PATIENT_SECONDS", patient)
    inspector = an_inspector(*(told(n, "rain") for n in range(1, SOON + 1)), told(SOON + 1, "a red boat"))
    view = await inspector.recall(ADMIN, "phi", "the boat")
    assert [one.entry.id for one in view.memories] == ([SOON + 1] if patient else [])
    assert view.archive.loaded == bool(patient)
    console = Console(width=100)
    with console.capture() as drawn:
        console.print(recall_view(view))
    assert ("It has found nothing so far; ask again" in drawn.get()) != bool(patient)
    assert "Nothing it may tell you of" not in drawn.get()
