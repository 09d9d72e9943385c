"""Models that are slow, fall silent or are cut off: what was said whole is said, and slow is not dead."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

import pytest

from noodlings.errors import LLMError
from noodlings.llm.call import ModelAnswer, ModelCall, Task
from noodlings.llm.circuit_breaker import FAILURES
from noodlings.llm.gateway import Gateway
from noodlings.llm.openai import OpenAIVoice
from noodlings.ports import Allowance
from tests.llm.server import Answer, Server, asking, flowing, serving
from tests.voice.utterances import utterance

pytestmark = pytest.mark.slow

CALL = ModelCall(Task.REPLY, asking("be a cat", "hello"), 0.8, tokens=200)
TALE = "I went down to the shore. There was a boat, and in the boat an old man who never stops talking"


def gateway(server: Server, **limits: float) -> AbstractAsyncContextManager[Gateway]:
    return server.gateway(**({"timeout_seconds": 0.5, "stall_seconds": 0.4, "answer_seconds": 3.0} | limits))


async def asked(at: Gateway) -> ModelAnswer:
    at.warm()  # loading the library is no slowness of a model
    return await at.ask(CALL, lambda answer: answer, Allowance())


async def test_what_has_begun_may_flow_on_beyond_the_wait_for_its_first_word() -> None:
    async with serving(flowing(TALE, 0.05)) as server, gateway(server) as at:
        answer = await asked(at)
    assert (answer.text.strip(), answer.whole) == (TALE, True)


async def test_at_the_end_of_its_time_the_whole_sentences_are_said() -> None:
    endless = TALE + " and talks" * 200
    async with serving(flowing(endless, 0.03)) as server, gateway(server, answer_seconds=0.7) as at:
        speech = await OpenAIVoice(at).speak(utterance("hello"), Allowance())
    assert speech.text == "I went down to the shore."


async def test_a_stream_that_falls_silent_gives_its_whole_sentences_or_none() -> None:
    async with serving(flowing("Sit down. There is", 0.01, unended=True)) as server, gateway(server) as at:
        answer = await asked(at)
        assert (answer.text.strip(), answer.whole) == ("Sit down. There is", False)
        for unfinished in ("there is a", "well... there is"):
            server.answer = lambda _, text=unfinished: flowing(text, 0.01, unended=True)
            with pytest.raises(LLMError, match="stopped arriving halfway"):
                await asked(at)


async def test_slow_answers_do_not_open_the_circuit_and_silence_does() -> None:
    async with serving(flowing("slow " * 100, 0.05)) as server, gateway(server, answer_seconds=0.3) as at:
        for _ in range(FAILURES + 1):
            with pytest.raises(LLMError, match="too slow to finish even one sentence"):
                await asked(at)
        assert len(server.asked) == FAILURES + 1
        server.answer = lambda _: Answer(hold=True)
        for _ in range(FAILURES):
            with pytest.raises(LLMError, match="it did not answer"):
                await asked(at)
        with pytest.raises(LLMError, match="not called"):
            await asked(at)


async def test_the_speed_of_a_model_sets_how_long_its_answers_may_be() -> None:
    async with serving(flowing(TALE, 0.08)) as server, gateway(server) as at:
        await asked(at)
        await asked(at)
    first, second = (body["max_tokens"] for body in server.asked)
    assert first == 200
    assert 24 <= second < 60
