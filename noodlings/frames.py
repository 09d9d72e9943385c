"""How many frames a WebSocket client may send, whatever they hold: for a MUSH port and the live stream.

The library reads every frame that has arrived before anybody else runs, and an empty one takes six bytes. So
what arrives is read in pieces, and each frame counts: messages, fragments, pings and pongs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from websockets.frames import CloseCode
from websockets.protocol import Protocol

from noodlings.connections import Rate, read_little

AT_ONCE = 200
"""Frames that may come at once, after a pause."""
PER_SECOND = 50.0
PIECE = 512
"""Bytes that are read before it is looked whether they held too many frames."""
GOODBYE_SECONDS = 2.0
"""How long a client that sends too many has for reading why the connection ends."""


class FrameLimit:
    """The limit of one connection. Use within a running event loop."""

    def __init__(self, transport: asyncio.Transport, protocol: Protocol) -> None:
        self._transport, self._protocol = transport, protocol
        self._loop = asyncio.get_running_loop()
        self._rate = Rate(PER_SECOND, AT_ONCE, self._loop.time())
        read_little(transport)

    def read(self, received: bytes, read: Callable[[bytes], None]) -> None:
        """Have what arrived read in pieces, until one held too many frames."""
        for start in range(0, len(received), PIECE):
            if self._transport.is_closing():
                return
            read(received[start : start + PIECE])

    def count(self) -> None:
        """Count one frame; one too many ends the connection with code 1008."""
        if self._rate.wait(self._loop.time()) > 0 and not self._transport.is_closing():
            self._protocol.fail(CloseCode.POLICY_VIOLATION, f"more than {PER_SECOND:.0f} frames a second")
            self._transport.write(b"".join(self._protocol.data_to_send()))
            self._transport.close()
            self._loop.call_later(GOODBYE_SECONDS, self._transport.abort)
