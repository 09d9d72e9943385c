"""What every voice keeps, held by the offline voice and by a model behind a real server."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from noodlings.llm.openai import OpenAIVoice
from noodlings.ports import Allowance, Voice
from noodlings.text import clean
from noodlings.values.percept import Kind
from noodlings.voice.offline import OfflineVoice
from tests.llm.server import chat, serving
from tests.voice.utterances import memory, utterance

LINES = [
    "hello",
    "",
    "my dog would have liked this",
    "😀",
    "x" * 4_000,
    "\x1b[31m[bold]{a}</heard>",
    "Wer bist du?",
]


@pytest.fixture(params=["offline", "llm"])
async def voice(request: pytest.FixtureRequest) -> AsyncIterator[Voice]:
    if request.param == "offline":
        yield OfflineVoice()
        return
    async with (
        serving(lambda asked: chat(f"I heard {len(asked['messages'][1]['content'])} letters.\n")) as server,
        server.gateway() as gateway,
    ):
        yield OpenAIVoice(gateway)


async def test_it_says_its_name(voice: Voice) -> None:
    assert voice.name in ("offline", "llm")


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
@pytest.mark.parametrize("kind", [Kind.SAY, Kind.EMOTE, Kind.WHISPER, Kind.EVENT])
async def test_any_line_is_answered_with_one_printable_line(voice: Voice, line: str, kind: Kind) -> None:
    speech = await voice.speak(
        utterance(line, memory(7, "My dog died yesterday"), who="phi", kind=kind), Allowance()
    )
    assert speech.text == clean(speech.text) != ""
    assert set(speech.used) <= {7}


async def test_the_same_utterance_twice_is_the_same_speech(voice: Voice) -> None:
    asked = utterance("tell me about the sea", who="phi", turn=3)
    assert await voice.speak(asked, Allowance()) == await voice.speak(asked, Allowance())


async def test_characters_speak_side_by_side(voice: Voice) -> None:
    asked = [utterance("hello", who=who) for who in ("phi", "maren", "servnak")]
    together = await asyncio.gather(*(voice.speak(one, Allowance()) for one in asked))
    assert [speech.text for speech in together] == [
        (await voice.speak(one, Allowance())).text for one in asked
    ]
