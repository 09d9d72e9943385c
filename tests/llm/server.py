"""A real HTTP server on the loopback that answers chat calls as a test wants it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from noodlings.config import LLMSettings

KEY = "sk-very-secret-0123456789"


@dataclass
class Answer:
    """What goes over the wire: a status, a body, and how it is sent.

    `hold` keeps the connection open without an answer; `cut` closes it in the middle of the body; `drip`
    sends one byte and then holds.
    """

    body: bytes = b""
    status: int = 200
    hold: bool = False
    cut: bool = False
    drip: bool = False


def chat(content: Any, **more: Any) -> Answer:
    """A sound chat completion with this content."""
    message = {"role": "assistant", "content": content}
    body = {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [{"message": message}],
    }
    return Answer(json.dumps(body | {"usage": {"total_tokens": 42}} | more).encode())


@dataclass
class Server:
    """Where it listens, what it was asked, and what it answers (changed between calls at will)."""

    answer: Callable[[dict[str, Any]], Answer]
    port: int = 0
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    closing: asyncio.Event = field(default_factory=asyncio.Event)

    def settings(self, **changes: Any) -> LLMSettings:
        """Settings that lead here."""
        url = f"http://127.0.0.1:{self.port}/v1"
        return LLMSettings(
            **({"base_url": url, "model": "m", "api_key": KEY, "timeout_seconds": 5.0} | changes)
        )

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request on one connection."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = next(
                int(line[15:]) for line in head.split("\r\n") if line.lower().startswith("content-length:")
            )
            body = json.loads(await reader.readexactly(length))
            self.headers.append(head)
            self.asked.append(body)
            await self._send(writer, self.answer(body))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client gave up, as some tests want it to
        finally:
            writer.close()

    async def _send(self, writer: asyncio.StreamWriter, answer: Answer) -> None:
        if answer.hold:
            await self.closing.wait()
            return
        head = f"HTTP/1.1 {answer.status} X\r\ncontent-type: application/json\r\nconnection: close\r\n"
        writer.write(f"{head}content-length: {len(answer.body)}\r\n\r\n".encode())
        if answer.drip:
            writer.write(answer.body[:1])
            await writer.drain()
            await self.closing.wait()
            return
        writer.write(answer.body[: len(answer.body) // 2] if answer.cut else answer.body)
        await writer.drain()


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
