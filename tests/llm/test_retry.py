"""A refused answer is asked for once more, and the model is told what was wrong with the first."""

from __future__ import annotations

import json

import pytest

from noodlings.errors import LLMError
from noodlings.llm.call import ModelAnswer, ModelCall, Refused, Task
from noodlings.llm.openai import OpenAIVoice
from noodlings.llm.symbolist import LLMSymbolist
from noodlings.ports import Allowance
from noodlings.values.affect import Affect
from noodlings.values.lens import Lens
from noodlings.values.sent_prompt import PromptMessage
from tests.llm.server import Answer, chat, serving
from tests.voice.utterances import utterance

HELLO = utterance("hello", who="phi")
LOOP = "No, " * 60
SORROW = Affect(-0.7, 0.4, 0.1, 0.9, 0.0)


async def test_the_second_answer_is_said_and_the_first_is_nowhere() -> None:
    answers = iter([chat(LOOP), chat("mew.")])
    spent = Allowance()
    async with serving(lambda _: next(answers)) as server, server.gateway() as gateway:
        assert (await OpenAIVoice(gateway).speak(HELLO, spent)).text == "mew."
    first, second = (asked["messages"] for asked in server.asked)
    assert second[:-1] == first[:-1]
    told = second[-1]["content"].removeprefix(first[-1]["content"])
    assert told == "\n\nYour first answer to this could not be used: its answer goes in a loop. Say it once."
    assert "No, No" not in json.dumps(second)
    assert (spent.calls, spent.tokens) == (2, 84)


async def test_a_thought_and_an_image_are_asked_for_once_more_too() -> None:
    answers = iter([chat("### Response:"), chat("mew."), chat("<taken>"), chat("a kettle of moths")])
    async with serving(lambda _: next(answers)) as server, server.gateway() as gateway:
        lens = Lens("affect", 1.0, 1.0, "Let it be heavy.")
        assert await OpenAIVoice(gateway).modulate("mew.", lens, HELLO, Allowance()) == "mew."
        image = await LLMSymbolist(gateway).imagine("my dog died", SORROW, (), Allowance())
    assert image == "a kettle of moths"
    assert len(server.asked) == 4


async def test_after_two_refusals_the_reason_is_told() -> None:
    async with serving(chat(LOOP)) as server, server.gateway() as gateway:
        with pytest.raises(LLMError, match=r"its answer goes in a loop$"):
            await OpenAIVoice(gateway).speak(HELLO, Allowance())
    assert len(server.asked) == 2


async def test_what_fails_otherwise_is_not_asked_for_once_more() -> None:
    async with serving(Answer(b"{}", 401)) as server, server.gateway() as gateway:
        with pytest.raises(LLMError, match="401"):
            await OpenAIVoice(gateway).speak(HELLO, Allowance())
    assert len(server.asked) == 1


async def test_nothing_is_asked_for_once_more_when_the_time_is_over() -> None:
    allowance = Allowance()

    def read(answer: ModelAnswer) -> str:
        allowance.until = 0.0
        raise Refused("its answer is late", "Hurry.")

    async with serving(chat("mew.")) as server, server.gateway() as gateway:
        call = ModelCall(Task.REPLY, (PromptMessage("user", "hello"),), 0.5)
        with pytest.raises(LLMError, match="is late"):
            await gateway.ask(call, read, allowance)
    assert len(server.asked) == 1
