"""What telnet and WebSocket share: the connection to one player's program, and lines from its bytes.

A line may come with any line ending, with keys that erase, and with UTF-8 split anywhere. Memory is bounded:
the rest of a line that is too long is dropped.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from noodlings.connections import Place


class PlayerWire(Protocol):
    """The connection to one player's program. Lines are separated by "\\n", and may hold ANSI colours."""

    @property
    def address(self) -> str: ...

    @property
    def columns(self) -> int: ...

    @property
    def colour(self) -> bool: ...

    async def read_line(self) -> str | None:
        """The next line that was typed; None when the player is gone."""

    def send(self, text: str) -> None:
        """Write text and a line break. Returns at once; a client that does not read is disconnected."""

    def hide(self, hidden: bool) -> None:
        """Have the client hide what is typed, as for a password, or show it again."""

    def enter(self) -> bool:
        """Keep the connection for good, now that the player is logged in. False if there is no room."""

    async def close(self) -> None:
        """Send what is waiting, but not for long, and disconnect."""


log = logging.getLogger(__name__)

Receive = Callable[[PlayerWire], Awaitable[None]]

HANDSHAKE_SECONDS = 10.0
GOODBYE_SECONDS = 2.0
"""How long a connection may take to send what is waiting when it is closed."""
NARROWEST, USUAL, WIDEST = 40, 80, 400
"""Columns of a client's window: the fewest, those assumed by default, and the most."""
LONGEST = 64_000
"""Bytes of one line."""

_ENDS = re.compile(rb"\r\n|\r\x00|\r|\n")
_ERASING = re.compile(rb"[\x08\x7f\x15]")


def start_visit(
    receive: Receive, wire: PlayerWire, place: Place, transport: asyncio.WriteTransport
) -> asyncio.Future[None]:
    """Start a visit that ends at once when its place is given to another connection."""
    visit = asyncio.ensure_future(receive(wire))

    def let_go() -> None:
        transport.abort()
        visit.cancel()

    place.let_go = let_go
    return visit


def address_of(transport: asyncio.BaseTransport) -> str:
    """Where a client is; "" if that is not known."""
    peer = transport.get_extra_info("peername")
    return str(peer[0]) if peer else ""


def let_go_unread(transport: asyncio.WriteTransport) -> None:
    """Disconnect a client that does not read."""
    log.info("%s does not read what it is sent, so it was disconnected", address_of(transport))
    transport.abort()


@dataclass(slots=True)
class LineAssembler:
    """Makes lines of what is typed."""

    _begun: bytearray = field(default_factory=bytearray)
    _after_return: bool = False

    def feed(self, text: bytes) -> list[str]:
        """The lines that end in this text, without their ends; what is not UTF-8 becomes U+FFFD.

        CR LF, CR NUL, CR and LF end a line, even if two such bytes arrive separately.
        """
        if self._after_return and text:
            self._after_return = False
            text = text[1:] if text[:1] in (b"\n", b"\x00") else text
        if text:
            self._after_return = text.endswith(b"\r")
        *ended, begun = _ENDS.split(text)
        lines = []
        for piece in ended:
            self._add(piece)
            lines.append(_edited(bytes(self._begun)).decode("utf-8", "replace"))
            self._begun.clear()
        self._add(begun)
        return lines

    def _add(self, piece: bytes) -> None:
        self._begun += piece[: max(LONGEST - len(self._begun), 0)]


def _edited(line: bytes) -> bytes:
    """The line after backspaces (one character each) and Ctrl-U (all of it)."""
    if not _ERASING.search(line):
        return line
    left = bytearray()
    for byte in line:
        if byte == 0x15:
            left.clear()
        elif byte not in (0x08, 0x7F):
            left.append(byte)
        elif left:
            while len(left) > 1 and left[-1] & 0xC0 == 0x80:  # the later bytes of a character
                left.pop()
            left.pop()
    return bytes(left)
