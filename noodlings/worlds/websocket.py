"""WebSocket: the world for a page in a browser. A message is a line; both ways UTF-8 text.

A client that wants colours or has another width says so in the address: `/?colour=1&width=100`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.protocol import Event

from noodlings.connections import BACKLOG, MOST_UNREAD, Connections, Place
from noodlings.frames import FrameLimit
from noodlings.worlds import wire

if TYPE_CHECKING:
    from ssl import SSLContext

MOST_MESSAGES = 4_000
"""Messages that may wait for a client that does not read; then it is disconnected."""


class BoundedConnection(ServerConnection):
    """A connection that buffers little, even of what the library answers and collects by itself."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._frames = FrameLimit(self.transport, self.protocol)

    def data_received(self, data: bytes) -> None:
        """The library answers every ping, whether or not the client reads the answers."""
        self._frames.read(data, super().data_received)
        if self.transport.get_write_buffer_size() > MOST_UNREAD:
            wire.let_go_unread(self.transport)

    def process_event(self, event: Event) -> None:
        """Count frames, and drop empty fragments: they would lengthen the list of a message's for ever."""
        if isinstance(event, Frame):
            self._frames.count()
            if event.opcode is Opcode.CONT and not (event.data or event.fin):
                return
        super().process_event(event)


class WebSocketWire:
    """One WebSocket client; see `noodlings.worlds.wire.PlayerWire`."""

    def __init__(self, connection: ServerConnection, place: Place) -> None:
        self._connection, self.enter = connection, place.enter
        asked = parse_qs(urlsplit(connection.request.path if connection.request else "").query)
        self.colour = asked.get("colour", ["0"])[-1] == "1"
        width = asked.get("width", [""])[-1][:4]
        self.columns = min(max(int(width), wire.NARROWEST), wire.WIDEST) if width.isdecimal() else wire.USUAL
        self.address = wire.address_of(connection.transport)
        self._unsent: asyncio.Queue[str | None] = asyncio.Queue(MOST_MESSAGES)
        self._sending = asyncio.create_task(self._send_all(), name="mush: sending")

    async def read_line(self) -> str | None:
        try:
            message = await self._connection.recv(decode=False)
        except ConnectionClosed:
            return None
        return message.decode("utf-8", "replace")

    def send(self, text: str) -> None:
        try:
            self._unsent.put_nowait(text.encode("utf-8", "replace").decode("utf-8"))
        except asyncio.QueueFull:
            wire.let_go_unread(self._connection.transport)

    def hide(self, hidden: bool) -> None:
        """Nothing to do: the page decides what it shows."""

    async def close(self) -> None:
        try:
            async with asyncio.timeout(wire.GOODBYE_SECONDS):
                await self._unsent.put(None)
                await self._sending
                await self._connection.close()
        except TimeoutError:
            self._connection.transport.abort()
        finally:
            self._sending.cancel()
            await asyncio.gather(self._sending, return_exceptions=True)

    async def _send_all(self) -> None:
        try:
            while (text := await self._unsent.get()) is not None:
                await self._connection.send(text)
        except ConnectionClosed:
            while await self._unsent.get() is not None:  # nobody is there to read it
                pass


@asynccontextmanager
async def websocket_port(
    host: str,
    port: int,
    receive: wire.Receive,
    origins: Sequence[str],
    connections: Connections,
    tls: SSLContext | None = None,
) -> AsyncIterator[tuple[str, int]]:
    """Listen for WebSocket clients; yields where. Raises `UserError` when the address cannot be used.

    Args:
        origins: web pages that may connect; programs that are no browsers name none, and always may.
        tls: None for plain text.
    """

    async def connected(connection: ServerConnection) -> None:
        place = connections.place_of(connection.transport)
        await wire.start_visit(receive, WebSocketWire(connection, place), place, connection.transport)

    server = await serve(
        connected,
        sock=connections.listen(host, port, "set mush.websocket_port to another"),
        ssl=tls,
        backlog=BACKLOG,
        origins=[None, *origins],  # type: ignore[list-item]
        max_size=wire.LONGEST,
        max_queue=4,
        compression=None,
        create_connection=BoundedConnection,
        open_timeout=wire.HANDSHAKE_SECONDS,
        close_timeout=wire.GOODBYE_SECONDS,
        server_header=None,
    )
    try:
        yield next(iter(server.sockets)).getsockname()[:2]
    finally:
        server.close()
        # It waits for handshakes under way, too, however long their clients say nothing.
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * wire.GOODBYE_SECONDS):
                await server.wait_closed()
