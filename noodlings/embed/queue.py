"""Embeds all texts of a society by one model, on one thread.

What a turn waits for (a line just said, what it asks of the memory) comes first, speakers in turn, several
together, and the same text once however many ask. Then come the questions of those who look into a memory,
one at a time, and last the backlog of entries without a vector, each of its owners in turn. No event waits
for the backlog, and if there is no vector in time, words must do. An entry without a vector in the store is
still to be embedded, so none is lost when the process ends.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol, TypeVar

from noodlings.errors import NoodlingsError
from noodlings.ports import Answer, AnsweringEmbedder, Embedder, LayeredEmbedder, Understood
from noodlings.scheduling import FairQueue, FairScheduler
from noodlings.values.audience import Tier
from noodlings.values.memory import Vector

KEPT = 256
"""How many of the latest texts are not embedded again."""
TOGETHER = 8
"""Texts that are embedded together on this machine; larger batches are no faster."""
TOGETHER_CHARACTERS = 800
"""Their characters in all, so that short texts do not wait for a long one."""
TOGETHER_REMOTE = 32
"""Entries of a backlog that are sent to an endpoint together."""
QUESTION_SECONDS = 1.0
"""How long a question waits for its vector from an endpoint."""
MOST_WAITING = 256
"""How many texts may wait for the model of this machine; further questions are searched by words."""
QUIET_SECONDS = 30.0
"""How long no question is sent to an endpoint that failed."""
_LEAVE_SECONDS = 2.0

Kept = OrderedDict[tuple[str, str], Understood]
"""By a text and who said it."""
_Key = tuple[str, bool, str]
"""A text, whether no turn waits for it, and who said it."""
Made = TypeVar("Made")

log = logging.getLogger(__name__)


class Backlog(Protocol):
    """Texts that are embedded whenever nobody waits for anything else."""

    def take(self, now: float, most: int) -> dict[int, str]:
        """At most `most` texts to embed now, by id; each is then given to `keep` or `fail`."""

    def keep(self, vectors: Mapping[int, Vector], now: float) -> None:
        """Store vectors by id."""

    def fail(self, ids: Sequence[int], reason: str, now: float) -> None:
        """Note that these could not be embedded."""

    def again_at(self) -> float:
        """When there is something to take: −inf for now, inf for never."""


@dataclass(slots=True)
class _Asked:
    """A text that somebody waits for: where its vector will be cached, and the promises of it."""

    kept: Kept
    promises: list[Future[Understood]] = field(default_factory=list)

    def keep(self, text: str, by: str, understood: Understood) -> None:
        self.kept[text, by] = understood
        if len(self.kept) > KEPT:
            self.kept.popitem(last=False)

    def fulfil(self, understood: Understood) -> None:
        for promise in self.promises:
            if promise.set_running_or_notify_cancel():
                promise.set_result(understood)

    def fail(self, error: BaseException) -> None:
        for promise in self.promises:
            if promise.set_running_or_notify_cancel():
                promise.set_exception(error)


@dataclass(slots=True)
class _Reading:
    """Lines that are to be read together with what was asked, and the promise of what that tells."""

    read: Callable[[Embedder], list[Answer]]
    promise: Future[list[Answer]] = field(default_factory=Future)


class EmbeddingQueue:
    """Makes vectors of texts for all agents of a society. Safe to share between threads and event loops.

    Args:
        local: the model runs on this machine. Its failures last (such as a missing model file), so it is not
            asked again; an endpoint that cannot be reached may be there a minute later.
        idle: no backlog is embedded, for a store that cannot be written to.
        release: called by `close`.
        reach: the highest tier of which a text may be embedded.

    Attributes:
        failed: why there are no vectors now, in words, or "".
    """

    def __init__(
        self,
        embedder: Embedder | None = None,
        *,
        local: bool = True,
        idle: bool = False,
        release: Callable[[], None] = lambda: None,
        reach: Tier = Tier.SECRET,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.local = local
        self.reach = reach
        self.failed = ""
        self._embedder = embedder
        # One at a time, speakers in turn, so that who asks much takes no thread from anybody else.
        self._reading = ThreadPoolExecutor(1, thread_name_prefix="reading")
        self._to_read: FairQueue[_Reading] = FairQueue()
        self._idle = idle
        self._release = release
        self._now = monotonic
        self._lock = threading.Lock()
        self._kept: Kept = OrderedDict()
        self._asked: dict[_Key, _Asked] = {}
        # The number of the latest batch with a text of theirs, for those who still wait.
        self._served: dict[str, int] = {}
        # Those with something to do, the next one first. One disappears with its agent: what is left to embed
        # is in the store.
        self._backlogs: dict[weakref.ref[Backlog], None] = {}
        self._scheduler = FairScheduler()
        self._quiet_until = 0.0
        self._changed = threading.Event()
        self._closed = False
        self._thread: threading.Thread | None = None

    @property
    def model(self) -> str:
        """The name of the model, "" without one."""
        return "" if self._embedder is None else self._embedder.name

    @property
    def dimensions(self) -> int:
        """Length of a vector; 0 without an embedder, or before an endpoint has answered."""
        return 0 if self._embedder is None else self._embedder.dimensions

    @property
    def gave_up(self) -> bool:
        """Whether there is an embedder that is not asked any more."""
        return self.local and bool(self.failed)

    @property
    def waiting(self) -> int:
        """How many texts somebody waits for."""
        return len(self._asked)

    @property
    def trouble(self) -> str:
        """Why questions have no vectors now, or "": what fails on this machine, fails for percepts first."""
        if self.local:
            return "too many texts are waiting to be embedded" if self._behind else ""
        return self.failed

    # -- what somebody waits for

    async def vector(self, text: str, *, by: str = "", patient: bool = False) -> Vector | None:
        understood = await self.understood(text, by=by, patient=patient)
        return None if understood is None else understood.vector

    async def understood(self, text: str, *, by: str = "", patient: bool = False) -> Understood | None:
        """A text as the embedder understands it, read-only; with `patient`, after all that turns wait for.

        None without an embedder, when it failed, for an empty text, and when too many texts are waiting. The
        latest texts are cached, because a whole room hears a line, and each hearer then searches by it; but
        only for whoever said the same, by their id, and not for the patient: anybody else would see by the
        time it took whether somebody had said it.
        """
        if self._embedder is None or not text or self.gave_up or (self.local and self._behind):
            return None
        try:
            found = self._find(text, patient, by)
            if not isinstance(found, Future):
                return found
            understood = await asyncio.wrap_future(found)
        except NoodlingsError:
            return None
        await self._scheduler.turn(by)  # else all that were embedded together would go on at the same moment
        return understood

    async def question(self, text: str, *, by: str = "", patient: bool = False) -> Vector | None:
        """The vector of a question; None if there is none in time, and words must do."""
        if self.local:
            return None if self._behind else await self.vector(text, by=by, patient=patient)
        if self._now() < self._quiet_until:
            return None
        try:
            return await asyncio.wait_for(self.vector(text, by=by, patient=patient), QUESTION_SECONDS)
        except TimeoutError:
            return None

    async def answers(
        self, asked: tuple[str, str], lines: Sequence[tuple[str, str]], asks: bool = True, *, by: str = ""
    ) -> list[Answer] | None:
        """How far each line answers a question, or is touched on by a remark; see `AnsweringEmbedder`.

        Speakers (`by`) take turns. None without an embedder that can tell, when it failed, when too many
        texts are waiting, and after `close`.
        """
        embedder = self._embedder
        if not isinstance(embedder, AnsweringEmbedder) or not lines or self.gave_up or self._behind:
            return None
        reading = _Reading(lambda _: embedder.answers(asked, lines, asks))
        with self._lock:
            if self._closed:
                return None
            self._to_read.put(by, reading)
            self._reading.submit(self._read_next)
        try:
            answers = await asyncio.wrap_future(reading.promise)
        except NoodlingsError:
            return None
        await self._scheduler.turn(by)
        return answers

    def let_go(self) -> None:
        """Empty the caches."""
        with self._lock:
            self._kept = OrderedDict()
        if isinstance(self._embedder, AnsweringEmbedder):
            self._embedder.let_go()

    # -- what is embedded in the background

    def watch(self, backlog: Backlog) -> None:
        """Embed a backlog from the next `nudge` on, for as long as somebody else refers to it."""
        with self._lock:
            if not (self._idle or self.gave_up):
                self._backlogs.setdefault(weakref.ref(backlog))

    def nudge(self) -> None:
        """Wake the thread, because there is something to do."""
        with self._lock:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._run, name="embedding", daemon=True)
                self._thread.start()
        self._changed.set()

    def work(self) -> float | None:
        """Embed the next texts. Returns the seconds until there are more; None for never."""
        return 0.0 if self.embed_asked() else self.embed_backlog()

    def embed_asked(self) -> bool:
        """Embed the texts that are next; False if nobody waits."""
        with self._lock:
            for key, asked in list(self._asked.items()):
                if all(promise.cancelled() for promise in asked.promises):
                    del self._asked[key]
            keys = self._next()
        if not keys:
            return False
        texts = list(dict.fromkeys(text for text, *_ in keys))
        try:
            understood = self._ask(lambda embedder: understood_by(embedder, texts))
        except Exception as error:  # noqa: BLE001 -- it is raised where the vectors are waited for
            self._quiet_until = self._now() + QUIET_SECONDS
            for _, asked in self._take(keys):
                asked.fail(error)
            return True
        self._quiet_until = 0.0
        made = dict(zip(texts, understood, strict=True))
        for (text, *_), asked in self._take(keys, made):
            asked.fulfil(made[text])
        return True

    def embed_backlog(self) -> float | None:
        """Embed the next texts of a backlog, as `work` does."""
        if self.gave_up:
            self._backlogs.clear()
            return None
        now, soonest = self._now(), math.inf
        for _ in range(len(self._backlogs)):
            with self._lock:
                known = next(iter(self._backlogs), None)
                if known is None:  # another thread has taken the rest
                    break
                del self._backlogs[known]
            backlog = known()
            if backlog is None:
                continue
            try:
                if texts := backlog.take(now, TOGETHER if self.local else TOGETHER_REMOTE):
                    self._embed_for(backlog, texts)
                    return 0.0
            finally:
                again_at = backlog.again_at()
                if again_at < math.inf:
                    self.watch(backlog)  # as the last, so that each has its turn
            soonest = min(soonest, again_at)
        return None if soonest == math.inf else max(soonest - now, 0.0)

    def embed(self, texts: Sequence[str]) -> Vector:
        """Unit vectors of shape (len(texts), dimensions), on the calling thread. Raises `NoodlingsError`."""
        return self._ask(lambda embedder: embedder.embed(texts))

    def _ask(self, call: Callable[[Embedder], Made]) -> Made:
        if self._embedder is None:
            raise NoodlingsError("there is no embedding model")
        if self.gave_up:
            raise NoodlingsError(self.failed)
        try:
            answer = call(self._embedder)
        except NoodlingsError as error:
            failed_before, self.failed = self.failed, str(error)
            if not failed_before:
                log.warning("embedding failed; until it works again, search is by words only: %s", error)
            raise
        if self.failed:
            log.warning("embedding works again")
            self.failed = ""
        return answer

    def _read_next(self) -> None:
        with self._lock:
            reading = self._to_read.take()
        if not reading.promise.set_running_or_notify_cancel():
            return
        try:
            reading.promise.set_result(self._ask(reading.read))
        except BaseException as error:  # noqa: BLE001 -- it is raised where the answer is waited for
            reading.promise.set_exception(error)

    def warm(self) -> None:
        """Load the model, on any thread."""
        if self._embedder is not None:
            with suppress(NoodlingsError):  # which `embed` has logged
                self.embed(["good morning"])

    def close(self) -> None:
        """Stop embedding. A call that is under way is waited for, unless it takes long."""
        with self._lock:
            self._closed = True
            left, self._asked = list(self._asked.values()), {}
        for asked in left:
            asked.fail(NoodlingsError("nothing is embedded any more"))
        self._reading.shutdown(wait=False)
        self._changed.set()
        if self._thread is not None:
            self._thread.join(_LEAVE_SECONDS)
        self._release()

    @property
    def _behind(self) -> bool:
        return self.waiting >= MOST_WAITING

    def _next(self) -> list[_Key]:
        """What turns wait for, together, first that of whoever was not served for longest; else one question,
        as a turn may come meanwhile."""
        waiting = [key for key in self._asked if not (key[1] and self.local)]
        if not waiting:
            return list(islice(self._asked, 1))
        urgent = FairQueue[_Key]()
        for key in sorted(waiting, key=lambda key: self._served.get(key[2], 0)):
            urgent.put(key[2], key)
        chosen, latest = _together(urgent), max(self._served.values(), default=0)
        served = dict.fromkeys((by for *_, by in chosen), latest + 1)
        speakers = {by for *_, by in waiting}
        self._served = {by: at for by, at in self._served.items() if by in speakers} | served
        return chosen

    def _find(self, text: str, patient: bool, by: str) -> Understood | Future[Understood]:
        """The text as it is cached, or a promise of it."""
        with self._lock:
            known = None if patient else self._kept.get((text, by))
            if known is not None:
                self._kept.move_to_end((text, by))
                return known
            if self._closed:
                raise NoodlingsError("nothing is embedded any more")
            asked = self._asked.setdefault((text, patient, by), _Asked(self._kept))
            promise: Future[Understood] = Future()
            asked.promises.append(promise)
        self.nudge()
        return promise

    def _take(
        self, keys: Iterable[_Key], made: Mapping[str, Understood] | None = None
    ) -> list[tuple[_Key, _Asked]]:
        """Remove those of the texts that somebody still waits for, and cache what was made for turns."""
        with self._lock:
            taken = [(key, self._asked.pop(key)) for key in keys if key in self._asked]
            for (text, patient, by), asked in taken:
                if made is not None and not patient:
                    asked.keep(text, by, made[text])
        return taken

    def _embed_for(self, backlog: Backlog, texts: dict[int, str]) -> None:
        ids = list(texts)
        try:
            vectors = self.embed(list(texts.values()))
        except NoodlingsError as error:
            self._quiet_until = self._now() + QUIET_SECONDS
            backlog.fail(ids, str(error), self._now())
        else:
            self._quiet_until = 0.0
            backlog.keep(dict(zip(ids, vectors, strict=True)), self._now())

    def _run(self) -> None:
        while not self._closed:
            self._changed.clear()
            try:
                pause = self.work()
            except Exception as error:
                if not self._closed:  # the store is closed with us
                    log.exception("embedding failed and will go on in a while: %s", error)
                pause = QUIET_SECONDS
            if pause != 0.0 and not self._closed:
                self._changed.wait(pause)


def understood_by(embedder: Embedder, texts: Sequence[str]) -> Sequence[Understood]:
    """What an embedder makes of texts, read-only, in one pass. Raises as `embed` does."""
    if isinstance(embedder, LayeredEmbedder):
        found = embedder.read(texts)
    else:
        found = [Understood(vector) for vector in embedder.embed(texts)]
    for one in found:
        one.vector.flags.writeable = False
        if one.layers is not None:
            one.layers.flags.writeable = False
    return found


def _together(keys: FairQueue[_Key]) -> list[_Key]:
    """The next texts, as many as are embedded together."""
    chosen: list[_Key] = []
    length = 0
    while keys and len(chosen) < TOGETHER:
        key = keys.take()
        length += len(key[0])
        if chosen and length > TOGETHER_CHARACTERS:
            break
        chosen.append(key)
    return chosen
