"""What a line is when somebody says it, as the model reads it: of writers of whom it learnt nothing, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noodlings.embed.lines import LONGEST_ECHO, read_topics
from noodlings.embed.minilm import MiniLM
from noodlings.lab.evaluate.affect import auc
from noodlings.reflection.facts import SURE
from noodlings.text import clean
from noodlings.values.fact import Tells
from noodlings.values.reading import ACTS, FINE_ACTS, LineReading, likeliest
from noodlings.values.topic import SelfTopic, ToldTopic
from noodlings.values.wording import DialogueAct
from tests.thorough import THOROUGH

pytestmark = pytest.mark.slow

HELD_BACK = Path(__file__).parents[2] / "tools" / "lines" / "held_back.tsv"
JUDGED = HELD_BACK.with_name("fine_acts.tsv")
ECHOES = HELD_BACK.with_name("echoes.tsv")
TOPICS = HELD_BACK.with_name("topics.tsv")
EVERY = 4 if THOROUGH else 8
"""Only so few of the lines held back are read here; `tools/lines/fit.py` reads them all."""


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


def read(minilm: MiniLM, *lines: str) -> list[LineReading]:
    return [one.reading for one in minilm.read(lines) if one.reading is not None]


def test_bad_and_good_news_without_a_word_of_feeling_are_told_apart(minilm: MiniLM) -> None:
    drowned, healed, mild = read(
        minilm,
        "they found his boat on the rocks and nobody in it",
        "the splint came off today and i ran all the way to the bridge",
        "the ferry leaves from the other quay on sundays",
    )
    assert drowned.valence < -0.3
    assert healed.valence > 0.2
    assert abs(mild.valence) < 0.2


@pytest.mark.parametrize(
    ("line", "act"),
    [
        ("a bowl of the lentils and half a loaf, whenever you're ready", DialogueAct.AVAILABILITY),
        ("hold this rope a second would you", DialogueAct.REQUEST),
        ("there's ice under the snow past the chapel, go round by the wall", DialogueAct.WARNING),
        ("have some of these cherries, I picked far too many", DialogueAct.OFFER),
        ("that's me away then, early start", DialogueAct.FAREWELL),
        ("my uncle built the first two rooms and my father the rest", DialogueAct.STATEMENT),
    ],
)
def test_what_has_to_be_answered_is_heard_without_a_fixed_phrase(
    minilm: MiniLM, line: str, act: DialogueAct
) -> None:
    [reading] = read(minilm, line)
    assert likeliest(reading.acts)[0] is act


def rows_of(path: Path) -> list[list[str]]:
    return [row.split("\t") for row in path.read_text("utf-8").splitlines() if row[:1] != "#"]


def test_lines_of_writers_of_whom_nothing_was_learnt(minilm: MiniLM) -> None:
    """In one test, so that one process reads them: no other does anything that takes as long."""
    rows = rows_of(HELD_BACK)[::EVERY]
    readings = read(minilm, *(row[-1] for row in rows))
    told = [
        (likeliest(one.acts)[0], act)
        for one, (_, _, act, _) in zip(readings, rows, strict=True)
        if act != "-"
    ]
    assert sum(read == act for read, act in told) / len(told) > 0.8
    fitting = {text: {first, second} for first, second, text in rows_of(JUDGED)}
    right = [likeliest(one.fine_acts)[0] in fitting[row[-1]] for one, row in zip(readings, rows, strict=True)]
    assert sum(right) / len(right) > 0.7
    keep, valence = (np.array([float(row[at]) for row in rows]) for at in (0, 1))
    felt = np.array([one.valence for one in readings])
    clear = np.abs(valence) >= 3
    assert (auc(felt[clear], valence[clear] > 0) or 0.0) > 0.85
    assert (auc(np.array([one.significance for one in readings]), keep >= 5) or 0.0) > 0.92
    noted = dict(rows_of(HELD_BACK.with_name("facts.tsv")))
    told_in = {row[-1]: one.tells for row, one in zip(rows, readings, strict=True) if row[-1] in noted}
    lines, likely = [*told_in], np.array([*told_in.values()])
    for at, written in enumerate((":me", ":other")):
        of_whom = np.array([written in noted[line] for line in lines])
        assert (auc(likely[:, at], of_whom) or 0.0) > 0.88


@pytest.mark.parametrize(
    ("line", "fine_act"),
    [
        ("two bowls of the barley and a jug of water, please", DialogueAct.ORDER),
        ("if my brother comes by tell him the cart is mended", DialogueAct.MESSAGE),
        ("brb, somebody at the door", DialogueAct.AWAY),
        ("they paid the new lad twice what they pay me, and then asked me to train him", DialogueAct.WRONGED),
        (
            "they say i will be fine and i have been sick with nerves since four",
            DialogueAct.WORRIED,
        ),
    ],
)
def test_a_kind_listener_would_respond_to_more_than_a_statement(
    minilm: MiniLM, line: str, fine_act: DialogueAct
) -> None:
    [reading] = read(minilm, line)
    assert likeliest(reading.fine_acts)[0] is fine_act


def told_by(minilm: MiniLM, *lines: str) -> list[Tells]:
    return [one.tells for one in read(minilm, *lines) if one.tells is not None]


def test_what_tells_something_of_people_is_told_from_idle_talk(minilm: MiniLM) -> None:
    mine, hers, idle = told_by(
        minilm,
        "no almonds for me or you'll be fetching the healer",
        "old Berta next door was a midwife for forty years",
        "i could murder a sandwich",
    )
    assert mine.of_speaker > SURE
    assert hers.of_other > SURE > hers.of_speaker
    assert max(idle) < 0.3


def test_of_a_line_that_is_too_long_to_be_read_nobody_knows_what_it_tells(minilm: MiniLM) -> None:
    long, whole = read(minilm, "the gulls are loud today, " * 60 + "I'm a nurse", "I'm a nurse")
    assert long.tells is None
    assert whole.tells is not None


@pytest.mark.parametrize("text", ["", "…", "\u202e", "🦆" * 50, "漢字", "a" * 4_000, "sea " * 3_000])
def test_any_text_is_read_within_its_ranges(minilm: MiniLM, text: str) -> None:
    [reading] = read(minilm, text)
    assert -1.0 <= reading.valence <= 1.0
    assert 0.0 <= reading.significance <= 1.0
    assert [act for act, _ in reading.acts] == list(ACTS)
    assert [act for act, _ in reading.fine_acts] == list(FINE_ACTS)
    assert all(0.0 <= likely <= 1.0 for likely in reading.tells or (0.0, 0.0))
    for acts in (reading.acts, reading.fine_acts):
        assert sum(likely for _, likely in acts) == pytest.approx(1.0)


def test_a_line_is_read_alike_whatever_it_is_read_with(minilm: MiniLM) -> None:
    line = "hold this rope a second would you"
    [alone] = read(minilm, line)
    together = read(minilm, "no", line, "sea " * 300)[1]
    assert together.valence == pytest.approx(alone.valence, abs=1e-5)
    assert likeliest(together.acts)[1] == pytest.approx(likeliest(alone.acts)[1], abs=1e-5)


@pytest.mark.parametrize(
    ("line", "echo"),
    [
        ("they have painted the ferry house in the brightest orange", "the brightest orange"),
        ("forty one steps up to her door and no handrail", "forty one steps"),
        ("brb", ""),
        ("", ""),
        ("日本語のことば", ""),
    ],
)
def test_what_is_particular_in_a_line_may_be_said_back(minilm: MiniLM, line: str, echo: str) -> None:
    [reading] = read(minilm, line)
    assert echo in reading.echo if echo else not reading.echo


@given(st.text(max_size=200))
@settings(max_examples=30, deadline=None)
def test_what_is_said_back_is_whole_words_of_the_line(text: str) -> None:
    [reading] = read(MiniLM(), text)
    assert reading.echo in clean(text)
    assert len(reading.echo) <= LONGEST_ECHO


def test_words_held_back_are_chosen_much_as_people_choose_them(minilm: MiniLM) -> None:
    rows = [row.split("\t") for row in ECHOES.read_text("utf-8").splitlines() if not row.startswith("#")]
    chosen = [(said, text) for said, text in rows[:500:EVERY] if said != "-"]
    readings = read(minilm, *(text for _, text in chosen))
    both = [(one.echo, said) for one, (said, _) in zip(readings, chosen, strict=True) if one.echo]
    common = [bool(set(echo.lower().split()) & set(said.lower().split())) for echo, said in both]
    assert np.mean(common) > 0.6
    assert len(both) > 0.6 * len(chosen)


def test_what_a_line_asks_the_listener_about_themselves_is_heard(minilm: MiniLM) -> None:
    """Of a writer of whom nothing was learnt: who asks is answered, and mostly on the right topic."""
    rows = topics_of("G")
    heard = [one.topics.itself or "-" for one in read(minilm, *(text for _, text in rows))]
    asks = [(topic, found) for (topic, _), found in zip(rows, heard, strict=True) if topic != "-"]
    others = [found for (topic, _), found in zip(rows, heard, strict=True) if topic == "-"]
    assert len(asks) > 140
    assert len(others) > 60
    assert sum(topic == found for topic, found in asks) / len(asks) > 0.88
    assert sum(found not in (topic, "-") for topic, found in asks) / len(asks) < 0.06
    assert others.count("-") / len(others) > 0.7


def topics_of(writer: str) -> list[tuple[str, str]]:
    """The topic and the text of what a writer wrote; the topic without its kind."""
    return [(topic.partition(".")[2], text) for by, topic, text in rows_of(TOPICS) if by == writer]


def test_what_a_line_tells_of_is_heard(minilm: MiniLM) -> None:
    """Of a writer of whom nothing was learnt."""
    rows = topics_of("N")
    heard = [one.topics.told or "-" for one in read(minilm, *(text for _, text in rows))]
    tells = [(topic, found) for (topic, _), found in zip(rows, heard, strict=True) if topic != "-"]
    others = [found for (topic, _), found in zip(rows, heard, strict=True) if topic == "-"]
    assert len(tells) == 12 * len(ToldTopic)
    assert sum(topic == found for topic, found in tells) / len(tells) > 0.55
    assert sum(found not in (topic, "-") for topic, found in tells) / len(tells) < 0.15
    assert others.count("-") / len(others) > 0.85


@settings(max_examples=20)
@given(layers=st.lists(st.floats(-1, 1, width=32), min_size=384, max_size=384))
def test_whatever_the_layers_hold_is_of_one_topic_or_none(layers: list[float]) -> None:
    topics = read_topics(np.tile(np.array(layers, np.float32), 7))
    assert topics.itself in (None, *SelfTopic)
    assert topics.told in (None, *ToldTopic)
