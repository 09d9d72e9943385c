"""Tools over standard input and output, for a program that started this one: until its input ends.

Standard output belongs to the protocol: the transport puts everything else that is printed on standard error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING

from mcp.server.stdio import stdio_server

from api.mcp.server import Context, make_server

if TYPE_CHECKING:
    from api.mcp.access import Access

REST_SECONDS = 5.0
"""Real seconds that what is done in the background is waited for when the client has left."""


async def serve(opened: Callable[[], AbstractContextManager[Access]]) -> None:
    """Answer one client; when it has left, turns under way are finished.

    Args:
        opened: opens the society; called on another thread while the client is greeted.

    Raises:
        NoodlingsError: the society could not be opened. The client, who was told, has left by then.
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
                await society.rest(REST_SECONDS)
