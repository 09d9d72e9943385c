"""A real HTTP server on the loopback that answers chat calls as a test wants it."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from noodlings.config import LLMSettings
from noodlings.llm.call import Prompt
from noodlings.llm.gateway import Gateway
from noodlings.values.sent_prompt import PromptMessage

KEY = "sk-very-secret-0123456789"


def asking(system: str, user: str) -> Prompt:
    """A prompt of two messages."""
    return PromptMessage("system", system), PromptMessage("user", user)


def contents(prompt: Prompt) -> tuple[str, ...]:
    """What the messages of a prompt say."""
    return tuple(message.content for message in prompt)


@dataclass
class Answer:
    """What goes over the wire: a status, a body, and how it is sent.

    `kind` is the content type; `headers` are more of them, each with its line end; `streamed` replaces
    the body where a stream is asked for. `hold` keeps the connection open without an answer, `bare` does
    after the headers; `cut` closes it in the middle of the body; `drip` sends one byte and then holds;
    `unended` holds after the body, whose length it does not tell. `pace` is seconds between bytes, or
    between what ends `by`. `gate` is waited for before the body.
    """

    body: bytes = b""
    status: int = 200
    kind: str = "application/json"
    headers: str = ""
    streamed: bytes | None = None
    hold: bool = False
    bare: bool = False
    cut: bool = False
    drip: bool = False
    by: bytes = b""
    unended: bool = False
    pace: float = 0.0
    gate: asyncio.Event | None = None


def chat(content: Any, finish: str = "stop", **more: Any) -> Answer:
    """A sound chat completion with this content, as a stream of words where one is asked for."""
    message = {"role": "assistant", "content": content}
    body = {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [{"message": message, "finish_reason": finish}],
    }
    cost = {"usage": {"total_tokens": 42}} | more
    words = re.findall(r"\s*\S+|\s+$", content) if isinstance(content, str) else [content]
    told = {str(word): _delta(content=word) for word in {str(word): word for word in words}.values()}
    parts = [_delta(role="assistant", content=None), *(told[str(word)] for word in words)]
    parts += map(json.dumps, [{"choices": [{"delta": {}, "finish_reason": finish}]}, {"choices": []} | cost])
    return Answer(json.dumps(body | cost).encode(), streamed=sse(*parts, "[DONE]"))


def _delta(**delta: Any) -> str:
    """A piece of a stream. Of a text that says one thing over and over each is written once."""
    return json.dumps({"choices": [{"delta": delta, "finish_reason": None}]})


def listing(*names: str) -> Answer:
    """A list of models."""
    models = [{"id": name, "object": "model", "created": 0, "owned_by": "us"} for name in names]
    return Answer(json.dumps({"object": "list", "data": models}).encode())


def sse(*events: str) -> bytes:
    """A stream of events with this data."""
    return "".join(f"data: {data}\r\n\r\n" for data in events).encode()


def stream(*events: str, **how: Any) -> Answer:
    """A stream of events with this data, sent as it is."""
    return Answer(sse(*events), kind="text/event-stream; charset=utf-8", **how)


def flowing(text: str, pace: float, **how: object) -> Answer:
    """A stream of words, so many seconds apart."""
    deltas = [json.dumps({"choices": [{"delta": {"content": f"{word} "}}]}) for word in text.split()]
    ended = [] if how.get("unended") else [json.dumps({"choices": [{"delta": {}, "finish_reason": "stop"}]})]
    body = sse(*deltas, *ended, *([] if how.get("unended") else ["[DONE]"]))
    return Answer(body, kind="text/event-stream", pace=pace, by=b"\r\n\r\n", **how)  # type: ignore[arg-type]


@dataclass
class Server:
    """Where it listens, what it was asked, and what it answers (changed between calls at will).

    `running` counts the calls that it is answering, `most` is the most there were at once. `models` is
    what it answers to whoever asks for its models, `listings` how often that was.
    """

    answer: Callable[[dict[str, Any]], Answer]
    port: int = 0
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    running: int = 0
    most: int = 0
    models: Answer = field(default_factory=lambda: listing("m"))
    listings: int = 0

    def settings(self, **changes: Any) -> LLMSettings:
        """Settings that lead here; what has begun to flow has no more time than what has not."""
        url = f"http://127.0.0.1:{self.port}/v1"
        whole = changes.get("timeout_seconds", 5.0)
        times = dict.fromkeys(("timeout_seconds", "stall_seconds", "answer_seconds"), whole)
        return LLMSettings(**({"base_url": url, "model": "m", "api_key": KEY} | times | changes))

    @asynccontextmanager
    async def gateway(self, **changes: Any) -> AsyncIterator[Gateway]:
        """A gateway that leads here and makes further attempts at once, for as long as the block lasts."""
        gateway = Gateway(self.settings(**changes), sleep=_at_once)
        try:
            yield gateway
        finally:
            await gateway.close()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request on one connection."""
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            if head.startswith("GET /v1/models "):
                self.listings += 1
                self.headers.append(head)
                await self._send(writer, self.models)
                return
            length = next(
                int(line[15:]) for line in head.split("\r\n") if line.lower().startswith("content-length:")
            )
            body = json.loads(await reader.readexactly(length))
            self.headers.append(head)
            self.asked.append(body)
            answer = self.answer(body)
            if body.get("stream") and answer.streamed is not None:
                answer = replace(answer, body=answer.streamed, kind="text/event-stream")
            await self._send(writer, answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client gave up, as some tests want it to
        finally:
            self.running -= 1
            writer.close()

    async def _send(self, writer: asyncio.StreamWriter, answer: Answer) -> None:
        if answer.hold:
            await self.closing.wait()
            return
        head = f"HTTP/1.1 {answer.status} X\r\ncontent-type: {answer.kind}\r\nconnection: close\r\n"
        length = "" if answer.unended else f"content-length: {len(answer.body)}\r\n"
        writer.write(f"{head}{length}{answer.headers}\r\n".encode())
        await writer.drain()
        if answer.gate is not None:
            await answer.gate.wait()
        sent = 0 if answer.bare else 1 if answer.drip else len(answer.body) // (2 if answer.cut else 1)
        for piece in _paced(answer.body[:sent], answer.pace, answer.by):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(answer.pace)
        if answer.bare or answer.drip or answer.unended:
            await self.closing.wait()


def _paced(body: bytes, pace: float, by: bytes) -> list[bytes]:
    """The body at once, or where there is a pace byte by byte, or up to each of what it goes by."""
    if not pace:
        return [body]
    return (
        re.findall(b"(?s).+?" + re.escape(by), body) if by else [body[at : at + 1] for at in range(len(body))]
    )


async def _at_once(seconds: float) -> None:
    """Wait for nothing, whatever was asked for."""


def own_seconds() -> float:
    """Real seconds, without those in which this thread was ready to run and the machine busy elsewhere."""
    try:
        waited = int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    except OSError:  # not on Linux
        waited = 0.0
    return time.monotonic() - waited


@asynccontextmanager
async def serving(answer: Answer | Callable[[dict[str, Any]], Answer]) -> AsyncIterator[Server]:
    """The server, for as long as the block lasts."""
    server = Server(answer if callable(answer) else lambda _: answer)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        server.closing.set()
        listener.close()
        await listener.wait_closed()
