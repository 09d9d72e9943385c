"""Running the application on a bound socket, and stopping it in order, also when a signal ends it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import uvicorn
from fastapi import FastAPI

from api.protocol import SAFE_HEADERS, LiveProtocol, timed
from api.server import make_app, make_parts
from noodlings.errors import UserError

if TYPE_CHECKING:
    import socket

    from noodlings.agent.society import Society
    from noodlings.connections import Connections
    from noodlings.worlds.rooms import Scrollback, World


class OrderlyServer(uvicorn.Server):
    """Does not let the signal that ended it end the process: what is kept is still to be closed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals end the serving, and nothing after it."""
        with super().capture_signals():
            yield
            self._captured_signals.clear()


FINISH_SECONDS = 30
"""So long requests under way may take when the server stops."""
KEEP_SECONDS = 75
"""So long an idle connection is kept: a world sends the next percept over the same one."""
LINGER_SECONDS = 2.0
"""So long a connection that is closed may take to say good-bye; over TLS a silent client never would."""


class BindAddress(Protocol):
    """The certificate to listen with, see `noodlings.host.server.Address`."""

    @property
    def certificate(self) -> Path | None: ...

    @property
    def key(self) -> Path | None: ...


class Served(Protocol):
    """What is served, see `noodlings.host.server.Serving`."""

    society: Society
    world: World
    scrollback: Scrollback
    connections: Connections
    stopping: bool

    def ready(self) -> bool: ...


async def run(serving: Served, where: BindAddress, bound: socket.socket, started: Callable[[], None]) -> None:
    """Serve until a signal ends it (SIGTERM, SIGINT); requests and turns under way are finished first.

    Raises:
        UserError: certificate or key cannot be used.
    """
    parts = make_parts(serving.society, serving.world, serving.ready, serving.scrollback.clear)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        serving.stopping = True
        await parts.turns.close()
        parts.feed.close()
        parts.metrics.close()

    config = uvicorn.Config(
        make_app(parts, lifespan),
        lifespan="on",
        http=timed(serving.connections),
        headers=SAFE_HEADERS,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # whoever asks from this machine would name any address, and be counted by it
        timeout_keep_alive=KEEP_SECONDS,
        ws=LiveProtocol,
        ws_max_size=4_096,
        ws_ping_interval=None,  # our own heartbeats keep the way open, and a slow reader is no dead one
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=FINISH_SECONDS,
        ssl_certfile=where.certificate,
        ssl_keyfile=where.key,
    )
    try:
        config.load()
    except (OSError, ssl.SSLError) as error:
        raise UserError(f"the TLS certificate or key cannot be used: {error}") from None
    server = _Server(config, started)
    await server.serve([bound])


class _Server(OrderlyServer):
    """Says when it takes requests, and lets go of connections that do not end."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._say_started = started

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, finish what is under way, and let go of those who do not."""
        letting_go = asyncio.create_task(self._let_go())
        try:
            await super().shutdown(sockets)
        finally:
            letting_go.cancel()

    async def _let_go(self) -> None:
        while True:
            await asyncio.sleep(LINGER_SECONDS)
            for connection in list(self.server_state.connections):
                transport = getattr(connection, "transport", None)
                if transport is not None and transport.is_closing():
                    transport.abort()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            self._say_started()
