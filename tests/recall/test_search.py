import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noodlings.errors import UserError
from noodlings.ports import EntryColumns
from noodlings.recall import vectors
from noodlings.recall.archive import SearchIndex
from noodlings.recall.filters import Filters
from noodlings.recall.search import Searcher
from noodlings.text import clean
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.memory import Why
from noodlings.values.percept import Kind
from tests.recall.archives import add, archive_of, ids, make_entry, vector_of, without_vector
from tests.thorough import examples

GLAD, SAD = Affect(0.9, 0.8), Affect(-0.9, 0.6, sorrow=0.9)

WORDS = st.sampled_from(["boat", "rain", "soup", "mill", "song", "horse"])
LINES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
USERS = st.sampled_from(["user_ann", "user_bob", "user_cid"])
FELT = st.sampled_from([None, NEUTRAL, GLAD, SAD])
TALKS = st.lists(st.tuples(LINES, USERS, FELT, st.integers(0, 5_000)), min_size=1, max_size=15)


def talk(rows, vectors=False):
    entries, now = [], 0.0
    for number, (text, user, affect, pause) in enumerate(rows):
        now += pause
        entries.append(make_entry(number, text, user, affect=affect, timestamp=now))
    return archive_of(*entries, vectors=vectors)


def test_the_words_of_the_question():
    searcher = archive_of("my boat has a leak", "soup with barley", "rain all day")
    assert ids(searcher.search("who had a leaking boat?")) == [0]


def test_the_answer_is_found_by_what_was_asked_before_it():
    lines = ["what is your dog called", "Pugsley, a silly name", "so it begins to rain"]
    entries = [make_entry(n, line, timestamp=float(n)) for n, line in enumerate(lines)]
    assert 1 in ids(archive_of(*entries).search("name of the dog", limit=2))


def test_who_is_named_comes_first():
    searcher = archive_of(
        make_entry(0, "the boat is mine", "user_bob"), make_entry(1, "the boat is mine", "user_ann")
    )
    assert ids(searcher.search("whose boat, Ann?")) == [1, 0]
    assert ids(searcher.search("did I mention my boat?", asker="user_ann")) == [1, 0]


def test_the_day_that_is_named_comes_first():
    may, june = 1_683_547_200.0, 1_686_225_600.0  # 8 May and 8 June 2023
    searcher = archive_of(
        make_entry(0, "we sailed the boat", timestamp=may),
        make_entry(1, "we sailed the boat", timestamp=june),
    )
    assert ids(searcher.search("who sailed in June 2023?")) == [1, 0]


def test_a_time_is_asked_for():
    searcher = archive_of("the mill burned, poor folk", "the mill burned last week")
    assert ids(searcher.search("when did the mill burn?")) == [1, 0]


def test_what_the_agent_answered_is_found_too():
    searcher = archive_of("what should I cook", "it rains")
    assert ids(searcher.search("barley soup")) == []
    answered = make_entry(0, "what should I cook", response="Cook a barley soup.")
    searcher.archive.update(answered)
    searcher.archive.update(answered)
    assert ids(searcher.search("barley soup")) == [0]


def test_meaning_finds_what_words_alone_do_not():
    searcher = archive_of("alpha beta", "gamma delta", vectors=True)
    assert searcher.search("unheard of") == []
    hits = searcher.search("unheard of", query_vector=vector_of("gamma delta"))
    assert hits[0].entry_id == 1
    assert hits[0].why == (Why.SEMANTIC,)


def test_why_names_what_found_it():
    [hit] = archive_of("a boat", vectors=True).search("boat", query_vector=vector_of("a boat"))
    assert set(hit.why) == {Why.SEMANTIC, Why.LEXICAL}
    assert set(hit.scores) == {"meaning", "words", "next_to", "length", "mood"}
    [dated] = archive_of("a boat").search("in January 1970")
    assert (dated.why, dated.scores["words"]) == ((Why.DATE,), 0.0)


def test_words_of_the_lines_around_it_are_not_its_own():
    dog = archive_of(*said_at_once("my dog swam home", "mrrp.", "the dog is wet"))
    own, near, both = sorted(dog.search("my dog home"), key=lambda hit: hit.entry_id)
    assert near.why == (Why.NEXT_TO,)
    assert near.scores["words"] == 0.0 < near.scores["next_to"]
    assert Why.LEXICAL in own.why
    assert set(both.why) == {Why.LEXICAL, Why.NEXT_TO}
    apart = archive_of("the dog is wet", "so it rains", "my horse swam home").search("my dog home")
    assert {hit.scores["next_to"] for hit in apart} == {0.0}


@given(st.lists(LINES, min_size=1, max_size=8), LINES)
def test_a_line_shares_words_with_the_question_just_where_that_is_shown(lines, query):
    for hit in archive_of(*said_at_once(*lines)).search(query, limit=50):
        shares = bool(set(lines[hit.entry_id].split()) & set(query.split()))
        assert (Why.LEXICAL in hit.why) == (hit.scores["words"] > 0.0) == shares
        assert (Why.NEXT_TO in hit.why) == (hit.scores["next_to"] > 0.0)
        assert hit.only_near == (not shares)


def test_what_answers_a_question_is_no_mere_neighbour():
    asked = archive_of(*said_at_once("what is your dog called?", "Pugsley, a silly name", "so it rains"))
    near = {hit.entry_id: hit.only_near for hit in asked.search("name of the dog")}
    assert near == {0: False, 1: False, 2: True}
    told = archive_of(*said_at_once("your dog is a poodle", "Pugsley!", "so it rains"))
    assert {hit.entry_id: hit.only_near for hit in told.search("the dog")} == {0: False, 1: True, 2: True}
    told.archive.remove([0])
    assert ids(told.search("the dog")) == []


def test_a_line_that_means_it_is_no_mere_neighbour():
    lines = said_at_once("a puppy", "your dog is a poodle", "rain")
    searcher = archive_of(*lines, vectors=True)
    near = {hit.entry_id: hit.only_near for hit in searcher.search("dog", query_vector=vector_of("a puppy"))}
    assert near == {0: False, 1: False, 2: True}


def said_at_once(*lines):
    return [make_entry(number, line, timestamp=float(number)) for number, line in enumerate(lines)]


def test_mood_decides_among_equals():
    searcher = archive_of(
        *(make_entry(n, "that day at the mill", affect=a) for n, a in enumerate([GLAD, SAD, NEUTRAL, None]))
    )
    assert ids(searcher.search("the mill", mood=GLAD))[0] == 0
    sad = searcher.search("the mill", mood=SAD)
    assert sad[0].entry_id == 1
    assert Why.AFFECT in sad[0].why
    assert sad[0].scores["mood"] > 0.0


def test_mood_does_not_drown_meaning():
    searcher = archive_of(
        make_entry(0, "the lantern hangs in the cellar behind the barrels", affect=NEUTRAL),
        *(make_entry(n, f"what a lantern {n}, what a feast!", affect=GLAD) for n in range(1, 6)),
    )
    assert ids(searcher.search("which barrels hide the lantern in the cellar?", mood=GLAD))[0] == 0


@pytest.mark.slow
@given(TALKS, LINES, FELT, st.booleans())
def test_without_weight_or_feeling_the_order_is_that_of_no_mood(rows, query, mood, vectors):
    searcher = talk(rows, vectors)
    vector = vector_of(query) if vectors else None
    plain = searcher.search(query, query_vector=vector)
    assert searcher.search(query, mood=mood, emotion_weight=0.0, query_vector=vector) == plain
    assert searcher.search(query, mood=NEUTRAL, query_vector=vector) == plain


@pytest.mark.slow
@given(TALKS, LINES, st.sampled_from([GLAD, SAD]))
def test_memories_without_feeling_keep_their_order(rows, query, mood):
    searcher = talk([(text, user, NEUTRAL, pause) for text, user, _, pause in rows])
    assert searcher.search(query, mood=mood) == searcher.search(query)


@pytest.mark.slow
@given(TALKS, LINES, USERS, st.none() | st.sampled_from([GLAD, SAD]), st.integers(1, 5), st.booleans())
def test_a_users_filter_finds_what_is_found_where_nobody_else_ever_spoke(
    rows, query, user, mood, limit, vectors
):
    filters = Filters(user=user)
    moments = np.cumsum([pause for *_, pause in rows])
    entries = [
        make_entry(number, text, who, timestamp=float(moment), affect=affect)
        for number, ((text, who, affect, _), moment) in enumerate(zip(rows, moments, strict=True))
    ]
    found = []
    for known in (entries, [entry for entry in entries if entry.user_id == user]):
        searcher = archive_of(*known, vectors=vectors)
        vector = vector_of(searcher.wording(query, filters)) if vectors else None
        found.append(searcher.search(query, filters, limit, mood, query_vector=vector))
    assert found[0] == found[1]
    assert all(rows[hit.entry_id][1] == user for hit in found[0])


def test_what_is_private_shows_in_no_score_of_what_stands_beside_it():
    def told(secret):
        return archive_of(
            make_entry(1, "well well", timestamp=10.0),
            make_entry(2, secret, "user_bob", timestamp=11.0, kind=Kind.WHISPER),
            make_entry(3, "and a lamp", timestamp=12.0),
            vectors=True,
        )

    heard = Filters(present=frozenset({"user_ann"}))
    secret = told("the password is mellon")
    scores = secret.search("mellon lamp", heard, query_vector=vector_of("mellon lamp"))
    assert all(hit.scores["words"] == 0.0 for hit in scores if hit.entry_id == 1)
    assert secret.search("mellon", heard) == []
    assert ids(secret.search("mellon", Filters(present=frozenset({"user_bob"})))) == [2, 1, 3]


@pytest.mark.slow
@given(TALKS, LINES, LINES, LINES, st.data())
def test_no_digit_of_a_score_tells_what_was_whispered_around_a_line(rows, query, secret, other, data):
    whispered = data.draw(st.frozensets(st.sampled_from(range(len(rows)))))

    def found(instead):
        now, entries = 0.0, []
        for number, (text, user, affect, pause) in enumerate(rows):
            now += pause
            changes = {"timestamp": now, "affect": affect}
            if number in whispered:
                text, user, changes["kind"] = instead, "user_dan", Kind.WHISPER
            entries.append(make_entry(number, text, user, **changes))
        searcher = archive_of(*entries, vectors=True)
        heard = Filters(present=frozenset({"user_ann"}))
        return searcher.search(query, heard, query_vector=vector_of(query))

    assert found(secret) == found(other)


@pytest.mark.slow
@given(TALKS, LINES, FELT, st.booleans(), st.floats(0.0, 1.0))
def test_hits_are_bounded_ordered_and_the_same_each_time(rows, query, mood, vectors, weight):
    vector = vector_of(query) if vectors else None
    searcher, again = talk(rows, vectors), talk(rows, vectors)
    hits = searcher.search(query, mood=mood, emotion_weight=weight, query_vector=vector)
    assert hits == again.search(query, mood=mood, emotion_weight=weight, query_vector=vector)
    assert all(0.0 <= value <= 1.0 + 1e-6 for hit in hits for value in (hit.score, *hit.scores.values()))
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.entry_id))
    assert len(set(ids(hits))) == len(hits)


def test_equal_scores_come_in_the_order_of_time():
    assert ids(archive_of(*["a boat"] * 30).search("boat", limit=5)) == [0, 1, 2, 3, 4]


def test_a_minimum_score_leaves_the_rest_out():
    searcher = archive_of("a red boat on the lake", "a boat")
    hits = searcher.search("red boat lake")
    assert len(hits) == 2
    assert searcher.search("red boat lake", min_score=hits[0].score) == hits[:1]


def test_only_what_may_be_said_aloud():
    secret = make_entry(0, "the key is under the boat", kind=Kind.WHISPER, audience=frozenset({"user_bob"}))
    searcher = archive_of(secret, make_entry(1, "the boat is red"))
    assert ids(searcher.search("boat", Filters(present=frozenset({"user_eve"})))) == [1]
    assert len(searcher.search("boat", Filters(present=frozenset({"user_ann", "user_bob"})))) == 2


def test_what_is_forgotten_is_not_found_by_anything():
    searcher = archive_of("my secret boat", "your boat", vectors=True)
    searcher.archive.remove([0, 99])
    assert ids(searcher.search("secret boat", query_vector=vector_of("my secret boat"))) == [1]
    assert [entry_id for entry_id, _ in searcher.nearest(vector_of("my secret boat"))] == [1]
    assert (len(searcher.archive), 0 in searcher.archive) == (1, False)
    with pytest.raises(UserError, match="not in the archive"):
        searcher.archive.set_vector(0, vector_of("boat"))


def test_vectors_may_come_later():
    searcher = archive_of("alpha", "beta", vectors=True)
    add(searcher.archive, make_entry(7, "gamma"))
    assert without_vector(searcher.archive) == [7]
    assert ids(searcher.search("gamma", query_vector=vector_of("nothing")))[0] == 7
    searcher.archive.set_vector(7, vector_of("gamma"))
    assert without_vector(searcher.archive) == []
    assert searcher.nearest(vector_of("gamma"), 1)[0][0] == 7


def test_another_model_starts_anew_and_never_mixes():
    searcher = archive_of("alpha", "beta", vectors=True)
    searcher.archive.change_model("other", 3)
    assert without_vector(searcher.archive) == [0, 1]
    assert ids(searcher.search("alpha", query_vector=[1.0, 0.0, 0.0])) == [0]
    with pytest.raises(UserError, match="do not mix"):
        searcher.archive.set_vector(0, vector_of("alpha"))
    with pytest.raises(UserError, match="do not mix"):
        searcher.search("alpha", query_vector=vector_of("alpha"))


def test_a_bad_vector_leaves_nothing_half_added():
    searcher = archive_of("alpha", vectors=True)
    with pytest.raises(UserError):
        add(searcher.archive, make_entry(1, "beta"), [1.0])
    assert ids(searcher.search("beta")) == []
    add(searcher.archive, make_entry(1, "beta"), vector_of("beta"))
    assert ids(searcher.search("beta")) == [1]


def test_an_entry_is_added_once():
    searcher = archive_of("alpha")
    with pytest.raises(UserError, match="already"):
        add(searcher.archive, make_entry(0, "beta"))


def test_an_archive_of_words_alone_says_so():
    with pytest.raises(UserError, match="by words"):
        archive_of("alpha").search("alpha", query_vector=[1.0])


@pytest.mark.parametrize(
    "bad",
    [
        {"query": "  \x1b[31m "},
        {"limit": 0},
        {"limit": 1_001},
        {"emotion_weight": -0.1},
        {"emotion_weight": float("nan")},
        {"candidate_multiplier": 6},
        {"min_score": 2.0},
    ],
)
def test_what_makes_no_sense_is_refused(bad):
    with pytest.raises(UserError):
        archive_of("alpha").search(**({"query": "alpha"} | bad))


@pytest.mark.slow
@given(st.text(max_size=60))
@settings(max_examples=examples(200))
def test_any_text_may_be_asked_and_kept(text):
    searcher = archive_of(text, "a boat")
    if clean(text):
        assert len(searcher.search(text)) <= 2
    else:
        with pytest.raises(UserError, match="query is empty"):
            searcher.search(text)


def test_an_empty_archive_knows_nothing():
    assert archive_of().search("anything") == []


@pytest.mark.slow
def test_asked_while_it_is_filled():
    searcher = archive_of("a boat", vectors=True)
    failures = []

    def ask(searcher: Searcher) -> None:
        try:
            for _ in range(100):
                assert 0 in ids(searcher.search("boat", query_vector=vector_of("a boat")))
        except Exception as error:  # noqa: BLE001 -- whatever it is, the test must see it
            failures.append(error)

    asking = threading.Thread(target=ask, args=(searcher,))
    asking.start()
    vector = vector_of("rain")
    for number in range(1, 500):
        add(searcher.archive, make_entry(number, f"rain {number}"), vector)
    asking.join()
    assert failures == []
    assert np.array_equal(searcher.archive.ids.rows, np.arange(500))


def test_a_model_may_change_in_the_middle_of_a_talk():
    talk = [make_entry(number, f"line {number}", timestamp=float(number)) for number in range(5)]
    searcher = archive_of(*talk, vectors=True)
    searcher.archive.change_model("other", 64)
    assert without_vector(searcher.archive) == [0, 1, 2, 3, 4]
    for entry in talk:
        searcher.archive.set_vector(entry.id, vector_of(entry.user_text))
    whole = archive_of(*talk, vectors=True)
    query = vector_of("line 3")
    assert searcher.search("line 3", query_vector=query) == whole.search("line 3", query_vector=query)


def test_answers_that_came_later_count_as_they_do_when_everything_is_read_anew() -> None:
    """A running archive and one that was loaded from the store give the same hits with the same scores."""
    said = [
        make_entry(1, "my dog died"),
        make_entry(2, "the storm broke the mast"),
        make_entry(3, "a dog barks"),
    ]
    answers = ["Your dog was a good dog, a very good dog.", "A mast can be mended, and a storm ends.", None]
    answered = [replace(entry, response=answer) for entry, answer in zip(said, answers, strict=True)]
    living, anew = archive_of(*said), archive_of(*answered)
    for entry in reversed(answered):  # the last one asked is not always the last one answered
        living.archive.update(entry)
    for query in ("dog", "a good dog", "the mast", "who was good", "storm"):
        assert living.search(query) == anew.search(query)
    assert ids(living.search("good")) == [1]
    living.archive.redact(said[0])
    assert living.search("good") == []
    assert living.search("dog") == archive_of(said[0], *answered[1:]).search("dog")


def test_among_too_many_to_measure_each_what_others_said_still_changes_nothing(monkeypatch):
    monkeypatch.setattr(vectors, "EXACT", 4)
    monkeypatch.setattr(vectors, "CANDIDATES", 3)
    monkeypatch.setattr(vectors, "LEAST_DIMENSIONS", 8)
    lines = [
        f"the {word} boat sails at {word}" for word in ("red", "dawn", "noon", "old", "far", "low", "wet")
    ]
    entries = [make_entry(3 * n, text, timestamp=n * 20.0) for n, text in enumerate(lines)]
    alone = archive_of(*entries, vectors=True)
    others = [make_entry(3 * n + 1, f"a {n} red boat", "user_bob", timestamp=n * 20.0 + 1) for n in range(7)]
    among = archive_of(*sorted([*entries, *others], key=lambda one: one.id), vectors=True)
    for question in ("red boat", "dawn", "far away"):
        asked = {"query_vector": vector_of(question), "limit": 1}
        found = alone.search(question, Filters(user="user_ann"), **asked)
        assert found
        assert among.search(question, Filters(user="user_ann"), **asked) == found


@pytest.mark.slow
@given(st.integers(0, 10_000))
@settings(max_examples=examples(20))
def test_entries_that_come_at_once_are_found_as_if_they_had_come_one_by_one(seed):
    random = np.random.default_rng(seed)
    said = [
        "a red boat",
        "yesterday it rained, and rained",
        "",
        "when does the bus leave?",
        "In May 2021",
        "well",
    ]
    entries = [
        make_entry(
            number,
            said[random.integers(6)],
            f"user_{random.integers(3)}",
            timestamp=number * 20.0 + 9_000.0 * random.integers(2),
            kind=Kind(random.choice([Kind.SAY, Kind.WHISPER, Kind.THOUGHT])),
            response="the red bus is late" if random.integers(2) else None,
            affect=Affect(*random.uniform(0.0, 1.0, 5)) if random.integers(3) else None,
            extra={"tags": ["boats"]} if random.integers(2) else {},
        )
        for number in range(12)
    ]
    vectors = {one.id: vector_of(one.user_text) for one in entries if one.user_text and one.id % 4}
    by_one = SearchIndex("m", len(vector_of("x")))
    at_once = SearchIndex("m", len(vector_of("x")))
    for entry in entries:
        add(by_one, entry, vectors.get(entry.id))
    for page in (entries[:5], entries[5:]):
        embedded = np.array([one.id in vectors for one in page])
        made = np.array([vectors[one.id] for one in page if one.id in vectors])
        at_once.extend(EntryColumns.of(page), embedded, made)
    asked = {"query_vector": vector_of("the red bus"), "mood": Affect(0.5, 0.8), "limit": 12}
    for filters in (
        Filters(),
        Filters(user="user_1"),
        Filters(tags=frozenset({"boats"})),
        Filters(feeling="joy"),
        Filters(present=frozenset({"user_2"})),
        Filters(kinds=frozenset({Kind.SAY})),
    ):
        found = [
            Searcher(index).search("When did the red bus leave?", filters, **asked)
            for index in (by_one, at_once)
        ]
        assert found[0] == found[1]
    with pytest.raises(UserError, match="already in the archive"):
        at_once.extend(EntryColumns.of(entries[:1]), np.array([False]), np.empty((0, 64)))


def test_what_cannot_be_taken_in_leaves_the_index_as_it_was() -> None:
    searcher = archive_of("a dog barks")
    archive = searcher.archive
    broken = EntryColumns.of([make_entry(2, "a cow"), make_entry(3, "a cat", response=b"x")])
    with pytest.raises(TypeError):
        archive.extend(broken, np.zeros(2, np.bool_), np.empty(0, np.float32))
    add(archive, make_entry(4, "a dog sleeps"))
    assert len(archive) == 2
    assert [hit.entry_id for hit in searcher.search("the dog sleeps")] == [4, 0]


DAYS = 86_400.0
SUNDAY = 1_772_967_600.0
"""8 March 2026, 11:00."""


def by_date(searcher, query):
    """Ids of what was found by the date."""
    hits = searcher.search(query, now=SUNDAY)
    return sorted(hit.entry_id for hit in hits if Why.DATE in hit.why)


def test_the_day_on_which_it_happened_counts_and_not_the_day_on_which_it_was_told():
    searcher = archive_of(
        make_entry(0, "yesterday I went sailing", timestamp=SUNDAY - DAYS),  # of Friday
        make_entry(1, "the bread is good", timestamp=SUNDAY - DAYS),  # of Saturday, when it was told
        make_entry(2, "yesterday I went riding", timestamp=SUNDAY),  # of Saturday
    )
    assert by_date(searcher, "what happened on Saturday?") == [1, 2]
    assert by_date(searcher, "what happened on Friday?") == [0]
    assert by_date(searcher, "what happened on 6 March?") == [0, 1]  # the second may tell of it later
    assert by_date(searcher, "what happened on 7 March?") == [0, 1, 2]  # a date may be that of the talk, too
    assert [hit.entry_id for hit in searcher.search("what about riding?", now=SUNDAY)] == [2]
    searcher.archive.remove([2])
    assert by_date(searcher, "what happened on Saturday?") == [1]


def test_when_it_happened_as_a_host_gives_it_comes_before_the_words():
    def of(begins, **more):
        return {"circumstances": {"when": {"begins": begins} | more}}

    searcher = archive_of(
        make_entry(0, "yesterday we married", timestamp=SUNDAY, extra=of(SUNDAY - 3 * DAYS)),
        make_entry(1, "we had a fair", timestamp=SUNDAY, extra=of(SUNDAY - 5 * DAYS, duration=3 * DAYS)),
        make_entry(2, "the war", timestamp=SUNDAY, extra=of(-1e9)),
        make_entry(3, "the mill", timestamp=SUNDAY, extra={"circumstances": {"when": "long ago"}}),
    )
    assert by_date(searcher, "what happened on Thursday?") == [0, 1]
    assert by_date(searcher, "what happened yesterday?") == []
    assert by_date(searcher, "what was in April 1938?") == [2]
    assert by_date(searcher, "what was on 8 March 2026?") == [3]
    assert searcher.search("the war", Filters(until=SUNDAY - DAYS)) == []  # by when it was told


def test_nobody_elses_times_change_what_is_found_of_one_user():
    mine = make_entry(0, "yesterday I went sailing", timestamp=SUNDAY)
    other = make_entry(
        1, "we married", "user_bob", timestamp=SUNDAY, extra={"circumstances": {"when": {"begins": 1.0}}}
    )
    only = Filters(user="user_ann")
    alone, both = (
        archive.search("what happened on Saturday?", only, now=SUNDAY)
        for archive in (archive_of(mine), archive_of(mine, other))
    )
    assert alone == both != []


def test_what_belongs_to_a_task_a_goal_or_a_place_is_found_by_its_tag():
    given = {"data": {"circumstances": {"task": "the harvest", "goals": ["find Ada"], "where": "the mill"}}}
    searcher = archive_of(make_entry(0, "a boat", extra=given), make_entry(1, "a boat"))
    for tag in ("task:the harvest", "goal:find Ada", "place:the mill"):
        assert ids(searcher.search("boat", Filters(tags=frozenset({tag})))) == [0]


def test_the_day_alone_is_enough_only_where_nothing_else_is_asked_about():
    lines = [
        make_entry(n, text, timestamp=SUNDAY - DAYS + n)
        for n, text in enumerate(("the lamp flickers", "my sister called", "the soup is hot"))
    ]
    searcher = archive_of(*lines)

    def found(query):
        return {hit.entry_id for hit in searcher.search(query, now=SUNDAY) if not hit.only_near}

    assert found("what happened yesterday?") == found("what happened on 7 March?") == {0, 1, 2}
    assert found("did I mention my sister yesterday?") == {1}
    assert by_date(searcher, "yesterday I was tired. Did I mention my sister?") == []
