"""The MCP server for any transport, and serving it over standard input and output until the input ends.

Standard output belongs to the protocol: the transport sends everything else that is printed to standard
error. The server starts before the society is loaded, so that a client is greeted at once and only its calls
have to wait. That is why nothing heavy is imported here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
)

from noodlings import __version__
from noodlings.errors import NoodlingsError, NotFound

if TYPE_CHECKING:
    from api.mcp.access import Access


log = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Any]
Reach = Callable[[Context], Awaitable["Access"]]
"""Gives what a request can reach. Raises `NoodlingsError` if the society cannot be opened."""

INSTRUCTIONS = (
    "The memories and feelings of characters who remember what matters to them. Search before you answer a"
    " question about the past; store what should be remembered; forget only when you are asked to."
)


def make_server(reach: Reach) -> Server[Any]:
    """The server of the tools."""

    async def reached(context: Context) -> Access:
        try:
            return await reach(context)
        except NoodlingsError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from None
        except Exception:
            log.exception("the memories cannot be opened")
            raise MCPError(INTERNAL_ERROR, "Something went wrong; the details are in the log.") from None

    async def listed(context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        access = await reached(context)
        from api.mcp.tools import offers

        return ListToolsResult(tools=offers(access))

    async def called(context: Context, params: CallToolRequestParams) -> CallToolResult:
        access = await reached(context)
        from api.mcp.tools import call

        try:
            return await call(params.name, access, params.arguments or {})
        except NotFound as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None

    return Server(
        "noodlings",
        version=__version__,
        title="noodlings",
        instructions=INSTRUCTIONS,
        on_list_tools=listed,
        on_call_tool=called,
    )


BACKGROUND_SECONDS = 5.0
"""Real seconds that background work may take after the client has left."""


async def serve(opened: Callable[[], AbstractContextManager[Access]]) -> None:
    """Answer one client; when it has left, finish the turns under way.

    Args:
        opened: opens the society; called on another thread while the client is greeted.

    Raises:
        NoodlingsError: the society could not be opened. The client was told and has left.
    """
    with ExitStack() as stack:
        opening = asyncio.create_task(asyncio.to_thread(lambda: stack.enter_context(opened())))

        async def reach(context: Context) -> Access:
            return await asyncio.shield(opening)

        server = make_server(reach)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        access = await opening
        if access.turns is not None:
            await access.turns.close()
            with access.opened() as society:
                await society.rest(BACKGROUND_SECONDS)
