"""Which phrase answers: what readers chose, what is never said, and what counts for recipes of one's own."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noodlings.embed.minilm import MiniLM
from noodlings.ports import Utterance
from noodlings.values.percept import Kind
from noodlings.values.persona import PersonaVoice
from noodlings.values.reading import LineReading
from noodlings.values.tone import Tone, ToneName, ToneSource
from noodlings.values.topic import ToldTopic
from noodlings.values.wording import COMMON_SLOTS, DialogueAct, parse
from noodlings.voice.offline import OfflineVoice
from noodlings.voice.phrasebook import shared_voice
from noodlings.voice.response_selection import (
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


def all_phrases(who: str) -> Candidates:
    return candidates(PERSONAS[who].voice) + candidates(shared_voice())


def calling_for(kind: str, much: float = 8.0) -> tuple[float, ...]:
    """What a line is read as to which phrases of this kind are an answer."""
    model = response_model()
    return tuple((much * model.kind_means[model.kind_index[kind]][:-1]).tolist())


def answers(asked: Utterance, *kinds: str) -> bool:
    """Whether the reply is a phrase of one of these kinds."""
    said = OfflineVoice().draft(asked).body
    phrases = (parse(one.source) for one in all_phrases("plain").all if one.kind in kinds)
    return any(one.pattern.fullmatch(said) for one in phrases if one.slots <= {"name", "address"})


def telling(embedding: tuple[float, ...], line: str = TOLD, **more: object) -> Utterance:
    reading = LineReading(0.0, 0.3, response_embedding=embedding)
    return replace(utterance(line, who="plain"), reading=reading, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("who", CHARACTERS)
def test_phrases_of_shipped_characters_were_learnt(who: str) -> None:
    """One that is reworded counts as an average one until `tools/lines/replies.py` has learnt it."""
    phrases = [one for one in all_phrases(who).all if parse(one.source).slots <= COMMON_SLOTS]
    assert len(phrases) > 600
    assert [one for one in phrases if one.key not in response_model().embeddings] == []


def test_every_kind_has_an_average() -> None:
    model = response_model()
    assert {f"{TOPIC}{topic}" for topic in ToldTopic} < model.kind_index.keys()
    assert len(model.kind_index) == len(model.kind_means)


@given(embedding=EMBEDDINGS)
@settings(max_examples=20)
def test_a_phrase_of_ones_own_counts_as_an_average_one_of_its_kind(embedding: list[float]) -> None:
    mine = candidates(PersonaVoice(on_topics={"pet": ("Nobody ever judged this.",)}))
    theirs = candidates(PersonaVoice(on_topics={"pet": shared_voice().on_topics["pet"]}))
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
    assert not answers(telling(calling_for(kind)), kind)


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
    """Of the best of more than 600 phrases, two fifths are among the few that a reader chose for the line."""
    rows = [row.split("\t") for row in REPLIES.read_text("utf-8").splitlines() if row[0] != "#"]
    rows = [row for row in rows if row[0] in ("33", "34", "35", "36")][::4]
    chosen, misfit, judged = 0, 0, 0
    phrases = {who: all_phrases(who) for who in CHARACTERS}
    understood = MiniLM().read([row[-1] for row in rows])
    for (_, who, act, tone, good, bad, _), read in zip(rows, understood, strict=True):
        if (act, tone) in response_model().kind_priors:
            assert read.reading is not None
            score = scores(phrases[who], read.reading.response_embedding, DialogueAct(act), ToneName(tone))
            best = f"{phrases[who].all[int(score.argmax())].key:08x}"
            chosen, misfit, judged = chosen + (best in good), misfit + (best in bad), judged + 1
    assert judged > 120
    assert chosen / judged > 0.33
    assert misfit / judged < 0.05
