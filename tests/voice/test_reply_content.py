"""How sure a voice must be of a feeling before a reply shows it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from noodlings.ports import Utterance
from noodlings.values.affect import Affect
from noodlings.values.tone import Tone, ToneName, ToneSource
from noodlings.values.wording import DialogueAct, SpokenFeeling
from noodlings.voice.phrasebook import Phrasebook
from noodlings.voice.reply_content import ReplyContent, decide, heard
from tests.voice.utterances import utterance

GRAVE = Tone(ToneName.GRAVE, ToneSource.SAID)
FRIGHT = Affect(-0.6, 0.8, 0.7, 0.0, 0.0)
NO_FEELING_NAMED = "they are taking the lump out on the 14th, first on the list"


def content(said: Utterance) -> ReplyContent:
    return decide(heard(said), said, Phrasebook(said.persona, (), 1))


def told(text: str, importance: float, affect: Affect = FRIGHT, tone: Tone = GRAVE) -> Utterance:
    return replace(utterance(text, tone=tone, affect=affect), importance=importance)


@pytest.mark.parametrize(
    ("importance", "act", "felt"),
    [(0.9, DialogueAct.AFRAID, SpokenFeeling.FEAR), (0.5, DialogueAct.KEEP, SpokenFeeling.CALM)],
)
def test_comfort_answers_only_a_feeling_that_is_clear(
    importance: float, act: DialogueAct, felt: SpokenFeeling
) -> None:
    found = content(told(NO_FEELING_NAMED, importance))
    assert (found.act, found.felt) == (act, felt)


def test_what_is_named_needs_no_other_evidence() -> None:
    assert content(told("I am so afraid of the lump", 0.1)).act is DialogueAct.AFRAID


def test_a_grief_of_before_is_met_with_comfort() -> None:
    before = Tone(ToneName.GRAVE, ToneSource.BEFORE, 1)
    assert content(told("the bus was late", 0.1, tone=before)).act is DialogueAct.COMFORT


def test_good_news_is_answered_gladly_after_bad_ones() -> None:
    low = Affect(-0.5, 0.5, 0.0, 0.6, 0.0)
    glad = replace(
        told("it was a tissue with ducks", 0.5, low, Tone(ToneName.GLAD, ToneSource.RECALLED, 1)), mood=low
    )
    assert (content(glad).act, content(glad).felt) == (DialogueAct.GLAD, SpokenFeeling.JOY)
