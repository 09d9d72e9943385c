"""One after another: of all that could go on at a moment, no two do so in the same pass of the event loop.

A part of a turn computes for some milliseconds. If all that are ready went on in the same pass, whoever asks
for a view at that moment would wait for the sum of them.
"""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary


class InTurn:
    """Lets one go on at a time; first come, first served."""

    def __init__(self) -> None:
        # A lock belongs to its event loop, and a host may run one loop after another.
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    async def come(self) -> None:
        """Go on at once where nobody else did in this pass, else when it is one's turn."""
        loop = asyncio.get_running_loop()
        lock = self._locks.setdefault(loop, asyncio.Lock())
        await lock.acquire()
        loop.call_soon(lock.release)
