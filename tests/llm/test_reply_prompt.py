"""What a model is told of the tone of an answer, and of what it has in mind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from noodlings.llm.prompts import reply_prompt
from noodlings.values.tone import Tone, ToneName
from tests.llm.server import contents
from tests.voice.utterances import memory, utterance


@pytest.mark.parametrize(
    ("tone", "told"),
    [(ToneName.GRAVE, "say nothing light"), (ToneName.GLAD, "be glad with them"), (ToneName.PLAIN, "")],
)
def test_a_model_is_told_the_tone_once(tone: ToneName, told: str) -> None:
    system, user = contents(reply_prompt(utterance("my dog would have loved this", tone=Tone(tone))))
    assert system.count("say nothing light") + system.count("be glad with them") == bool(told)
    assert told in system
    assert "$" not in system + user


def test_a_memory_says_how_often_it_was_told_and_that_it_was_corrected() -> None:
    once = memory(1, "the party is on Friday")
    again = replace(memory(4, "bring a cake"), sources=(2, 3))
    corrected = replace(memory(5, "we meet at six"), superseded_by=6)
    system, _ = contents(reply_prompt(utterance("when is it?", once, again, corrected)))
    line = {
        text: next(one for one in system.splitlines() if text in one) for text in ("party", "cake", "six")
    }
    assert "(and 2 times before)" in line["cake"]
    assert "corrected later" in line["six"]
    assert "(" not in line["party"]
