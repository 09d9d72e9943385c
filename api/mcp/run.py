"""Serving the tools alone over HTTP, on a bound socket, until a signal ends it."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from api.ending import OrderlyServer
from api.gate import Gate, Rate
from api.mcp.http import PATH, Endpoint
from api.protocol import SAFE_HEADERS, timed
from api.rights import Doorkeeper
from api.turns import Turns
from noodlings.agent.society import Society
from noodlings.connections import Connections

FINISH_SECONDS = 30
"""So long requests under way may take when the server stops."""


async def run(
    society: Society,
    agent: str,
    bound: socket.socket,
    connections: Connections,
    started: Callable[[], None],
) -> None:
    """Serve; when a signal (SIGTERM, SIGINT) ends it, requests and turns under way are finished first.

    Args:
        agent: the character that is meant where a call names none, or "".
        connections: those of `bound`.
        started: called when requests are taken.
    """
    config = uvicorn.Config(
        make_app(society, agent, started),
        lifespan="on",
        http=timed(connections),
        headers=SAFE_HEADERS,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # whoever asks from this machine would name any address, and be counted by it
        ws="none",
        timeout_graceful_shutdown=FINISH_SECONDS,
    )
    await OrderlyServer(config).serve([bound])


def make_app(society: Society, agent: str = "", started: Callable[[], None] = lambda: None) -> Starlette:
    """The ASGI application: the endpoint behind the gate of the API. Use within a running event loop."""
    settings = society.settings.api
    turns, doorkeeper = Turns(society), Doorkeeper.of(society)
    endpoint = Endpoint(society, turns, doorkeeper, society.find(agent).id if agent else "")

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with endpoint.running():
            started()
            yield
            await turns.close()

    gate = Middleware(
        Gate,
        doorkeeper=doorkeeper,
        rate=Rate(settings.requests_per_second),
        origins=settings.origins,
        max_body_bytes=settings.max_body_bytes,
    )
    return Starlette(routes=[Route(PATH, endpoint)], middleware=[gate], lifespan=lifespan)
