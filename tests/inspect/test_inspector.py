import asyncio
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noodlings.errors import Forbidden, NotFound, UserError
from noodlings.inspect.inspector import Inspector
from noodlings.inspect.views import View
from noodlings.memory.plain import PlainMemory
from noodlings.ports import Changes
from noodlings.store.memory import MemoryStore
from noodlings.store.sql import SqlStore
from noodlings.values.affect import Affect
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import ImportanceParts
from noodlings.values.percept import INNER, Kind
from noodlings.values.trace import RecalledTrace, Trace
from tests.fakes import FakeAgent, FakeSociety, make_persona
from tests.thorough import examples

ADMIN = Caller("user_root", "root", Role.ADMIN)
CAITY = Caller("user_caity", "caity")
BOB = Caller("user_bob", "bob")
SORROW = Affect(-0.8, 0.4, 0.1, 0.9)
JOY = Affect(0.8, 0.7)
NOW = 1_000_000.0

# Every question about content, asked without limits; the ones about figures alone are below.
QUESTIONS: dict[str, Callable[[Inspector, Caller], View]] = {
    "working": lambda inspector, caller: inspector.working(caller, "phi"),
    "episodic": lambda inspector, caller: inspector.episodic(caller, "phi"),
    "important": lambda inspector, caller: inspector.important(caller, "phi", None),
    "affect": lambda inspector, caller: inspector.affect_groups(caller, "phi", None),
    "alike": lambda inspector, caller: inspector.affect_alike(caller, "phi", SORROW, None, 0.0),
    "flow": lambda inspector, caller: inspector.last_retrieval(caller, "phi"),
}
FIGURES: dict[str, Callable[[Inspector, Caller], View]] = {
    "agents": lambda inspector, caller: asyncio.run(inspector.agents(caller)),
    "agent": lambda inspector, caller: inspector.agent(caller, "phi"),
    "stats": lambda inspector, caller: inspector.stats(caller, "phi"),
}


@pytest.fixture
def society() -> FakeSociety:
    society = FakeSociety(people={"user_caity": "caity", "user_bob": "bob"})
    society.add(FakeAgent(make_persona("Phi"), mood=Affect(0.4, 0.5), affect=SORROW))
    society.clock.set(NOW)
    return society


@pytest.fixture
def inspector(society: FakeSociety) -> Inspector:
    return Inspector(society)  # type: ignore[arg-type]


def tell(
    society: FakeSociety,
    user: str,
    text: str,
    felt: Affect | None = JOY,
    kind: Kind = Kind.SAY,
    age: float = 60.0,
) -> int:
    """Let phi hear something; gives the entry's id. It is in the archive too."""
    memory = society.agents["phi"].memory
    entry = memory.add(NOW - age, 0, user, text, felt, kind=kind, response=f"re {text}")
    society.store.kept.setdefault("phi", {})[entry.id] = entry
    return entry.id


def answer(society: FakeSociety, entry_id: int, recalled: dict[int, tuple[str, ...]]) -> None:
    """Let phi's turn about an entry have recalled others, with why."""
    traces = tuple(
        RecalledTrace(number, why, 0.8, dict.fromkeys(why, 0.8), used="important" in why)
        for number, why in recalled.items()
    )
    society.store.turns.setdefault("phi", []).append(
        Trace(
            "phi", entry_id, NOW, JOY, "words", SORROW, 0.2, 0.4, ImportanceParts(), traces,
            response=f"answer to {entry_id}", voice="offline", decision="addressed",
        )
    )  # fmt: skip


def texts(view: View) -> list[str]:
    """All texts of entries in a view, in order."""
    found: list[str] = []

    def walk(value: object) -> None:
        if isinstance(value, dict):
            if "text" in value:
                found.append(value["text"])
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(view.as_dict())
    return found


def test_agents_are_listed_by_name_for_everybody(society: FakeSociety, inspector: Inspector) -> None:
    society.add(FakeAgent(make_persona("Ada")))
    assert [view.name for view in asyncio.run(inspector.agents(BOB)).agents] == ["Ada", "Phi"]
    view = inspector.agent(BOB, "phi")
    assert view.mood.feeling == "content"
    assert inspector.agent(ADMIN, "phi").affect.feeling == "sorrowful"


def test_stats_are_the_figures_of_the_memory_and_a_histogram(
    society: FakeSociety, inspector: Inspector
) -> None:
    for number in range(30):
        tell(society, "user_bob", f"line {number}", SORROW if number % 3 else None)
    stats = inspector.stats(ADMIN, "phi").as_dict()
    own = asdict(society.agents["phi"].memory.stats())
    assert {name: stats[name] for name in own} == pytest.approx(own, abs=1e-6)
    in_mind = inspector.important(ADMIN, "phi", None).total
    assert len(stats["histogram"]) == 10
    assert sum(stats["histogram"]) == in_mind > 20


def test_working_counts_pages_from_the_latest_and_reads_oldest_first(
    society: FakeSociety, inspector: Inspector
) -> None:
    for number in range(25):
        tell(society, "user_bob", str(number))
    page = inspector.working(ADMIN, "phi", limit=3)
    assert (texts(page), page.total, page.offset) == (["22", "23", "24"], 20, 0)
    assert texts(inspector.working(ADMIN, "phi", limit=3, offset=3)) == ["19", "20", "21"]
    assert texts(inspector.working(ADMIN, "phi", limit=3, offset=99)) == []


def test_episodic_and_important_are_ordered_by_importance(society: FakeSociety, inspector: Inspector) -> None:
    tell(society, "user_bob", "hm", None)
    tell(society, "user_bob", "the dog died", SORROW)
    tell(society, "user_caity", "nice day", Affect(0.6, 0.5))
    assert texts(inspector.episodic(ADMIN, "phi")) == ["the dog died", "nice day"]
    assert texts(inspector.episodic(ADMIN, "phi", who="caity")) == ["nice day"]
    assert texts(inspector.important(ADMIN, "phi")) == ["the dog died", "nice day", "hm"]
    assert texts(inspector.important(ADMIN, "phi", limit=1)) == ["the dog died"]


def test_an_entry_shows_all_that_is_known_of_it(society: FakeSociety, inspector: Inspector) -> None:
    number = tell(society, "user_caity", "the dog died", SORROW, Kind.WHISPER, age=7_200)
    memory = society.agents["phi"].memory
    entry = memory.find(number)
    assert entry is not None
    memory.set_importance(memory.pin(entry), 0.95)
    (view,) = inspector.working(ADMIN, "phi").entries
    assert (view.id, view.user, view.name, view.text, view.response) == (
        number, "user_caity", "caity", "the dog died", "re the dog died",
    )  # fmt: skip
    assert (view.when, view.age) == ("1970-01-12T11:46:40Z", 7_200)
    assert (view.feeling, view.family) == ("sorrowful", "sorrow")
    assert (view.kind, view.private, view.pinned) == ("whisper", True, True)
    assert (view.importance, view.override, view.override_by) == (0.95, 0.95, "hand")
    assert view.encoded_importance == entry.encoded_importance
    assert view.parts == entry.parts
    assert view.strength == pytest.approx(memory.strength(memory.find(number), NOW))  # type: ignore[arg-type]


def test_feelings_are_grouped_by_sort(society: FakeSociety, inspector: Inspector) -> None:
    for text, felt in (("a", SORROW), ("b", Affect(-0.3, 0.5, 0, 0.3)), ("c", JOY), ("d", None)):
        tell(society, "user_bob", text, felt)
    view = inspector.affect_groups(ADMIN, "phi", limit=1)
    assert [(group.family, group.count, texts(group)) for group in view.groups] == [
        ("joy", 1, ["c"]),
        ("sorrow", 2, ["a"]),
        ("unknown", 1, ["d"]),
    ]
    assert 0 < view.groups[1].average_importance < 1


def test_alike_compares_with_what_is_felt_now_unless_told_otherwise(
    society: FakeSociety, inspector: Inspector
) -> None:
    tell(society, "user_bob", "the dog died", SORROW)
    tell(society, "user_bob", "we won", JOY)
    view = inspector.affect_alike(ADMIN, "phi")
    assert (view.current.affect, view.current.feeling, view.min_similarity) == (SORROW, "sorrowful", 0.7)
    assert texts(view) == ["the dog died"]
    assert view.entries[0].similarity == pytest.approx(1.0)
    assert texts(inspector.affect_alike(ADMIN, "phi", JOY)) == ["we won"]


def test_the_flow_names_every_memory_with_why_and_score(society: FakeSociety, inspector: Inspector) -> None:
    dog, chat = tell(society, "user_caity", "the dog died", SORROW), tell(society, "user_caity", "hello")
    asked = tell(society, "user_caity", "remember my dog?")
    answer(society, asked, {dog: ("important", "affect"), chat: ("recent",)})
    silent = tell(society, "user_bob", "hm")
    answer(society, silent, {})
    view = inspector.last_retrieval(ADMIN, "phi")
    assert view.turn is not None
    assert view.turn.percept is not None
    assert (view.turn.percept.id, view.turn.response) == (asked, f"answer to {asked}")
    assert [(item.id, item.why, item.used) for item in view.recalled] == [
        (dog, ("important", "affect"), True),
        (chat, ("recent",), False),
    ]
    assert view.recalled[0].scores == {"important": 0.8, "affect": 0.8}


def test_the_flow_tells_what_was_nearly_in_mind(society: FakeSociety, inspector: Inspector) -> None:
    dog = tell(society, "user_caity", "the dog died", SORROW)
    nearly = tell(society, "user_caity", "grandma is ill", Affect(-0.6, 0.4, 0.1, 0.6))
    others = tell(society, "user_bob", "what a day", Affect(0.7, 0.6))  # alike to what is felt in the turn
    both = tell(society, "user_caity", "I found a coin", Affect(0.6, 0.6))  # for either reason
    secret = tell(society, "user_bob", "my secret", JOY, kind=Kind.WHISPER)
    asked = tell(society, "user_caity", "remember my dog?", SORROW)
    later = tell(society, "user_caity", "the cat died as well", SORROW)
    answer(society, asked, {dog: ("important", "affect")})
    missed = inspector.last_retrieval(ADMIN, "phi").left_out
    assert {one.entry.id for one in missed} == {nearly, others, both}
    assert not {secret, later, dog} & {one.entry.id for one in missed}
    assert all(0 < one.score <= one.least <= 1 for one in missed)
    lacked = [one.least - one.score for one in missed]
    assert lacked == sorted(lacked)
    assert len(missed) == 3
    assert {one.entry.id for one in inspector.last_retrieval(CAITY, "phi").left_out} == {nearly, both}


def test_what_nearly_came_to_mind_in_the_same_words_is_told_once(society, inspector: Inspector) -> None:
    dog = tell(society, "user_caity", "the dog died", SORROW)
    for user, words in (("user_bob", "My gate was painted."), ("user_caity", "my gate was painted.")):
        tell(society, user, words, Affect(-0.6, 0.4, 0.1, 0.6))
    answer(society, tell(society, "user_caity", "remember my dog?", SORROW), {dog: ("important", "affect")})
    (missed,) = inspector.last_retrieval(ADMIN, "phi").left_out
    assert missed.entry.text.casefold() == "my gate was painted."


def test_what_was_forgotten_is_shown_as_forgotten(society: FakeSociety, inspector: Inspector) -> None:
    dog, asked = tell(society, "user_caity", "the dog died"), tell(society, "user_caity", "my dog?")
    answer(society, asked, {dog: ("important",)})
    del society.store.kept["phi"][dog]
    view = inspector.last_retrieval(ADMIN, "phi")
    assert [(item.id, item.forgotten, item.entry) for item in view.recalled] == [(dog, True, None)]
    assert inspector.last_retrieval(CAITY, "phi").hidden == 1

    del society.store.kept["phi"][asked]
    view = inspector.last_retrieval(ADMIN, "phi")
    assert view.turn is not None
    assert (view.turn.percept, view.turn.response) == (None, None)
    assert inspector.last_retrieval(CAITY, "phi").turn is None


@pytest.mark.parametrize("kept_in", ["sqlite", "plain dicts"])
def test_the_flow_is_read_from_a_real_store(society: FakeSociety, kept_in: str, tmp_path: Path) -> None:
    store = SqlStore(tmp_path) if kept_in == "sqlite" else MemoryStore()
    dog, asked = tell(society, "user_caity", "the dog died"), tell(society, "user_caity", "my dog?")
    answer(society, asked, {dog: ("important", "affect")})
    entries = society.store.kept["phi"]
    store.commit(Changes("phi", added=tuple(entries.values())))
    store.commit(Changes("phi", trace=society.store.turns["phi"][0]))
    by_hand = Inspector(society).last_retrieval(CAITY, "phi")  # type: ignore[arg-type]
    society.store = store  # type: ignore[assignment]
    assert Inspector(society).last_retrieval(CAITY, "phi").as_dict() == by_hand.as_dict()  # type: ignore[arg-type]
    store.close()


def test_a_player_gets_the_last_answer_to_themselves(society: FakeSociety, inspector: Inspector) -> None:
    mine = tell(society, "user_caity", "mine")
    for number in range(120):
        answer(society, tell(society, "user_bob", f"bob {number}"), {mine: ("recent",)})
    answer_to_caity = tell(society, "user_caity", "hello again")
    secret = tell(society, "user_bob", "a secret", kind=Kind.WHISPER)
    answer(society, answer_to_caity, {mine: ("recent",), secret: ("important",)})
    for number in range(120):
        answer(society, tell(society, "user_bob", f"bob {number}"), {secret: ("recent",)})
    view = inspector.last_retrieval(CAITY, "phi")
    assert texts(view) == ["hello again", "mine"]
    assert view.hidden == 1


def test_nobody_recalled_anything_yet(inspector: Inspector) -> None:
    view = inspector.last_retrieval(ADMIN, "phi")
    assert (view.turn, view.recalled, view.hidden) == (None, (), 0)


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_empty_agent_has_nothing_to_show(inspector: Inspector, question: str) -> None:
    assert texts(QUESTIONS[question](inspector, ADMIN)) == []


said = st.tuples(
    st.sampled_from(["user_caity", "user_bob", "phi", "user_ca", "USER_CAITY"]),
    st.sampled_from(list(Kind)),
    st.sampled_from([JOY, SORROW, None]),
)


@settings(max_examples=examples(60))
@given(st.lists(said, min_size=1, max_size=40), st.data())
def test_no_word_of_another_ever_reaches_a_player(
    heard: list[tuple[str, Kind, Affect | None]], data: st.DataObject
):
    society = FakeSociety(people={"user_caity": "caity", "user_bob": "bob"})
    society.add(FakeAgent(make_persona("Phi"), affect=SORROW))
    for user, kind, felt in heard:
        tell(
            society,
            user,
            "mine" if user == "user_caity" and kind not in INNER else "theirs",
            felt,
            kind,
        )
    ids = list(society.store.kept["phi"])
    for number in ids:
        answer(
            society, number, dict.fromkeys(data.draw(st.lists(st.sampled_from(ids), max_size=5)), ("recent",))
        )
    inspector = Inspector(society)  # type: ignore[arg-type]
    caller = data.draw(st.sampled_from([CAITY, Caller("user_caity", "caity", Role.WORLD)]))
    for name, ask in QUESTIONS.items():
        seen, everything = ask(inspector, caller), ask(inspector, ADMIN)
        assert "theirs" not in str(seen), name
        if name != "flow":
            shown = len(texts(seen))
            assert shown + seen.hidden == len(texts(everything)) + everything.hidden, name  # type: ignore[attr-defined]
    assert "theirs" not in str([ask(inspector, caller) for ask in FIGURES.values()])
    assert "theirs" not in str(inspector.by_user(caller, "phi", "me"))


def test_a_player_may_ask_about_themselves_and_nobody_else(
    society: FakeSociety, inspector: Inspector
) -> None:
    tell(society, "user_caity", "mine")
    tell(society, "user_bob", "theirs")
    for myself in ("me", "caity", "CAITY", "user_caity"):
        assert texts(inspector.by_user(CAITY, "phi", myself)) == ["mine"]
    for another in ("bob", "user_bob", "nobody at all"):
        with pytest.raises(Forbidden):
            inspector.by_user(CAITY, "phi", another)
        with pytest.raises(Forbidden):
            inspector.episodic(CAITY, "phi", who=another)


def test_a_viewer_reads_everything(society: FakeSociety, inspector: Inspector) -> None:
    tell(society, "user_bob", "aside", kind=Kind.WHISPER)
    tell(society, "phi", "hm", kind=Kind.THOUGHT)
    view = inspector.working(Caller("user_eve", "eve", Role.VIEWER), "phi")
    assert (texts(view), view.hidden) == (["aside", "hm"], 0)


def test_people_are_found_by_id_and_by_name(society: FakeSociety, inspector: Inspector) -> None:
    society.people["mush_bob"] = "Bob"
    society.people["user_zoe"] = "Zoë"
    tell(society, "user_bob", "one")
    tell(society, "user_unnamed", "two")
    assert texts(inspector.by_user(ADMIN, "phi", "user_bob")) == ["one"]
    assert texts(inspector.by_user(ADMIN, "phi", "user_unnamed")) == ["two"]
    (stranger,) = inspector.by_user(ADMIN, "phi", "unnamed").entries
    assert (stranger.text, stranger.name) == ("two", "unnamed")
    assert inspector.by_user(ADMIN, "phi", "zoë").total == 0
    with pytest.raises(UserError, match="Several are called bob: mush_bob, user_bob"):
        inspector.by_user(ADMIN, "phi", "bob")
    with pytest.raises(NotFound, match="did you mean caity"):
        inspector.by_user(ADMIN, "phi", "catty")
    with pytest.raises(NotFound):
        inspector.working(ADMIN, "nobody")


@pytest.mark.parametrize(("limit", "offset"), [(0, 0), (-1, 0), (5, -1)])
def test_impossible_pages_are_refused(inspector: Inspector, limit: int, offset: int) -> None:
    with pytest.raises(UserError, match="must be at least"):
        inspector.working(ADMIN, "phi", limit, offset)


def test_reading_changes_nothing(society: FakeSociety, inspector: Inspector) -> None:
    for number in range(40):
        tell(society, "user_bob", f"line {number}", SORROW)
    answer(society, 40, dict.fromkeys(range(30, 35), ("important",)))
    memory = society.agents["phi"].memory

    def state() -> object:
        entries = memory.retrieve_episodic(limit=None) + memory.retrieve_working()
        return memory.stats(), entries, [memory.strength(entry, NOW) for entry in entries]

    before = state()
    for ask in (*QUESTIONS.values(), *FIGURES.values()):
        ask(inspector, ADMIN)
        ask(inspector, BOB)
    assert state() == before


def test_hostile_texts_come_out_as_one_clean_line(society: FakeSociety, inspector: Inspector) -> None:
    tell(society, "user_bob", "\x1b[31mred\x1b]0;title\x07 \u202egnp\r\nnext\x00\ud800")
    (text,) = texts(inspector.working(ADMIN, "phi"))
    assert text == "red gnp next?"
    assert text.isprintable()


def test_the_plain_list_is_shown_as_what_it_is(society: FakeSociety, inspector: Inspector) -> None:
    society.agents["phi"].memory = PlainMemory()  # type: ignore[assignment]
    tell(society, "user_bob", "the dog died", SORROW)
    assert not inspector.stats(ADMIN, "phi").hierarchical
    assert texts(inspector.working(ADMIN, "phi")) == ["the dog died"]
    assert texts(inspector.important(ADMIN, "phi")) == ["the dog died"]
    assert texts(inspector.affect_groups(ADMIN, "phi")) == ["the dog died"]
    assert texts(inspector.episodic(ADMIN, "phi")) == []
    assert texts(inspector.affect_alike(ADMIN, "phi")) == []
