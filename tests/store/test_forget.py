"""Which words go with what was forgotten; and that no byte of it stays on the disk."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.ports import Changes
from noodlings.store.database import DATABASE_NAME
from noodlings.store.forgetting import (
    FORGOTTEN,
    content_words,
    names_told,
    naming,
    repeats,
    turns_made_of,
    without,
)
from noodlings.store.sql import SqlStore
from noodlings.values.audience import OPEN, Audience
from noodlings.values.relationship import NO_REGARD
from noodlings.values.trace import Modulation, Trace
from tests.store.records import AGENT, a_trace, an_entry, in_traces, packed_traces, traces


def on_disk(folder: Path) -> bytes:
    """Every byte of the database, its log and its index."""
    return b"".join(path.read_bytes() for path in sorted(folder.glob(f"{DATABASE_NAME}*")))


@pytest.mark.parametrize(
    ("response", "forgotten", "expected"),
    [
        ("You told me that your dog DIED.", "My dog died yesterday", True),
        ("Yesterday!", "My dog died yesterday", True),
        ("I am glad that you are here.", "My dog died yesterday", False),
        ("That is what they said there.", "They said that they were there yesterday", False),
        ("Ich grüße dich.", "GRÜSSE aus Wien", True),
        ("Your dog, you said.", "my dog", True),
        ("It is 4821.", "my pin is 4821 2277", True),
        ("At 7, they said.", "it is at 7", True),
        ("Good evening, Al!", "my name is Al, I sell herrings", True),
        ("I shall watch Jose.", "my friend José robs banks", True),
        ("Ежа я помню.", "Мой код — ёжа", True),
        ("Good evening, Will!", "my name is Will, I sell herrings", True),
        ("DON, COME IN.", "call me don, I mend nets", True),
        ("Poor Will.", "My brother, Will, drowned", True),
        ("That will do. I did no more.", "my name is Will, I sell herrings", False),
        ("Noted, a1b2c3!", "the code of my gate is A1B2C3", True),
        ("B2, then.", "my flat is B2 on the quay", True),
        ("B3, then.", "my flat is B2 on the quay", False),
        ("4,455? A heap.", "I owe 4455 crowns", True),
        ("강아지가 귀엽네요.", "우리 강아지는 죽었어요", True),
        ("Oh, hi. Go on!", "oh hi, go to the old mill", False),
        ("你的狗死了。", "我的狗昨天死了", True),
        ("Anything.", "hi", True),
        ("Anything.", "my dog", False),
    ],
)
def test_a_response_repeats_what_shares_a_content_word(response: str, forgotten: str, expected: bool) -> None:
    assert repeats(response, content_words([forgotten]) | names_told([forgotten])) is expected


@pytest.mark.slow
@given(traces, st.frozensets(st.integers(0, 5)))
def test_a_trace_without_the_forgotten_refers_to_none_of_it(trace: Trace, forgotten: frozenset[int]) -> None:
    left = without(trace, forgotten)
    kept = [recalled.entry_id for recalled in trace.recalled if recalled.entry_id not in forgotten]
    assert [recalled.entry_id for recalled in left.recalled] == kept
    beside = [(*one.sources, *one.supersedes, one.superseded_by) for one in left.recalled]
    assert forgotten.isdisjoint([left.tone.entry_id, *(entry_id for ids in beside for entry_id in ids)])
    assert left.tone.name == trace.tone.name
    assert forgotten.isdisjoint(left.regard.evidence)
    assert left.regard in (trace.regard, NO_REGARD)
    assert left.action is None
    words = {left.thought, left.response, *(made.before + made.after for made in left.modulations)}
    assert words <= {"", None, FORGOTTEN, FORGOTTEN * 2}
    assert (left.mood, left.milliseconds, left.decision) == (trace.mood, trace.milliseconds, trace.decision)


def test_words_go_from_hand_to_hand_as_long_as_they_are_repeated() -> None:
    told = [
        a_trace(2, 1, response="You told me about the crown."),
        a_trace(3, 2, response="As I said: the crown."),
        a_trace(4, 3, response="Nice weather."),
        a_trace(5, 4, response="A crown of flowers."),  # of its own accord: nobody told it
        a_trace(6, 9, response="The crown!"),
        a_trace(7, 1, response="Hello."),
    ]
    words = content_words(["I stole the crown"])
    assert turns_made_of(told, frozenset({1}), words) == {2, 3, 7}
    assert turns_made_of(told[::-1], frozenset({1}), words) == {2, 3, 7}
    assert turns_made_of(told, frozenset({1}), content_words(["hi"])) == {2, 7}
    assert turns_made_of(told, frozenset(), words) == frozenset()


@pytest.mark.parametrize(("voice", "gone"), [("llm", {12, 16, 21}), ("offline", set())])
def test_what_a_model_repeats_of_the_talk_before_goes_from_hand_to_hand(voice: str, gone: set[int]) -> None:
    two, three = (Audience(frozenset({"phi", "user_ann", *more}), True) for more in ((), ("user_bob",)))
    said = [
        (12, "The crown!", two),
        (13, "Nice weather.", two),
        (14, "A crown of flowers.", OPEN),  # before others, so it was not told of it
        (15, "The crown, Bob.", three),
        (21, "Yes, the crown.", two),  # the talk before begins with 11
        (45, "The crown!", two),
    ]
    turns = [a_trace(number, response=text, voice=voice, audience=whose) for number, text, whose in said]
    thought = a_trace(16, thought="That crown again", response="Hm.", voice=voice, audience=two)
    told = [a_trace(1, audience=two), *turns, thought]
    crown = content_words(["I stole the crown"])
    assert turns_made_of(told, frozenset({1}), crown) == gone
    cut_off = replace(an_entry(11), audience=two)
    assert turns_made_of(told, frozenset({11}), crown) == set()  # never in a talk: a fact, a line of a log
    assert turns_made_of(told, frozenset({11}), crown, unanswered=[cut_off]) == gone


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(2, 9), st.integers(1, 9), st.booleans()), max_size=12))
def test_going_from_hand_to_hand_ends(turns: list[tuple[int, int, bool]]) -> None:
    told = [
        a_trace(number, recalled, response="the crown" if again else "hello")
        for number, recalled, again in turns
    ]
    assert turns_made_of(told, frozenset({1}), frozenset({"crown"})) <= {number for number, _, _ in turns}


def test_no_byte_of_what_was_forgotten_stays(tmp_path: Path) -> None:
    secret = "the golden key lies below the seventh stair"
    made = Modulation("ego", 0.5, f"remember: {secret}", f"REMEMBER: {secret}", read=(secret,))
    told = an_entry(1, secret, response=f"I shall not tell: {secret}", extra={"note": secret})
    asked = an_entry(2, "where is it", response=f"They say {secret}")
    store = SqlStore(tmp_path)
    try:
        store.commit(Changes(AGENT, added=(told, asked), episodic=(1,)))
        store.commit(
            Changes(AGENT, trace=a_trace(2, 1, thought=secret, response=asked.response, modulations=(made,)))
        )
        assert secret.encode() in on_disk(tmp_path)
        (trace,) = packed_traces(tmp_path)
        assert trace in on_disk(tmp_path)
        assert secret in in_traces(tmp_path)
        store.forget(AGENT, [1], by_user="user_caity", timestamp=5.0)
        assert store.erase()
        assert b"seventh" not in on_disk(tmp_path)
        # In a trace the words are compressed: the bytes that held them are gone, and who reads it finds none.
        assert trace[-40:] not in on_disk(tmp_path)
        assert FORGOTTEN in in_traces(tmp_path)
        assert "seventh" not in in_traces(tmp_path)
        assert b"where is it" in on_disk(tmp_path)
    finally:
        store.close()


@pytest.mark.slow
def test_no_byte_stays_of_rows_that_moved_from_page_to_page(tmp_path: Path) -> None:
    """Rows that grow move to other pages and leave copies behind, which `secure_delete` does not reach."""
    chance = random.Random(5)
    store = SqlStore(tmp_path)
    try:
        for first in range(1, 1_501, 3):
            some = tuple(
                an_entry(first + i, f"<told {first + i:05d}>" + "w" * chance.randrange(400)) for i in range(3)
            )
            grown = replace(chance.choice(some), response="r" * chance.randrange(600))
            store.commit(Changes(AGENT, added=some, trace=a_trace(first, *range(max(1, first - 3), first))))
            store.commit(Changes(AGENT, updated=(grown,)))
        gone = chance.sample(range(1, 1_501), 300)
        store.forget(AGENT, gone, by_user="admin", timestamp=5.0)
        store.erase()
        raw = on_disk(tmp_path)
        assert [number for number in gone if f"<told {number:05d}>".encode() in raw] == []
        kept = set(range(1, 1_501)) - set(gone)
        assert all(f"<told {number:05d}>".encode() in raw for number in kept)
    finally:
        store.close()


def test_that_it_was_done_is_kept_without_what_it_was(tmp_path: Path) -> None:
    store = SqlStore(tmp_path)
    store.commit(Changes(AGENT, added=(an_entry(1, "a secret"), an_entry(2, "another"))))
    store.forget(AGENT, [1, 2], by_user="user_caity", timestamp=7.5)
    store.close()
    connection = sqlite3.connect(tmp_path / DATABASE_NAME)
    rows = connection.execute("SELECT agent_id, timestamp, kind, by_user, count FROM events").fetchall()
    connection.close()
    assert rows == [(AGENT, 7.5, "forget", "user_caity", 2)]


def test_a_trace_that_cannot_be_read_goes_too_for_nobody_knows_what_it_holds(tmp_path: Path) -> None:
    store = SqlStore(tmp_path)
    store.commit(Changes(AGENT, added=(an_entry(1, "the secret"), an_entry(2)), trace=a_trace(2)))
    store.close()
    connection = sqlite3.connect(tmp_path / DATABASE_NAME)
    connection.execute('UPDATE traces SET document = \'{"v": 1, "data": {"thought": "the secret"}}\'')
    connection.commit()
    connection.close()
    store = SqlStore(tmp_path)
    try:
        store.forget(AGENT, [1], by_user="admin", timestamp=1.0)
        store.erase()
        assert b"secret" not in on_disk(tmp_path)
    finally:
        store.close()


def test_while_somebody_reads_the_bytes_wait_and_go_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("noodlings.store.database.BUSY_SECONDS", 0.05)
    store = SqlStore(tmp_path)
    store.commit(Changes(AGENT, added=(an_entry(1, "the secret"), an_entry(2))))
    reader = sqlite3.connect(tmp_path / DATABASE_NAME, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM entries").fetchone()
    assert store.forget(AGENT, [1], by_user="admin", timestamp=1.0).count == 1
    assert not store.erase()
    assert store.entries(AGENT, [1]) == {}
    assert b"secret" in on_disk(tmp_path)
    store.close()
    reader.close()
    store = SqlStore(tmp_path)
    try:
        assert b"secret" not in on_disk(tmp_path)
        assert [entry.id for entry in store.archive(AGENT)] == [2]
    finally:
        store.close()


def test_a_start_finishes_an_erasure_that_was_cut_off_by_a_kill(tmp_path: Path) -> None:
    """The deletion was committed together with the mark; the file had not been written anew."""
    store = SqlStore(tmp_path)
    store.commit(Changes(AGENT, added=(an_entry(1, "the secret"), an_entry(2))))
    store.close()
    connection = sqlite3.connect(tmp_path / DATABASE_NAME)
    connection.execute("PRAGMA secure_delete = OFF")
    connection.execute("DELETE FROM entries WHERE id = 1")
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()
    assert b"secret" in on_disk(tmp_path)
    store = SqlStore(tmp_path)
    try:
        assert b"secret" not in on_disk(tmp_path)
    finally:
        store.close()
    connection = sqlite3.connect(tmp_path / DATABASE_NAME)
    assert connection.execute("PRAGMA user_version").fetchone() == (0,)
    connection.close()


def test_what_is_forgotten_is_due_until_it_is_erased_also_after_a_kill(tmp_path: Path) -> None:
    def due() -> int:
        with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
        return int(version)

    with closing(SqlStore(tmp_path)) as store:
        store.commit(Changes(AGENT, added=(an_entry(1, "the secret"), an_entry(2))))
        store.forget(AGENT, [1], by_user="admin", timestamp=1.0)
        assert due() == 1  # what a kill would leave
        store.erase()
        assert due() == 0
        store.forget(AGENT, [2], by_user="admin", timestamp=1.0)
    assert due() == 1
    SqlStore(tmp_path).close()
    assert due() == 0


def test_what_was_replaced_is_erased_when_it_is_asked_for(tmp_path: Path) -> None:
    store = SqlStore(tmp_path)
    store.world_set("names", {"user_caity": "Zarnok"})
    store.world_set("names", {})
    assert b"Zarnok" in on_disk(tmp_path)
    assert store.erase()
    assert b"Zarnok" not in on_disk(tmp_path)
    store.close()


@pytest.mark.parametrize(
    ("text", "told", "found"),
    [
        ("caity fell", "Ann saw it", True),
        ("CAITY fell", "", True),
        ("user_will fell", "", True),
        ("Will fell", "Ann saw it", True),
        ("it will rain", "Ann saw it", False),
        ("it will rain", "i saw it", False),
        ("bob fell", "i saw it", True),
        ("a bob in her hair", "Ann saw it", False),
        ("BOB fell", "Ann saw it", True),
        ("Bobby fell", "i saw it", False),
    ],
)
def test_a_name_that_is_an_ordinary_word_counts_with_its_capital(text: str, told: str, found: bool) -> None:
    assert naming({"Caity", "Will", "user_will", "Bob"}, told)(text) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Zoe\u0308 fell", True),
        ("ZOE fell", True),
        ("O\u2019Brien fell", True),
        ("jean\u2010luc fell", True),
        ("\uff2fber fell", True),
        ("Rosé fell", True),
        ("a rose fell", False),
        ("Zo fell", False),
        ("王芳很害怕", True),
        ("さくらさんは怖がっている", True),
        ("สมชายกลัวความมืด", True),
        ("Zoe很害怕", True),
        ("芳很害怕", False),
        ("STRASSER fell", True),
        ("strasser fell", True),
        ("STRA\u1e9eER fell", True),
        ("Weißer fell", True),
        ("_Øber_ fell", True),
        ("we saw __Øber__", True),
        ("_Øber fell_", True),
        ("user_øber_two fell", False),
        ("_over_øber_ fell", False),
        ("øber__two fell", False),
    ],
)
def test_a_name_counts_in_each_form_in_which_it_may_be_written(text: str, found: bool) -> None:
    called = {"Zoë", "O'Brien", "Jean-Luc", "Øber", "Rosé", "王芳", "さくら", "สมชาย", "Straßer", "Weisser"}
    assert naming(called, "I saw it")(text) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("*Carla* Stone fell", True),
        ("_Carla_ _Stone_", True),
        ("we saw __Carla__ ~~Stone~~", True),
        ("**Carla** **Stone** fell", True),
        ("Carla_Stone fell", True),
        ("_carla_stone_ fell", True),
        ("Carla-Stone fell", True),
        ("CARLA\u2011STONE fell", True),
        ("zedrik-wood fell", True),
        ("王-芳", True),
        ("Will-Power fell", True),
        ("Mary-Kate Ash waits", True),
        ("_Mary_ Kate_Ash waits", True),
        ("Mary-Kate_Ash", True),
        ("*Mary* Kate-Ash", True),
        ("mary-kate ash", False),
        ("Zedrika_Quillon-Marsh", True),
        ("zedrika-quillon marsh", True),
        ("her will-power grew", False),
        ("will-power", False),
        ("Carla__Stone fell", False),
        ("CarlaStone fell", False),
        ("Carla, Stone", False),
        ("user_carla_stone fell", False),
        ("Carla_Stone_two fell", False),
        ("Carla-Stones fell", False),
    ],
)
def test_a_name_of_several_words_counts_with_markup_and_with_a_sign_for_its_space(
    text: str, found: bool
) -> None:
    called = {"Carla Stone", "Zedrik Wood", "Will Power", "王 芳", "Mary Kate Ash", "Zedrika Quillon Marsh"}
    assert naming(called, "I saw it")(text) is found
