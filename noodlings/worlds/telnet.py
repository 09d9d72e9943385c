"""Telnet: the wire that every MUD client knows. UTF-8 always, CR LF, and no prompt."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from noodlings.connections import BACKLOG, MOST_UNREAD, Connections, Place
from noodlings.errors import UserError
from noodlings.worlds.telnet_codec import OPENING, TelnetCodec
from noodlings.worlds.typed import Typed
from noodlings.worlds.wire import Wire

log = logging.getLogger(__name__)

CHUNK = 2_048
"""Bytes that are read at once; what a flooder sends beyond that waits in the network."""
GOODBYE_SECONDS = 2.0
NARROWEST, USUAL = 40, 80

Receive = Callable[[Wire], Awaitable[None]]


class TelnetWire:
    """One telnet client; see `noodlings.worlds.wire.Wire`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, place: Place) -> None:
        self._reader, self._writer, self._place = reader, writer, place
        self._codec, self._typed = TelnetCodec(), Typed()
        self._lines: deque[str] = deque()
        self._hiding = False
        peer = writer.get_extra_info("peername")
        self.address = str(peer[0]) if peer else ""
        writer.write(OPENING)

    @property
    def columns(self) -> int:
        """As wide as the client's window is."""
        return max(self._codec.columns or USUAL, NARROWEST)

    @property
    def colour(self) -> bool:
        """Whether the client named a terminal that has colours."""
        return self._codec.colour

    async def read_line(self) -> str | None:
        """The next line; None when the client is gone."""
        while not self._lines:
            try:
                received = await self._reader.read(CHUNK)
                if not received:
                    return None
                self._lines.extend(self._typed.feed(self._codec.feed(received)))
                await self._answer()
            except OSError:
                return None
        return self._lines.popleft()

    def send(self, text: str) -> None:
        """Write text and a line break."""
        if self._writer.is_closing():
            return
        lines = text.replace("\n", "\r\n") + "\r\n"
        # No byte of UTF-8 is 255, so none can be taken for a command.
        self._writer.write(lines.encode("utf-8", "replace"))
        if self._writer.transport.get_write_buffer_size() > MOST_UNREAD:
            log.info("%s does not read what it is sent, and is let go", self.address)
            self._writer.transport.abort()

    def hide(self, hidden: bool) -> None:
        """Have the client not show what is typed; afterwards the line it did not end is ended."""
        if self._hiding and not hidden:
            self.send("")
        self._hiding = hidden
        if not self._writer.is_closing():
            self._writer.write(self._codec.echo(hidden))

    def enter(self) -> bool:
        """Have a place of one's own; whether there is one."""
        return self._place.enter()

    async def close(self) -> None:
        """Let go, as soon as everything is sent, and soon in any case."""
        self._writer.close()
        try:
            await asyncio.wait_for(self._writer.wait_closed(), GOODBYE_SECONDS)
        except (TimeoutError, OSError):
            self._writer.transport.abort()

    async def _answer(self) -> None:
        """Answer the client's program; whoever asks without reading is not read on."""
        if self._codec.answers:
            self._writer.write(bytes(self._codec.answers))
            self._codec.answers.clear()
            await self._writer.drain()


@asynccontextmanager
async def telnet_port(
    host: str, port: int, receive: Receive, connections: Connections
) -> AsyncIterator[tuple[str, int]]:
    """Listen for telnet clients; yields where. Raises `UserError` when the address cannot be used."""
    visits: set[asyncio.Future[None]] = set()

    async def came(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place = connections.place_of(writer.transport)
        visit = asyncio.ensure_future(receive(TelnetWire(reader, writer, place)))

        def let_go() -> None:
            writer.transport.abort()
            visit.cancel()

        place.let_go = let_go
        visits.add(visit)
        try:
            await asyncio.wait((visit,))  # a visit that is displaced ends no more than itself
        finally:
            visits.discard(visit)

    try:
        listening = connections.listen(host, port)
    except (OSError, OverflowError) as error:
        raise UserError(f"cannot listen on {host}, port {port}, for telnet: {error}") from None
    server = await asyncio.start_server(came, sock=listening, limit=CHUNK, backlog=BACKLOG)
    try:
        yield server.sockets[0].getsockname()[:2]
    finally:
        server.close()
        if visits:
            await asyncio.wait(visits, timeout=2 * GOODBYE_SECONDS)
        for visit in visits:
            visit.cancel()
        await asyncio.gather(*visits, return_exceptions=True)
        with suppress(OSError):
            await server.wait_closed()
