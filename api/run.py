"""Running the application on a bound socket, and stopping it in order, also when a signal ends it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import uvicorn
from fastapi import FastAPI

from api.forwarding import answer
from api.protocol import SAFE_HEADERS, LiveProtocol, timed
from api.server import make_app, make_parts
from noodlings.errors import UserError

if TYPE_CHECKING:
    import socket

    from noodlings.connections import Connections
    from noodlings.host.server import Address, Serving

FINISH_SECONDS = 30
"""How long requests under way may take when the server stops."""
KEEP_SECONDS = 75
"""How long an idle connection is kept: a world sends its next percept over the same one."""
LINGER_SECONDS = 2.0
"""How long a closing connection may take. Over TLS, a silent client would never finish."""


async def run(serving: Serving, address: Address, bound: socket.socket, started: Callable[[], None]) -> None:
    """Serve until SIGTERM or SIGINT; requests and turns under way are finished first.

    Raises:
        UserError: the certificate or the key cannot be used.
    """
    parts = make_parts(serving.society, serving.world, serving.ready)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        serving.stopping = True
        await parts.turns.close()
        parts.feed.close()
        parts.metrics.close()

    app = make_app(parts, lifespan)
    config = server_config(
        app,
        serving.connections,
        timeout_keep_alive=KEEP_SECONDS,
        ws=LiveProtocol,
        ws_max_size=4_096,
        ws_ping_interval=None,  # our own heartbeats keep the connection open, and a slow reader is not dead
        ws_per_message_deflate=False,
        ssl_certfile=address.certificate,
        ssl_keyfile=address.key,
    )
    try:
        config.load()
    except (OSError, ssl.SSLError) as error:
        raise UserError(f"the TLS certificate or key cannot be used: {error}") from None
    async with serving.answering(partial(answer, app, parts)):
        await OrderlyServer(config, started).serve([bound])


def server_config(app: Any, connections: Connections, **more: Any) -> uvicorn.Config:
    """How every HTTP server of ours runs an ASGI application."""
    return uvicorn.Config(
        app,
        lifespan="on",
        http=timed(connections),
        headers=SAFE_HEADERS,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # else a client on this machine could give any address, and evade the rate limit
        timeout_graceful_shutdown=FINISH_SECONDS,
        **more,
    )


class OrderlyServer(uvicorn.Server):
    """Calls `started` when it takes requests, aborts connections that linger, and outlives its signal."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None] = lambda: None) -> None:
        super().__init__(config)
        self._say_started = started

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let a signal end the serving but not the process, which has things to close."""
        with super().capture_signals():
            yield
            self._captured_signals.clear()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._say_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        aborting = asyncio.create_task(self._abort_lingering(set(self.server_state.connections)))
        for server in self.servers:
            server.close()
        self.servers = []  # from Python 3.12 on they would be waited for, and with them for TLS handshakes
        try:
            await super().shutdown(sockets)
        finally:
            aborting.cancel()

    async def _abort_lingering(self, told: set[Any]) -> None:
        """End connections that take too long to close, or were accepted just as the server stopped.

        Args:
            told: connections that know that the server stops.
        """
        while True:
            await asyncio.sleep(LINGER_SECONDS)
            for connection in list(self.server_state.connections):
                if connection not in told:
                    told.add(connection)
                    connection.shutdown()
                transport = getattr(connection, "transport", None)
                if transport is not None and transport.is_closing():
                    transport.abort()
