"""Tools over streamable HTTP: an ASGI endpoint that admits callers by the tokens of the API.

Each request stands alone: there is no session to take over and no stream that stays open. `api.gate.Gate`
always stands in front of the endpoint.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from http import HTTPStatus
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from api.audit import DENIED, note
from api.authentication import USER_HEADER, Authenticator, checked_id, named_user
from api.gate import Gate
from api.mcp.access import Access, Asker
from api.mcp.stdio import Context, make_server
from api.problem import RefusedRequest, refusal, status_of
from api.run import OrderlyServer, server_config
from api.turns import Turns
from noodlings.agent.society import Society
from noodlings.connections import Connections
from noodlings.errors import NoodlingsError

PATH = "/mcp"

_ACCESS = "mcp_access"


class Endpoint:
    """The ASGI application behind `PATH`.

    Args:
        agent: the default character, or "".

    Attributes:
        running: the context in which requests are taken, once.
    """

    def __init__(self, society: Society, turns: Turns, authenticator: Authenticator, agent: str = "") -> None:
        self._society, self._turns, self._agent = society, turns, agent
        self._authenticator = authenticator
        self._manager = StreamableHTTPSessionManager(make_server(_reach), json_response=True, stateless=True)
        self.running = self._manager.run

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            access = self._admit(scope["method"], Headers(scope=scope))
        except NoodlingsError as error:
            status = status_of(error)
            if status in DENIED:
                address = str((scope.get("client") or ("",))[0])
                note(address=address, method="MCP", path=PATH, status=int(status))
            await refusal(error)(scope, receive, send)
            return
        scope.setdefault("state", {})[_ACCESS] = access
        await self._manager.handle_request(scope, receive, send)

    def _admit(self, method: str, headers: Headers) -> Access:
        if method != "POST":
            why = "Send each message as a POST request of its own."
            raise RefusedRequest(HTTPStatus.METHOD_NOT_ALLOWED, why, {"Allow": "POST"})
        held = self._authenticator.admit(headers.get("authorization"))
        user = headers.get(USER_HEADER)
        # An empty one is refused: it names nobody, and a model could.
        asker = Asker(held, "" if user is None else checked_id(named_user(user)), pinned=True)
        asker.reader()  # refuses here, rather than in each tool, a user that this token may not read for
        return Access(asker, lambda: nullcontext(self._society), self._turns, agent=self._agent)


async def _reach(context: Context) -> Access:
    request: Any = context.request
    access: Access = request.scope["state"][_ACCESS]
    return access


async def run(
    society: Society, agent: str, bound: socket.socket, connections: Connections, started: Callable[[], None]
) -> None:
    """Serve until SIGTERM or SIGINT; requests and turns under way are finished first.

    Args:
        agent: the default character, or "".
        connections: those of `bound`.
        started: called when requests are taken.
    """
    config = server_config(make_app(society, agent), connections, ws="none")
    await OrderlyServer(config, started).serve([bound])


def make_app(society: Society, agent: str = "") -> Starlette:
    """The ASGI application: the endpoint behind the gate of the API. Use within a running event loop."""
    turns, authenticator = Turns(society), Authenticator(society)
    endpoint = Endpoint(society, turns, authenticator, society.find(agent).id if agent else "")

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with endpoint.running():
            yield
            await turns.close()

    gate = Middleware(Gate, authenticator=authenticator, settings=society.settings.api)
    return Starlette(routes=[Route(PATH, endpoint)], middleware=[gate], lifespan=lifespan)
