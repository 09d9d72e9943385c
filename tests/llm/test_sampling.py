"""How a model picks its words is said where settings or a recipe say so, for what characters say alone."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from noodlings.agent.cards import card_of, recipe_of
from noodlings.agent.recipe_form import Recipe
from noodlings.llm.openai import OpenAIVoice
from noodlings.llm.symbolist import LLMSymbolist
from noodlings.ports import Allowance
from noodlings.values.affect import Affect
from noodlings.values.persona import Sampling
from tests.llm.server import Answer, chat, serving
from tests.voice.utterances import utterance

HELLO = utterance("hello", who="phi")
SORROW = Affect(-0.7, 0.4, 0.1, 0.9, 0.0)
NAMES = {"stop", "frequency_penalty", "presence_penalty", "min_p"}


@pytest.mark.slow
async def test_nothing_of_how_words_are_picked_is_sent_unasked() -> None:
    async with serving(chat("mew.")) as server, server.gateway() as gateway:
        await OpenAIVoice(gateway).speak(HELLO, Allowance())
    assert not NAMES & set(server.asked[0])


async def test_settings_say_how_words_are_picked_and_a_recipe_says_it_better() -> None:
    usual = {"stop": ("</s>",), "frequency_penalty": 0.3, "min_p": 0.05}
    own = Sampling(stop=("THE END",), presence_penalty=-0.5, min_p=0.0)
    asked = replace(HELLO, persona=replace(HELLO.persona, sampling=own))
    answer = chat("a kettle of moths")
    async with serving(answer) as server, server.gateway(**usual) as gateway:
        await OpenAIVoice(gateway).speak(HELLO, Allowance())
        await OpenAIVoice(gateway).speak(asked, Allowance())
        await LLMSymbolist(gateway).imagine("my dog died", SORROW, (), Allowance())
    sent = [{name: body[name] for name in NAMES & set(body)} for body in server.asked]
    assert sent == [
        {"stop": ["</s>", "\ncaity:"], "frequency_penalty": 0.3, "min_p": 0.05},
        {"stop": ["THE END", "\ncaity:"], "frequency_penalty": 0.3, "presence_penalty": -0.5, "min_p": 0.0},
        {},
    ]


async def test_what_an_endpoint_refuses_of_it_by_name_is_left_out_from_then_on() -> None:
    def picky(asked: dict[str, Any]) -> Answer:
        wrong = sorted(NAMES & set(asked))
        if not wrong:
            return chat("mew.")
        return Answer(json.dumps({"error": {"message": "no", "param": wrong[0]}}).encode(), 400)

    async with serving(picky) as server, server.gateway(min_p=0.1, stop=("</s>",)) as gateway:
        voice = OpenAIVoice(gateway)
        assert (await voice.speak(HELLO, Allowance())).text == "mew."
        assert (await voice.speak(HELLO, Allowance())).text == "mew."
    assert [sorted(NAMES & set(asked)) for asked in server.asked] == [["min_p", "stop"], ["stop"], [], []]


def test_a_recipe_says_it_among_its_constraints_and_a_card_keeps_it() -> None:
    said = {"stop": ["THE END"], "frequency_penalty": 0.5, "presence_penalty": -1, "min_p": 0.1}
    persona = Recipe.model_validate({"name": "Gus", "constraints": said}).persona("gus")
    assert persona.sampling == Sampling(("THE END",), 0.5, -1.0, 0.1)
    assert persona.extra == {}
    card = json.loads(json.dumps(card_of(persona, "chara_card_v2")))
    assert Recipe.model_validate(recipe_of(card)).persona("gus").sampling == persona.sampling
    for wrong in ({"stop": ["a", "b", "c", "d"]}, {"stop": [""]}, {"min_p": 2}, {"presence_penalty": 3}):
        with pytest.raises(ValidationError):
            Recipe.model_validate({"name": "Gus", "constraints": wrong})
