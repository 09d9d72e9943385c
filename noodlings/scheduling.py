"""One after another: of all that could go on at a moment, no two do so in the same pass of the event loop.

A part of a turn computes for some milliseconds. If all that are ready went on in the same pass, whoever asks
for a view at that moment would wait for the sum of them; and if one followed another in the next pass, a
request that is read in between would wait for a second one before it is answered.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from noodlings.errors import Busy

BETWEEN = 2
"""Passes between two: in one a request is read, in the next it is answered."""
AT_ONCE = 8
"""How many answers that take long one caller may wait for at once."""


Waiting = TypeVar("Waiting")


class FairQueue(Generic[Waiting]):
    """What waits: callers in turn, and of one caller first come, first served."""

    def __init__(self) -> None:
        self._by_caller: dict[str, deque[Waiting]] = {}

    def __bool__(self) -> bool:
        return bool(self._by_caller)

    def put(self, caller: str, waiting: Waiting) -> None:
        self._by_caller.setdefault(caller, deque()).append(waiting)

    def take(self) -> Waiting:
        """The next one, removed; something has to wait."""
        caller = next(iter(self._by_caller))
        own = self._by_caller.pop(caller)
        first = own.popleft()
        if own:
            self._by_caller[caller] = own  # as the last
        return first


@dataclass(slots=True)
class _Line:
    """Who waits in one event loop, and whether somebody's turn is not over yet."""

    loop: asyncio.AbstractEventLoop
    waiting: FairQueue[asyncio.Future[None]] = field(default_factory=FairQueue)
    taken: bool = False

    def end_turn(self, passes: int) -> None:
        """Let the next one go on after this many passes."""
        if passes:
            self.loop.call_soon(self.end_turn, passes - 1)
            return
        while self.waiting:
            first = self.waiting.take()
            if not first.done():
                first.set_result(None)
                return
        self.taken = False


class FairScheduler:
    """Lets one coroutine go on at a time; callers in turn, and of one caller first come, first served."""

    def __init__(self) -> None:
        # A future belongs to its event loop, and a host may run one loop after another.
        self._lines: dict[asyncio.AbstractEventLoop, _Line] = {}

    async def turn(self, caller: str = "") -> None:
        """Go on at once where nobody else did in this pass, else when its turn has come."""
        loop = asyncio.get_running_loop()
        line = self._lines.get(loop)
        if line is None:
            self._lines = {known: its for known, its in self._lines.items() if not known.is_closed()}
            line = self._lines[loop] = _Line(loop)
        if line.taken:
            turn = loop.create_future()
            line.waiting.put(caller, turn)
            try:
                await turn
            except asyncio.CancelledError:
                if not turn.cancelled():  # its turn had come
                    line.end_turn(0)
                raise
        line.taken = True
        loop.call_soon(line.end_turn, BETWEEN)


class LongAnswers:
    """For how many answers that take long each user waits."""

    def __init__(self) -> None:
        self._under_way = Counter[str]()

    @contextmanager
    def admitted(self, who: str) -> Iterator[None]:
        """While a user waits for one. Raises `Busy` where it waits for `AT_ONCE` already."""
        under_way = self._under_way
        if under_way[who] >= AT_ONCE:
            raise Busy(f"You are waiting for {AT_ONCE} answers that take long; ask again when one has come.")
        under_way[who] += 1
        try:
            yield
        finally:
            under_way[who] -= 1
            under_way += Counter()  # drops the zeros
