"""Tools over streamable HTTP: an ASGI endpoint that knows callers by the tokens of the API.

Each request stands alone: there is no session that could be taken over and no stream that stays open.
Wherever the endpoint is served, `api.gate.Gate` stands in front of it. It can also be served by itself, on a
bound socket, until a signal ends it.
"""

from __future__ import annotations

import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from http import HTTPStatus
from typing import Any

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from api.audit import note
from api.authentication import USER_HEADER, Authenticator
from api.gate import Gate, Rate
from api.mcp.access import DENIED, Access, Asker
from api.mcp.stdio import Context, make_server
from api.problem import RefusedRequest, problem, status_of
from api.protocol import SAFE_HEADERS, timed
from api.run import OrderlyServer
from api.turns import Turns
from noodlings.agent.society import Society
from noodlings.connections import Connections
from noodlings.errors import NoodlingsError

PATH = "/mcp"

_ACCESS = "mcp_access"


class Endpoint:
    """The ASGI application behind `PATH`. Use within `running`.

    Args:
        society: what the tools work on.
        turns: takes in percepts.
        authenticator: knows the tokens.
        agent: the character that is meant where a call names none, or "".

    Attributes:
        running: the context in which requests are taken, once.
    """

    def __init__(self, society: Society, turns: Turns, authenticator: Authenticator, agent: str = "") -> None:
        self._society = society
        self._turns = turns
        self._authenticator = authenticator
        self._agent = agent
        self._manager = StreamableHTTPSessionManager(make_server(_reach), json_response=True, stateless=True)
        self.running = self._manager.run

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one message of a client."""
        try:
            access = self._admit(scope["method"], Headers(scope=scope))
        except NoodlingsError as error:
            status = status_of(error)
            if status in DENIED:
                address = str((scope.get("client") or ("",))[0])
                note(at=round(time.time(), 3), address=address, method="MCP", path=PATH, status=int(status))
            more = error.headers if isinstance(error, RefusedRequest) else None
            await problem(status, str(error), headers=more)(scope, receive, send)
            return
        scope.setdefault("state", {})[_ACCESS] = access
        await self._manager.handle_request(scope, receive, send)

    def _admit(self, method: str, headers: Headers) -> Access:
        if method != "POST":
            why = "Each message is a POST of its own."
            raise RefusedRequest(HTTPStatus.METHOD_NOT_ALLOWED, why, {"Allow": "POST"})
        held, user = self._authenticator.admit(headers.get("authorization")), headers.get(USER_HEADER, "")
        asker = Asker(held, user, pinned=True)
        asker.reader()  # refused here and not by each tool: it may not read for whoever it names
        return Access(asker, lambda: nullcontext(self._society), self._turns, agent=self._agent)


async def _reach(context: Context) -> Access:
    request: Any = context.request
    access: Access = request.scope["state"][_ACCESS]
    return access


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
    turns, authenticator = Turns(society), Authenticator.of(society)
    endpoint = Endpoint(society, turns, authenticator, society.find(agent).id if agent else "")

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with endpoint.running():
            started()
            yield
            await turns.close()

    gate = Middleware(
        Gate,
        authenticator=authenticator,
        rate=Rate(settings.requests_per_second),
        origins=settings.origins,
        max_body_bytes=settings.max_body_bytes,
    )
    return Starlette(routes=[Route(PATH, endpoint)], middleware=[gate], lifespan=lifespan)
