"""Which phrase answers: what readers chose, what is never said, and what counts for recipes of one's own."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noodlings.embed.minilm import MiniLM
from noodlings.ports import OwnLine, Utterance
from noodlings.values.audience import OPEN
from noodlings.values.percept import Kind
from noodlings.values.persona import PersonaVoice
from noodlings.values.reading import LineReading
from noodlings.values.tone import Tone, ToneName, ToneSource
from noodlings.values.topic import SelfTopic, ToldTopic
from noodlings.values.wording import COMMON_SLOTS, DialogueAct, parse
from noodlings.voice.offline import OfflineVoice
from noodlings.voice.phrasebook import shared_voice
from noodlings.voice.response_selection import (
    ASKED,
    ITSELF,
    TOPIC,
    Candidates,
    candidates,
    kind_probabilities,
    response_model,
    scores,
)
from tests.voice.utterances import PERSONAS, utterance

REPLIES = Path(__file__).parents[2] / "tools" / "lines" / "replies.tsv"
CHARACTERS = ("maren", "phi", "servnak")
DIMENSIONS = response_model().kind_means.shape[1] - 1
EMBEDDINGS = st.lists(st.floats(-3, 3, width=32), min_size=DIMENSIONS, max_size=DIMENSIONS)
GRIEVED, AFTERWARDS = (Tone(ToneName.GRAVE, why) for why in (ToneSource.SAID, ToneSource.BEFORE))
TOLD = "the roof of our house came down"
THE_WAY = "which way does one go to the harbour?"
DIRECTIONS = f"{ITSELF}{SelfTopic.DIRECTIONS}"


def all_phrases(who: str, asks: bool = False) -> Candidates:
    return candidates(PERSONAS[who].voice, shared_voice(), asks=asks)


def calling_for(kind: str, much: float = 8.0) -> tuple[float, ...]:
    """What a line is read as to which phrases of this kind are an answer."""
    model = response_model()
    return tuple((much * model.kind_means[model.kind_index[kind]][:-1]).tolist())


def answers(asked: Utterance, *kinds: str) -> bool:
    """Whether the reply is a phrase of one of these kinds."""
    said = OfflineVoice().draft(asked).body
    either = (*all_phrases("plain").all, *all_phrases("plain", asks=True).all)
    phrases = (parse(one.source) for one in either if one.kind in kinds)
    return any(one.pattern.fullmatch(said) for one in phrases if one.slots <= {"name", "address"})


def telling(embedding: tuple[float, ...], line: str = TOLD, **more: object) -> Utterance:
    reading = LineReading(0.0, 0.3, response_embedding=embedding)
    return replace(utterance(line, who="plain"), reading=reading, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("who", CHARACTERS)
def test_phrases_of_shipped_characters_were_learnt(who: str) -> None:
    """One that is reworded counts as an average one until `tools/lines/replies.py` has learnt it."""
    either = (*all_phrases(who).all, *all_phrases(who, asks=True).all)
    phrases = [one for one in either if parse(one.source).slots <= COMMON_SLOTS]
    assert len(phrases) > 600
    assert [one for one in phrases if one.key not in response_model().embeddings] == []


def test_every_kind_has_an_average() -> None:
    model = response_model()
    assert {f"{TOPIC}{topic}" for topic in ToldTopic} < model.kind_index.keys()
    assert len(model.kind_index) == len(model.kind_means)


@given(embedding=EMBEDDINGS)
@settings(max_examples=20)
def test_a_phrase_of_ones_own_counts_as_an_average_one_of_its_kind(embedding: list[float]) -> None:
    about_pets = {"pet": ("Nobody ever judged this.",)}, {"pet": shared_voice().on_topics["pet"]}
    mine, theirs = (
        candidates(PersonaVoice(on_topics=some), PersonaVoice(), asks=False) for some in about_pets
    )
    [score], of_theirs = (scores(one, embedding, DialogueAct.GLAD, ToneName.GLAD) for one in (mine, theirs))
    assert score == pytest.approx(of_theirs.mean(), abs=0.05)


@given(embedding=EMBEDDINGS)
@settings(max_examples=20)
def test_what_a_reader_would_choose_is_of_one_kind_or_another(embedding: list[float]) -> None:
    phrases = all_phrases("plain")
    likely = kind_probabilities(phrases, scores(phrases, embedding, DialogueAct.SAD, ToneName.GRAVE))
    assert (likely > 0.0).sum() == len({one.kind for one in phrases.all})
    assert likely.sum() == pytest.approx(1.0, abs=1e-4)


def test_what_is_told_is_answered_by_a_phrase_of_the_kind_it_calls_for() -> None:
    for kind in (DialogueAct.AMUSING, DialogueAct.SURPRISE, f"{TOPIC}{ToldTopic.PET}"):
        assert answers(telling(calling_for(kind)), kind)


@pytest.mark.parametrize("kind", [DialogueAct.REQUEST, DialogueAct.REMARK, DIRECTIONS])
def test_a_question_is_answered_by_a_phrase_of_the_kind_it_calls_for(kind: str) -> None:
    assert answers(telling(calling_for(kind), THE_WAY), kind)
    assert not answers(telling(calling_for(f"{TOPIC}{ToldTopic.PET}"), THE_WAY), f"{TOPIC}{ToldTopic.PET}")


@pytest.mark.parametrize("kind", [DialogueAct.QUESTION, DialogueAct.ADVICE, DIRECTIONS])
def test_what_is_told_is_not_answered_as_a_question_is(kind: str) -> None:
    assert not answers(telling(calling_for(kind)), kind)


def test_whoever_speaks_of_something_itself_does_not_say_what_holds_for_all() -> None:
    own = replace(
        PERSONAS["plain"], voice=PersonaVoice(about_itself={SelfTopic.DIRECTIONS: ("Past the mill.",)})
    )
    asked = replace(telling(calling_for(DIRECTIONS), THE_WAY), persona=own)
    assert not answers(asked, DIRECTIONS)
    assert OfflineVoice().draft(asked).body == "Past the mill."


def test_a_question_in_a_grave_moment_keeps_the_answers_to_its_act() -> None:
    kind, asked = f"{ITSELF}{SelfTopic.JOKE}", "what is it that you find so funny?"
    assert answers(telling(calling_for(kind), asked), kind)
    assert not answers(telling(calling_for(kind), asked, tone=GRIEVED), kind)


def test_what_is_asked_about_somebody_else_is_not_answered_with_oneself() -> None:
    kind = f"{ITSELF}{SelfTopic.MASTER}"
    assert answers(telling(calling_for(kind), "who is it that you have to obey?"), kind)
    assert not answers(telling(calling_for(kind), "who is it that bosses them now?"), kind)


def test_where_no_kind_is_likely_it_is_answered_as_the_act_is() -> None:
    assert answers(telling((0.0,) * DIMENSIONS), DialogueAct.STATEMENT)


@pytest.mark.parametrize(
    "kind", [DialogueAct.AMUSING, DialogueAct.TEASING, DialogueAct.GLAD, f"{TOPIC}{ToldTopic.BOAST}"]
)
def test_nothing_light_answers_what_is_grave_nor_what_is_told_soon_after(kind: str) -> None:
    assert answers(telling(calling_for(kind)), kind)
    for tone in (GRIEVED, AFTERWARDS):
        assert not answers(telling(calling_for(kind), tone=tone), kind)


@pytest.mark.parametrize("kind", [DialogueAct.GRIEF, DialogueAct.COMFORT])
def test_nobody_is_comforted_who_tells_something_ordinary(kind: DialogueAct) -> None:
    # "I'm listening." stands under two acts, so it was said before, and something else is said now.
    said = (OwnLine("I'm listening.", OPEN),)
    assert not answers(telling(calling_for(kind), own_lines=said), kind)


@pytest.mark.parametrize("kind", [DialogueAct.OFFER, DialogueAct.THANKS, DialogueAct.APOLOGY])
def test_what_nobody_gave_is_not_accepted(kind: DialogueAct) -> None:
    assert not answers(telling(calling_for(kind)), kind)


def test_thanks_are_answered_as_thanks_whatever_they_call_for() -> None:
    for kind in (DialogueAct.THANKS, f"{TOPIC}{ToldTopic.PET}"):
        asked = telling(calling_for(kind), line="thank you for the heron")
        assert answers(asked, kind)


@pytest.mark.parametrize(
    ("line", "more"),
    [("did the roof come down?", {}), ("*looks at the roof*", {"kind": Kind.EMOTE})],
    ids=["a question", "a gesture"],
)
def test_what_tells_nothing_is_answered_by_its_act(line: str, more: dict[str, object]) -> None:
    kind = f"{TOPIC}{ToldTopic.PET}"
    asked = telling(calling_for(kind), line)
    assert not answers(replace(asked, percept=replace(asked.percept, **more)), kind)  # type: ignore[arg-type]


def test_a_long_speech_is_answered_like_a_short_one() -> None:
    kind = f"{TOPIC}{ToldTopic.PET}"
    assert answers(telling(calling_for(kind), f"{TOLD}, " * 40), kind)


def test_a_phrase_with_a_slot_is_said_where_the_slot_is_filled() -> None:
    voice = PersonaVoice(lines={"statement": ("{topic}? Mo likes that.",)})
    own = replace(PERSONAS["plain"], voice=voice)
    asked = replace(telling((0.0,) * DIMENSIONS, "my boat leaks"), persona=own)
    assert "boat? Mo likes that." in OfflineVoice().draft(asked).body
    without = replace(telling((0.0,) * DIMENSIONS, "so it goes"), persona=own)
    assert "Mo likes" not in OfflineVoice().draft(without).body


@pytest.mark.slow
def test_what_is_chosen_is_what_readers_of_whom_nothing_was_learnt_chose() -> None:
    """Of the best of more than 600 phrases for what is told, and of 270 for what is asked, two fifths are
    among the few that a reader chose for the line."""
    rows = [row.split("\t") for row in REPLIES.read_text("utf-8").splitlines() if row[0] != "#"]
    rows = [row for row in rows if row[0] in ("33", "34", "35", "36", "43", "44", "48")][::4]
    counts: Counter[str] = Counter()
    understood = MiniLM().read([row[-1] for row in rows])
    for (_, who, act, tone, good, bad, _), read in zip(rows, understood, strict=True):
        what = "asked" if act in ASKED else "told"
        among = all_phrases(who, asks=act in ASKED)
        keys = [f"{one.key:08x}" for one in among.all]
        if (act, tone) in response_model().kind_priors and not set(good.split()).isdisjoint(keys):
            assert read.reading is not None
            score = scores(among, read.reading.response_embedding, DialogueAct(act), ToneName(tone))
            best = keys[int(score.argmax())]
            counts += Counter({what: 1, f"{what} fit": best in good, f"{what} misfit": best in bad})
    assert counts["told"] > 120
    assert counts["told fit"] / counts["told"] > 0.33
    assert counts["told misfit"] / counts["told"] < 0.05
    assert counts["asked"] > 60
    assert counts["asked fit"] / counts["asked"] > 0.4
    assert counts["asked misfit"] / counts["asked"] < 0.08
