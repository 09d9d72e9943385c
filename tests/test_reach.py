"""What goes over the wire to a model and an embedder, recorded byte by byte on its way.

The recorders listen on 127.0.0.2, which counts as another machine: only localhost, 127.0.0.1 and ::1 are this
one. The model repeats every secret that it is shown, so that what leaks once goes on leaking.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from noodlings.agent.archive import AgentArchive
from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.connections import on_this_machine
from noodlings.ingest.pipeline import Pipeline
from noodlings.ingest.record import SourceRecord
from noodlings.store.cipher import UserKey
from noodlings.values.action import OfferedAction
from noodlings.values.audience import Tier
from noodlings.values.percept import Kind, Percept
from tests.embed.server import serving as embedding
from tests.llm.server import Answer, chat
from tests.llm.server import serving as speaking

_WORD = re.compile(r"\bzq[a-z]+[0-9]+\b")
_SAID = (
    "I am so afraid of {}, it haunts me every night!",
    "remember that my cat is called {}",
    "my brother {} died last week",
    "do you still think of {}?",
)


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.1:1234/v1", True),
        ("http://[::1]:1234/v1", True),
        ("https://LOCALHOST/v1", True),
        ("http://127.0.0.2:1234/v1", False),
        ("http://localhost.example.org/v1", False),
        ("http://127.0.0.1@example.org/v1", False),
        ("http://0.0.0.0:1234/v1", False),
        ("http://[::ffff:127.0.0.1]/v1", False),
        ("http://[/v1", False),
        ("", False),
    ],
)
def test_what_is_this_machine(url: str, here: bool) -> None:
    assert on_this_machine(url) is here


@dataclass
class Recorder:
    """A proxy that keeps what it passes on, to one port of this machine."""

    port: int
    url: str = ""
    sent: bytearray = field(default_factory=bytearray)

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, both ways."""
        there, back = await asyncio.open_connection("127.0.0.1", self.port)

        async def copy(source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
            while some := await source.read(65_536):
                self.sent += some
                to.write(some)
                await to.drain()
            to.close()

        try:
            await asyncio.gather(copy(reader, back), copy(there, writer), return_exceptions=True)
        finally:
            for end in (back, writer):
                end.close()
                with suppress(OSError):
                    await end.wait_closed()


@asynccontextmanager
async def recording(port: int, host: str) -> AsyncIterator[Recorder]:
    recorder, passing = Recorder(port), set[asyncio.Task[None]]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        passing.add(task)
        task.add_done_callback(passing.discard)
        await recorder.pass_on(reader, writer)

    listener = await asyncio.start_server(serve, host, 0)
    recorder.url = f"http://{host}:{listener.sockets[0].getsockname()[1]}/v1"
    try:
        yield recorder
    finally:
        listener.close()
        for task in passing:
            task.cancel()
        await asyncio.gather(*passing, return_exceptions=True)
        await listener.wait_closed()


def repeating(asked: dict[str, Any]) -> Answer:
    """Whatever it is asked, it says every secret that it was shown."""
    words = sorted(set(_WORD.findall(json.dumps(asked))))
    return chat(f"I keep thinking of {' and '.join(words[-12:]) or 'the rain'}, you know.")


def words_of(tier: int, count: int) -> list[str]:
    return [f"zq{'abcdef'[n % 6]}{'openconfsecrseal'[4 * tier : 4 * tier + 4]}{n}" for n in range(count)]


BOOK = [SourceRecord("document:book", "1", "The sluice is opened at high water.", kind=Kind.READ)]


@asynccontextmanager
async def ended(society: Society) -> AsyncIterator[Society]:
    """A society that is closed while the recorders go on: its embedder waits for what is under way."""
    try:
        yield society
    finally:
        await asyncio.to_thread(society.close)


async def lived(folder: Path, host: str, chain: str, rounds: int) -> tuple[set[str], set[str], set[str]]:
    """What was said of each tier in some rounds, and the words that went to the model and the embedder.

    Returns:
        All words, those in the traffic of the model, those in the traffic of the embedder.
    """
    said = {tier: words_of(tier, rounds) for tier in range(4)}
    with embedding() as vectors:
        async with (
            speaking(repeating) as model,
            recording(model.port, host) as to_model,
            recording(vectors.port, host) as to_embedder,
        ):
            settings = Settings.model_validate(
                {
                    "store": {"path": str(folder), "key": UserKey(bytes(32)).text},
                    "llm": {"base_url": to_model.url, "model": "m", "appraise": True},
                    "embedding": {"model": "openai", "base_url": to_embedder.url, "name": "m"},
                    "thought": {"chain": chain},
                }
            )
            clock = ManualClock(1.7e9)
            async with ended(build(settings, clock=clock)) as society:
                phi = society.agents["phi"]
                assert phi.archive is not None
                pipeline = Pipeline(phi, society.store, society.introduce_all, undated=clock.now())
                pipeline.run(BOOK)  # so that questions are also compared with what was read
                await _embedded(phi.archive)
                for number in range(rounds):
                    for tier in range(4):
                        clock.advance(30.0)
                        text = _SAID[(number + tier) % len(_SAID)].format(said[tier][number])
                        here = frozenset({"user_bo"}) if tier == 0 else frozenset()
                        kind = Kind.SAY if tier == 0 else Kind.WHISPER
                        actions = (OfferedAction("nod", "nod at whoever speaks"),)
                        percept = Percept(
                            "user_caity", text, clock.now(), kind, True,
                            present=here, actions=actions, tier=Tier(tier),
                        )  # fmt: skip
                        await society.perceive("phi", percept)
                    asked = Percept("user_caity", "and what else?", clock.now(), Kind.WHISPER, True)
                    trace = await society.perceive("phi", asked)
                    await phi.answer_again(trace.entry_id)
                    await phi.idle(clock.now())
                await society.rest(10.0)
                await _embedded(phi.archive)
    every = {word for words in said.values() for word in words}
    return every, _found(every, to_model.sent), _found(every, to_embedder.sent)


async def _embedded(archive: AgentArchive) -> None:
    """Wait until nothing is left to embed, and nothing is being embedded."""
    while archive.state().pending:
        await asyncio.to_thread(archive.embedding.embed_backlog)


def _found(words: set[str], traffic: bytearray) -> set[str]:
    heard = traffic.decode("utf-8", "replace").lower()
    return {word for word in words if word in heard}


def of(tier: int) -> Callable[[str], bool]:
    name = "openconfsecrseal"[4 * tier : 4 * tier + 4]
    return lambda word: name in word


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "darwin", reason="there 127.0.0.2 is no address of the loopback")
@pytest.mark.parametrize("chain", ["fused", "serial"])
async def test_nothing_secret_goes_to_another_machine(tmp_path: Path, chain: str) -> None:
    every, to_model, to_embedder = await lived(tmp_path, "127.0.0.2", chain, rounds=6)
    assert len(every) == 24
    for traffic in (to_model, to_embedder):
        assert not [word for word in traffic if of(2)(word) or of(3)(word)]
        assert len([word for word in traffic if of(0)(word)]) == 6
        assert len([word for word in traffic if of(1)(word)]) == 6


@pytest.mark.slow
async def test_on_this_machine_a_model_is_told_of_all_but_what_is_sealed(tmp_path: Path) -> None:
    _, to_model, to_embedder = await lived(tmp_path, "127.0.0.1", "fused", rounds=4)
    for traffic in (to_model, to_embedder):
        assert len([word for word in traffic if of(2)(word)]) == 4
        assert not [word for word in traffic if of(3)(word)]
