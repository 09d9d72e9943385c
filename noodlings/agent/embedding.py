"""Embedding in the background: vectors of what was perceived, made on a thread of its own.

The rules it keeps: no event waits for it; what has no vector yet is found by its words; whatever ends the
process, an entry without a vector in the store is one that is still to be embedded, so none is ever lost.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future

from noodlings.agent.meaning import Meaning
from noodlings.agent.unembedded import Unembedded
from noodlings.errors import NoodlingsError
from noodlings.values.memory import Vector

AT_ONCE = 32
"""Entries that are embedded together."""
QUESTION_SECONDS = 1.0
"""So long a question waits for its vector where that comes from afar; then words must do."""
MOST_WAITING = 256
"""So many texts may wait for the model of this machine, about as long; of more questions words must do."""
QUIET_SECONDS = 30.0
"""So long nothing is asked of an endpoint that failed, beside what is tried again in its own time."""
_LEAVE_SECONDS = 2.0

log = logging.getLogger(__name__)


class Embedding:
    """The one who embeds for all agents of a society.

    Args:
        meaning: by which model.
        local: it runs on this machine, in milliseconds.
        idle: nothing is embedded but questions, for a store that cannot be written to.
        release: called in the end.
        monotonic: seconds that only ever rise.

    Attributes:
        meaning: see above.
        local: see above.
    """

    def __init__(
        self,
        meaning: Meaning,
        *,
        local: bool = True,
        idle: bool = False,
        release: Callable[[], None] = lambda: None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.meaning = meaning
        self.local = local
        self._idle = idle
        self._release = release
        self._now = monotonic
        self._sources: deque[Unembedded] = deque()
        self._questions: deque[tuple[str, Future[Vector | None]]] = deque()
        self._quiet_until = 0.0
        self._changed = threading.Event()
        self._closed = False
        self._thread: threading.Thread | None = None

    def watch(self, source: Unembedded) -> None:
        """Embed what there is to embed in it, from the next `nudge` on."""
        if not self._idle:
            self._sources.append(source)

    def nudge(self) -> None:
        """There is something to do: see to it soon, elsewhere."""
        if self._thread is None and not self._closed:
            self._thread = threading.Thread(target=self._run, name="embedding", daemon=True)
            self._thread.start()
        self._changed.set()

    @property
    def trouble(self) -> str:
        """Why questions have no vectors now, or "": what fails on this machine, fails for percepts first."""
        if self.local:
            return "too much waits to be embedded" if self._behind else ""
        return self.meaning.failed

    async def question(self, text: str) -> Vector | None:
        """The vector of a question; None where there is none, or not soon enough: then words must do."""
        if self.local:
            return None if self._behind else await self.meaning.vector(text)
        if not text or self._now() < self._quiet_until:
            return None
        answer: Future[Vector | None] = Future()
        self._questions.append((text, answer))
        self.nudge()
        try:
            return await asyncio.wait_for(asyncio.wrap_future(answer), QUESTION_SECONDS)
        except TimeoutError:
            return None

    def work(self) -> float | None:
        """Do the next thing there is. Returns the seconds until there is another; None for never."""
        if self._questions:
            self._answer(*self._questions.popleft())
            return 0.0
        if self.meaning.gave_up:
            return None
        now = self._now()
        for _ in range(len(self._sources)):
            source = self._sources[0]
            self._sources.rotate(-1)  # everybody in turn
            texts = source.take(now, AT_ONCE)
            if texts:
                self._embed(source, texts)
                return 0.0
        again_at = min((source.again_at() for source in self._sources), default=math.inf)
        return None if again_at == math.inf else max(again_at - now, 0.0)

    def close(self) -> None:
        """Do nothing more. What is under way is waited for, unless it takes long."""
        self._closed = True
        self._changed.set()
        if self._thread is not None:
            self._thread.join(_LEAVE_SECONDS)
        self.meaning.close()
        self._release()

    @property
    def _behind(self) -> bool:
        return self.meaning.waiting >= MOST_WAITING

    def _embed(self, source: Unembedded, texts: dict[int, str]) -> None:
        ids = list(texts)
        try:
            vectors = self.meaning.embed(list(texts.values()))
        except NoodlingsError as error:
            self._quiet_until = self._now() + QUIET_SECONDS
            source.fail(ids, str(error), self._now())
        else:
            self._quiet_until = 0.0
            source.keep(dict(zip(ids, vectors, strict=True)), self._now())

    def _answer(self, text: str, answer: Future[Vector | None]) -> None:
        if not answer.set_running_or_notify_cancel():
            return
        try:
            answer.set_result(self.meaning.embed([text])[0])
        except NoodlingsError:
            self._quiet_until = self._now() + QUIET_SECONDS
            answer.set_result(None)

    def _run(self) -> None:
        while not self._closed:
            try:
                pause = self.work()
            except Exception as error:
                if not self._closed:  # the store is closed with us
                    log.exception("embedding goes on in a while: %s", error)
                pause = QUIET_SECONDS
            self._changed.wait(pause)
            self._changed.clear()
