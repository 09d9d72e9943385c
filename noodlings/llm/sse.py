"""Server-sent events, as a streamed answer comes: bytes in any portions, the data of each event out.

See https://html.spec.whatwg.org/multipage/server-sent-events.html; of its fields only `data` is of use here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator


async def events(pieces: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """The data of each event; what is no such field is passed over, an event that breaks off too."""
    data: list[str] = []
    async for line in _lines(pieces):
        field, _, value = line.partition(":")
        if field == "data":
            data.append(value.removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Lines without their ends; bytes that are no UTF-8 become the replacement character."""
    rest = bytearray()
    async for piece in pieces:
        rest += piece
        if b"\n" in piece:  # the rest is not searched again for each byte of a line without end
            *lines, last = rest.split(b"\n")
            rest = bytearray(last)
            for line in lines:
                yield line.decode("utf-8", "replace").removesuffix("\r")
