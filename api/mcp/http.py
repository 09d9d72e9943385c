"""Tools over streamable HTTP: an ASGI endpoint that knows callers by the tokens of the API.

Each request stands alone: no session that could be taken over, no stream that stays open. Wherever the
endpoint is served, `api.gate.Gate` stands in front of it.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from http import HTTPStatus
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from api.audit import note
from api.mcp.access import DENIED, Access, Asker
from api.mcp.server import Context, make_server
from api.problem import Refused, problem, status_of
from api.rights import USER_HEADER, Doorkeeper
from api.turns import Turns
from noodlings.agent.society import Society
from noodlings.errors import NoodlingsError

PATH = "/mcp"

_ACCESS = "mcp_access"


class Endpoint:
    """The ASGI application behind `PATH`. Use within `running`.

    Args:
        society: what the tools work on.
        turns: takes in percepts.
        doorkeeper: knows the tokens.
        agent: the character that is meant where a call names none, or "".

    Attributes:
        running: the context in which requests are taken, once.
    """

    def __init__(self, society: Society, turns: Turns, doorkeeper: Doorkeeper, agent: str = "") -> None:
        self._society = society
        self._turns = turns
        self._doorkeeper = doorkeeper
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
            more = error.headers if isinstance(error, Refused) else None
            await problem(status, str(error), headers=more)(scope, receive, send)
            return
        scope.setdefault("state", {})[_ACCESS] = access
        await self._manager.handle_request(scope, receive, send)

    def _admit(self, method: str, headers: Headers) -> Access:
        if method != "POST":
            why = "Each message is a POST of its own."
            raise Refused(HTTPStatus.METHOD_NOT_ALLOWED, why, {"Allow": "POST"})
        held, user = self._doorkeeper.admit(headers.get("authorization")), headers.get(USER_HEADER, "")
        asker = Asker(held, user, pinned=True)
        asker.reader()  # refused here and not by each tool: it may not read for whoever it names
        return Access(asker, lambda: nullcontext(self._society), self._turns, agent=self._agent)


async def _reach(context: Context) -> Access:
    request: Any = context.request
    access: Access = request.scope["state"][_ACCESS]
    return access
