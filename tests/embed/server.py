"""A real HTTP server on the loopback, in threads of its own, that answers embedding calls as a test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from noodlings.config import EmbeddingSettings
from tests.fakes import HashingEmbedder

KEY = "sk-very-secret-0123456789"


@dataclass
class Answer:
    """What goes over the wire; `cut` closes the connection in the middle of the body."""

    body: bytes = b""
    status: int = 200
    cut: bool = False


def vectors(rows: Any) -> Answer:
    """An answer with these vectors, in any order of rows."""
    data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
    return Answer(json.dumps({"object": "list", "model": "m", "data": data[::-1]}).encode())


def hashed(asked: dict[str, Any]) -> Answer:
    """Vectors of the words, at any length but 1."""
    return vectors((HashingEmbedder().embed(asked["input"]) * 3.0).tolist())


@dataclass
class Server:
    """Where it listens, what it was asked, and what it answers (changed between calls at will)."""

    answer: Callable[[dict[str, Any]], Answer] = hashed
    port: int = 0
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)

    def settings(self, **changes: Any) -> EmbeddingSettings:
        """Settings that lead here."""
        url = f"http://127.0.0.1:{self.port}/v1"
        fields = {"model": "openai", "base_url": url, "name": "m", "api_key": KEY}
        return EmbeddingSettings(**(fields | changes))


@contextmanager
def serving(answer: Callable[[dict[str, Any]], Answer] = hashed) -> Iterator[Server]:
    """The server, for as long as the block lasts."""
    server = Server(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            server.asked.append(asked)
            server.keys.append(self.headers["authorization"])
            given = server.answer(asked)
            self.send_response(given.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(given.body)))
            self.end_headers()
            self.wfile.write(given.body[: len(given.body) // 2] if given.cut else given.body)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        server.port = listener.server_port
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            listener.shutdown()
            thread.join()
