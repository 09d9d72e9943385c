"""One after another: of all that could go on at a moment, no two do so in the same pass of the event loop.

A part of a turn computes for some milliseconds. If all that are ready went on in the same pass, whoever asks
for a view at that moment would wait for the sum of them; and if one followed another in the next pass, a
request that is read in between would wait for a second one before it is answered.
"""

from __future__ import annotations

import asyncio

BETWEEN = 2
"""Passes between two: in one a request is read, in the next it is answered."""


class FairScheduler:
    """Lets one coroutine go on at a time; first come, first served."""

    def __init__(self) -> None:
        # A lock belongs to its event loop, and a host may run one loop after another.
        self._locks: dict[asyncio.AbstractEventLoop, asyncio.Lock] = {}

    async def turn(self) -> None:
        """Go on at once where nobody else did in this pass, else when its turn has come."""
        loop = asyncio.get_running_loop()
        lock = self._locks.get(loop)
        if lock is None:
            self._locks = {known: its for known, its in self._locks.items() if not known.is_closed()}
            lock = self._locks[loop] = asyncio.Lock()
        await lock.acquire()
        loop.call_soon(_pass_on, loop, lock, BETWEEN)


def _pass_on(loop: asyncio.AbstractEventLoop, lock: asyncio.Lock, passes: int) -> None:
    if passes:
        loop.call_soon(_pass_on, loop, lock, passes - 1)
    else:
        lock.release()
