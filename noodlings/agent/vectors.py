"""Vectors of what is being said: made on a thread of its own, so that the event loop never waits for them.

The rules it keeps: who asks first is answered first; what several ask is made once; texts that wait at the
same moment are embedded together, which costs less than one by one; nothing asked before `let_go` is kept.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice

from noodlings.agent.in_turn import InTurn
from noodlings.errors import NoodlingsError
from noodlings.values.memory import Vector

KEPT = 256
"""So many of the latest texts are not embedded again."""
TOGETHER = 8
"""Texts that are embedded together; more of them save nothing more."""
TOGETHER_CHARACTERS = 800
"""And so long in all: the short ones would have to wait for a long one."""

Kept = OrderedDict[str, Vector]


@dataclass(slots=True)
class _Asked:
    """A text that waits for its vector: where that is kept then, and whom it was promised."""

    kept: Kept
    promises: list[Future[Vector]] = field(default_factory=list)

    def keep(self, text: str, vector: Vector) -> None:
        """It is made."""
        self.kept[text] = vector
        if len(self.kept) > KEPT:
            self.kept.popitem(last=False)


class Vectors:
    """Texts to vectors, without holding up an event loop. Safe to share between threads and loops.

    Args:
        embed: texts → vectors, in their order, called on the thread. What it raises goes to those who asked.
    """

    def __init__(self, embed: Callable[[Sequence[str]], Vector]) -> None:
        self._embed = embed
        self._lock = threading.Lock()
        self._kept: Kept = OrderedDict()
        self._asked: dict[str, _Asked] = {}
        self._thread = ThreadPoolExecutor(1, "vectors")
        self._in_turn = InTurn()
        self._closed = False

    @property
    def waiting(self) -> int:
        """How many texts wait for their vector."""
        return len(self._asked)

    async def of(self, text: str) -> Vector:
        """The vector of a text, read-only; without giving way to anything else where it is kept.

        Raises:
            NoodlingsError: it was closed.
        """
        found = self._find(text)
        if not isinstance(found, Future):
            return found
        vector = await asyncio.wrap_future(found)
        await self._in_turn.come()  # or all that were embedded together would go on at the same moment
        return vector

    def let_go(self) -> None:
        """Keep nothing that was asked so far."""
        with self._lock:
            self._kept = OrderedDict()

    def close(self) -> None:
        """Make none any more; what is being made is waited for."""
        with self._lock:
            self._closed = True
            left, self._asked = list(self._asked.values()), {}
        for asked in left:
            _fail(asked, NoodlingsError("nothing is embedded any more"))
        self._thread.shutdown()

    def _find(self, text: str) -> Vector | Future[Vector]:
        """The vector, or the promise of one."""
        with self._lock:
            vector = self._kept.get(text)
            if vector is not None:
                self._kept.move_to_end(text)
                return vector
            if self._closed:
                raise NoodlingsError("nothing is embedded any more")
            if text not in self._asked:
                self._asked[text] = _Asked(self._kept)
                self._thread.submit(self._embed_some)
            promise: Future[Vector] = Future()
            self._asked[text].promises.append(promise)
            return promise

    def _embed_some(self) -> None:
        """What has waited longest, and what there is room for beside it; called once for each text."""
        with self._lock:
            texts = _together(self._asked)
        if not texts:
            return
        try:
            vectors = self._embed(texts)
        except Exception as error:  # noqa: BLE001 -- it is raised where the vectors are waited for
            with self._lock:
                failed = [self._asked.pop(text) for text in texts if text in self._asked]
            for asked in failed:
                _fail(asked, error)
            return
        vectors.flags.writeable = False
        made = []
        with self._lock:
            for text, vector in zip(texts, vectors, strict=True):
                if text in self._asked:  # else it was closed meanwhile
                    asked = self._asked.pop(text)
                    asked.keep(text, vector)
                    made.append((asked, vector))
        for asked, vector in made:
            for promise in asked.promises:
                if promise.set_running_or_notify_cancel():
                    promise.set_result(vector)


def _together(texts: Iterable[str]) -> list[str]:
    """The first of these, as many as are embedded together."""
    chosen: list[str] = []
    length = 0
    for text in islice(texts, TOGETHER):
        length += len(text)
        if chosen and length > TOGETHER_CHARACTERS:
            break
        chosen.append(text)
    return chosen


def _fail(asked: _Asked, error: BaseException) -> None:
    for promise in asked.promises:
        if promise.set_running_or_notify_cancel():
            promise.set_exception(error)
