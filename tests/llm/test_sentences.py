"""Replies that are said while they flow: what was said begins the reply, and nothing bad is said early."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import LLMError
from noodlings.llm.call import CallFailed
from noodlings.llm.guard import Refused, passed
from noodlings.llm.openai import OpenAIVoice
from noodlings.llm.sentences import SentenceStream
from noodlings.ports import Allowance, Speech
from tests.llm.answers import BAD, GOOD, BadAnswer, asked_of
from tests.llm.server import Answer, Server, flowing, serving, sse
from tests.voice.utterances import utterance

ASKED = utterance("what do you see?")
THREE = "There is a boat on the shore. An old man sits in it, singing. He has not seen us yet."


class Heard:
    """Notes the parts that are said; `takes` says how many of them may be."""

    def __init__(self, takes: int = 1_000) -> None:
        self.parts: list[str] = []
        self.takes = takes

    def __call__(self, part: str) -> bool:
        if len(self.parts) < self.takes:
            self.parts.append(part)
            return True
        return False


def streamed(text: str, sizes: list[int], stream: SentenceStream) -> bool:
    """The text in portions of these sizes, then the rest; whether it was heard to its end."""
    ends = [sum(sizes[: number + 1]) for number in range(len(sizes))]
    try:
        for end in [*(end for end in ends if end < len(text)), len(text)]:
            stream.hear(text[:end])
    except CallFailed:
        return False
    return True


@given(good=st.sampled_from(GOOD), sizes=st.lists(st.integers(1, 30), max_size=60))
def test_a_good_answer_is_the_same_however_it_flows(good: tuple[str, str], sizes: list[int]) -> None:
    who, line = good
    asked, heard = asked_of(who), Heard()
    stream, whole = SentenceStream(asked, heard), passed(line, asked)
    assert streamed(line, sizes, stream)
    assert stream.reply(whole) == whole
    rest = whole.removeprefix(stream.spoken).lstrip()
    assert " ".join([*heard.parts, *([rest] if rest else [])]) == whole


@given(bad=st.sampled_from(BAD), sizes=st.lists(st.integers(1, 30), max_size=60))
def test_of_a_bad_answer_no_bad_part_is_said_early(bad: BadAnswer, sizes: list[int]) -> None:
    asked, heard = asked_of(bad.who), Heard()
    stream = SentenceStream(asked, heard)
    streamed(bad.whole, sizes, stream)
    assert bad.nowhere not in stream.spoken
    assert stream.spoken == " ".join(heard.parts)


@given(text=st.text("Ab .!?…*\"'\n<>/:3", max_size=200), sizes=st.lists(st.integers(1, 20), max_size=40))
def test_whatever_flows_the_reply_begins_with_what_was_said(text: str, sizes: list[int]) -> None:
    heard = Heard()
    stream = SentenceStream(ASKED, heard)
    streamed(text, sizes, stream)
    assert stream.spoken == " ".join(heard.parts)
    try:
        whole = passed(text, ASKED)
    except Refused:
        return
    assert stream.reply(whole).startswith(stream.spoken)


@pytest.mark.parametrize(
    "text",
    [
        "*looks up at the wide sky. Then down",
        'He said to me, "There is nobody at home today. Go',
        "It came to three hundred and 3.",
        "I waited there for them, and then...",
        "One. Two. Three. Four",
    ],
)
def test_what_may_not_be_a_sentence_yet_is_waited_for(text: str) -> None:
    heard = Heard()
    SentenceStream(ASKED, heard).hear(text)
    assert heard.parts == []


def test_what_cannot_be_said_now_is_waited_for_as_a_whole() -> None:
    stream = SentenceStream(ASKED, heard := Heard(takes=0))
    stream.hear(THREE)
    heard.takes = 10
    stream.hear(THREE + " And so on and so forth. ")
    assert (heard.parts, stream.reply(THREE)) == ([], THREE)


# -- over a real connection


async def spoken(server: Server, heard: Heard, **limits: float) -> Speech:
    async with server.gateway(**({"timeout_seconds": 60.0, "stall_seconds": 60.0} | limits)) as gateway:
        gateway.warm()
        return await OpenAIVoice(gateway).speak(ASKED, Allowance(said=heard))


async def test_a_sentence_is_said_while_the_rest_is_still_made() -> None:
    there = asyncio.Event()

    class First(Heard):
        def __call__(self, part: str) -> bool:
            there.set()
            return super().__call__(part)

    async with serving(flowing(THREE, 0.01, unended=True)) as server, asyncio.TaskGroup() as tasks:
        speaking = tasks.create_task(spoken(server, heard := First()))
        await there.wait()
        assert not speaking.done()
        speaking.cancel()
    assert heard.parts[0] == "There is a boat on the shore."


async def test_what_was_said_and_the_rest_are_the_whole_reply() -> None:
    async with serving(flowing(THREE, 0.01)) as server:
        speech = await spoken(server, heard := Heard())
    assert heard.parts == THREE.replace(". ", ".|").split("|")[:2]
    assert (speech.text, speech.cut) == (THREE, "")


@pytest.mark.slow
async def test_a_later_sentence_that_is_refused_ends_the_reply() -> None:
    bad = "There is a boat on the shore. As an AI language model, I cannot see any boats. And so on."
    async with serving(flowing(bad, 0.01)) as server:
        speech = await spoken(server, heard := Heard())
        assert len(server.asked) == 1
    assert (speech.text, heard.parts) == ("There is a boat on the shore.", ["There is a boat on the shore."])
    assert "not the character" in speech.cut


@pytest.mark.slow
async def test_a_first_sentence_that_is_refused_is_asked_for_once_more() -> None:
    texts = iter(["As an AI language model, I cannot see boats. There is none.", THREE])
    async with serving(lambda _: flowing(next(texts), 0.01)) as server:
        speech = await spoken(server, heard := Heard())
        assert "could not be used" in server.asked[1]["messages"][-1]["content"]
    assert speech.text == THREE
    assert len(heard.parts) == 2


@pytest.mark.slow
async def test_a_stream_that_breaks_off_leaves_what_was_said() -> None:
    for broken in (flowing(THREE[:50], 0.01, unended=True), flowing(THREE, 0.01, cut=True)):
        async with serving(broken) as server:
            speech = await spoken(server, heard := Heard(), stall_seconds=2.0)
            assert len(server.asked) == 1
        assert speech.text == heard.parts[0] == "There is a boat on the shore."


@pytest.mark.slow
async def test_where_nothing_was_said_a_failure_is_one() -> None:
    async with serving(flowing("There is", 0.01, unended=True)) as server:
        with pytest.raises(LLMError, match="stopped arriving"):
            await spoken(server, heard := Heard(), stall_seconds=2.0)
    assert heard.parts == []


async def test_who_thinks_aloud_without_saying_so_is_waited_for_from_then_on() -> None:
    text = "They want to know about the shore. So I tell of it now.</think>" + THREE
    deltas = [json.dumps({"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]}), "[DONE]"]
    answer = Answer(sse(*deltas), kind="text/event-stream")
    async with serving(answer) as server, server.gateway() as gateway:
        gateway.warm()
        voice, heard = OpenAIVoice(gateway), Heard()
        for _ in range(2):
            heard.parts.clear()
            speech = await voice.speak(ASKED, Allowance(said=heard))
    assert (speech.text, heard.parts) == (THREE, [])
