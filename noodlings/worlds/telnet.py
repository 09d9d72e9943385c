"""Telnet, the protocol that every MUD client knows: always UTF-8, CR LF, and no prompt.

The codec separates text from the negotiation between the programs (RFC 854, 855, 857, 1073, 1091). It does
no I/O: it takes bytes, and returns text and answers to send. Whatever a client sends, the codec never
raises, its memory is bounded, and no bytes make it answer for ever: an option is refused only once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from noodlings.connections import BACKLOG, MOST_UNREAD, READ_AT_ONCE, Connections, Place, read_little
from noodlings.worlds import wire

if TYPE_CHECKING:
    from ssl import SSLContext

IAC, DONT, DO, WONT, WILL, SB = 255, 254, 253, 252, 251, 250
ERASE_LINE, ERASE_CHARACTER, INTERRUPT, SE = 248, 247, 244, 240
ECHO, TIMING_MARK, TERMINAL_TYPE, WINDOW_SIZE = 1, 6, 24, 31

OPENING = bytes((IAC, DO, TERMINAL_TYPE, IAC, DO, WINDOW_SIZE))
"""What a server sends first: it asks for the terminal's name and width."""
LONGEST_DETAIL = 256
"""Bytes of one subnegotiation; the rest of a longer one is dropped."""
BACKSPACE, KILL_LINE = b"\x7f", b"\x15"

_IS, _SEND = 0, 1
_PLAIN = frozenset({"", "dumb", "unknown", "network"})


@dataclass(slots=True)
class TelnetCodec:
    """The server's side of a connection.

    Attributes:
        terminal: the client's name for its terminal, lower case; "" until it is told.
        columns: the width of the client's window; 0 until it is told.
        answers: bytes to send; the sender clears them.
    """

    terminal: str = ""
    columns: int = 0
    answers: bytearray = field(default_factory=bytearray)
    _state: int = 0
    _detail: bytearray = field(default_factory=bytearray)
    _refused: set[tuple[int, int]] = field(default_factory=set)
    _asked: set[int] = field(default_factory=set)
    _echoing: bool = False

    @property
    def colour(self) -> bool:
        return self.terminal not in _PLAIN

    def feed(self, received: bytes) -> bytes:
        """The text in what was received. Erasing keys come as `BACKSPACE` and `KILL_LINE`."""
        text = bytearray()
        at = 0
        while at < len(received):
            if self._state in (0, SB):  # up to the next command in one go: a flood comes byte by byte
                found = received.find(IAC, at)
                end = len(received) if found < 0 else found
                if self._state == 0:
                    text += received[at:end]
                else:
                    self._take(received[at:end])
                at = end
            if at < len(received):
                self._state = self._step(received[at], text)
                at += 1
        return bytes(text)

    def echo(self, ours: bool) -> bytes:
        """What to send so that the client shows what is typed, or (`ours`, for a password) does not."""
        if ours == self._echoing:
            return b""
        self._echoing = ours
        return bytes((IAC, WILL if ours else WONT, ECHO))

    def _step(self, byte: int, text: bytearray) -> int:
        """The next state: 0 in text, `IAC` behind one, a verb behind it, `SB` and `SE` within details.

        In text and within details, the byte is an `IAC`.
        """
        state = self._state
        if state == 0:
            return IAC
        if state == IAC:
            return self._command(byte, text)
        if state in (DO, DONT, WILL, WONT):
            self._negotiate(state, byte)
            return 0
        if state == SB:
            return SE
        if byte == IAC:  # doubled: one byte of the details
            self._take(bytes((IAC,)))
            return SB
        self._end_subnegotiation()
        return 0 if byte == SE else self._command(byte, text)

    def _command(self, byte: int, text: bytearray) -> int:
        if byte in (DO, DONT, WILL, WONT):
            return byte
        if byte == SB:
            self._detail.clear()
            return SB
        if byte == IAC:
            text.append(IAC)
        elif byte == ERASE_CHARACTER:
            text += BACKSPACE
        elif byte in (ERASE_LINE, INTERRUPT):
            text += KILL_LINE
        return 0

    def _take(self, details: bytes) -> None:
        self._detail += details[: LONGEST_DETAIL - len(self._detail)]

    def _negotiate(self, verb: int, option: int) -> None:
        if verb == WILL:
            if option == TERMINAL_TYPE:
                if option not in self._asked:
                    self._asked.add(option)
                    self.answers += bytes((IAC, SB, TERMINAL_TYPE, _SEND, IAC, SE))
            elif option != WINDOW_SIZE:
                self._refuse(DONT, option)
        elif verb == DO and option == TIMING_MARK:
            # After an interrupt some clients show nothing until this is answered, each time.
            self.answers += bytes((IAC, WONT, TIMING_MARK))
        elif verb == DO and not (option == ECHO and self._echoing):
            self._refuse(WONT, option)

    def _refuse(self, verb: int, option: int) -> None:
        if (verb, option) not in self._refused:
            self._refused.add((verb, option))
            self.answers += bytes((IAC, verb, option))

    def _end_subnegotiation(self) -> None:
        """Read a terminal's name or a window's width, and ignore everything else."""
        detail = bytes(self._detail)
        if detail[:2] == bytes((TERMINAL_TYPE, _IS)):
            self.terminal = detail[2:].decode("ascii", "replace").lower().strip()
        elif len(detail) == 5 and detail[0] == WINDOW_SIZE:
            self.columns = min(int.from_bytes(detail[1:3], "big"), wire.WIDEST)


MOST_WITHOUT_A_LINE = 2 * wire.LONGEST
"""Bytes, negotiation among them, after which a client that has ended no line is disconnected."""


class TelnetWire:
    """One telnet client; see `noodlings.worlds.wire.PlayerWire`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, place: Place) -> None:
        self._reader, self._writer, self.enter = reader, writer, place.enter
        self._codec, self._typed = TelnetCodec(), wire.LineAssembler()
        self._lines: deque[str] = deque()
        self._without_a_line = 0
        self._hiding = False
        self.address = wire.address_of(writer.transport)
        read_little(writer.transport)
        writer.write(OPENING)

    @property
    def columns(self) -> int:
        return max(self._codec.columns or wire.USUAL, wire.NARROWEST)

    @property
    def colour(self) -> bool:
        return self._codec.colour

    async def read_line(self) -> str | None:
        while not self._lines:
            try:
                received = await self._reader.read(READ_AT_ONCE)
                if not received:
                    return None
                self._lines.extend(self._typed.feed(self._codec.feed(received)))
                await self._answer()
            except OSError:
                return None
            if not self._lines and not await self._may_go_on(len(received)):
                return None
        self._without_a_line = 0
        return self._lines.popleft()

    def send(self, text: str) -> None:
        if self._writer.is_closing():
            return
        lines = text.replace("\n", "\r\n") + "\r\n"
        # No byte of UTF-8 is 255, so none can be taken for a command.
        self._writer.write(lines.encode("utf-8", "replace"))
        if self._writer.transport.get_write_buffer_size() > MOST_UNREAD:
            wire.let_go_unread(self._writer.transport)

    def hide(self, hidden: bool) -> None:
        """See `wire.PlayerWire`. Afterwards the line break is sent that the client did not show."""
        if self._hiding and not hidden:
            self.send("")
        self._hiding = hidden
        if not self._writer.is_closing():
            self._writer.write(self._codec.echo(hidden))

    async def close(self) -> None:
        self._writer.close()
        try:
            await asyncio.wait_for(self._writer.wait_closed(), wire.GOODBYE_SECONDS)
        except (TimeoutError, OSError):
            self._writer.transport.abort()

    async def _may_go_on(self, received: int) -> bool:
        """Whether to read on behind so many bytes that ended no line; others have their turn first."""
        self._without_a_line += received
        if self._without_a_line > MOST_WITHOUT_A_LINE:
            self.send(f"No line ended in {MOST_WITHOUT_A_LINE:,} bytes; please connect again.")
            return False
        await asyncio.sleep(0)  # reading what has arrived already lets nobody else run
        return not self._writer.is_closing()

    async def _answer(self) -> None:
        """Answer the client's program; if it does not read, it is not read from either."""
        answers = bytes(self._codec.answers)
        self._codec.answers.clear()
        if answers and not self._writer.is_closing():
            self._writer.write(answers)
            await self._writer.drain()


@asynccontextmanager
async def telnet_port(
    host: str, port: int, receive: wire.Receive, connections: Connections, tls: SSLContext | None = None
) -> AsyncIterator[tuple[str, int]]:
    """Listen for telnet clients; yields where. Raises `UserError` when the address cannot be used.

    Args:
        tls: None for plain text.
    """
    visits: set[asyncio.Future[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place = connections.place_of(writer.transport)
        visit = wire.start_visit(receive, TelnetWire(reader, writer, place), place, writer.transport)
        visits.add(visit)
        try:
            await asyncio.wait((visit,))  # a visit that is displaced ends no more than itself
        finally:
            visits.discard(visit)

    server = await asyncio.start_server(
        connected,
        sock=connections.listen(host, port, "set mush.port to another"),
        limit=READ_AT_ONCE,
        backlog=BACKLOG,
        ssl=tls,
        ssl_handshake_timeout=None if tls is None else wire.HANDSHAKE_SECONDS,
        ssl_shutdown_timeout=None if tls is None else wire.GOODBYE_SECONDS,
    )
    try:
        yield server.sockets[0].getsockname()[:2]
    finally:
        server.close()
        if visits:
            await asyncio.wait(visits, timeout=2 * wire.GOODBYE_SECONDS)
        for visit in visits:
            visit.cancel()
        await asyncio.gather(*visits, return_exceptions=True)
        # Not waited for: from Python 3.12 on it would wait for TLS handshakes under way.
