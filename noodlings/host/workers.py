"""A worker: one of several processes that serve the agents of one PostgreSQL database.

A request to an agent of another worker waits in the outbox until that worker answers it. If the worker dies,
the next one that looks takes the agent and the request. Whoever has to change an agent in a way that no
request describes, as the rooms have, lets it be handed over.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from noodlings.agent.recipes import kept_persona
from noodlings.agent.society import NAMES_KEY, Society
from noodlings.app import recipes
from noodlings.errors import AgentElsewhere, StoreError
from noodlings.portable.remains import Marks, strike_out
from noodlings.ports import ROOMS
from noodlings.store.outbox import ForwardedRequest
from noodlings.store.sharing import Sharing
from noodlings.store.sql import SqlStore
from noodlings.values.caller import user_id_of
from noodlings.values.trace import TurnEvent

LOOK_SECONDS = 1.0
"""How often a worker looks for what it was not woken for."""
TIDY_SECONDS = 60.0
ASK_SECONDS = 90.0
"""How long a reply may take; a turn is over by then, also one that a second worker began."""
TAKE_SECONDS = 30.0
"""How long the turn under way may take of an agent that is handed over."""

Answer = Callable[[ForwardedRequest], Awaitable[str | None]]
"""The answer to a request; None where the agent went to another worker meanwhile, which answers it then."""

log = logging.getLogger(__name__)


class Worker:
    """This process among the others. Use within a running event loop."""

    def __init__(self, society: Society, sharing: Sharing) -> None:
        self._society, self._sharing = society, sharing
        self._leases, self._outbox = sharing.leases, sharing.outbox
        self._has_rooms = False
        self._replies: dict[str, asyncio.Future[str]] = {}
        self._answering: set[str] = set()
        self._leaving: set[str] = set()
        self._created: set[str] = set()
        """Agents that were made here: until somebody speaks to one, the database does not know it."""
        self._refused: list[str] = []
        self._told_refused: list[str] | None = []
        """Whom the others were told to refuse; None where somebody has to be told once more."""
        self._given: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._tasks: set[asyncio.Task[None]] = set()
        self._woken, self._left = asyncio.Event(), asyncio.Event()

    # -- the port `noodlings.ports.Ownership`

    def serves(self, agent_id: str) -> bool:
        if agent_id == ROOMS:
            return self._has_rooms and self._leases.holds(ROOMS)
        return agent_id not in self._leaving and self._leases.claim(agent_id)

    def claims(self, agent_id: str) -> int:
        return self._leases.claims[agent_id]

    def created(self, agent_id: str) -> None:
        self._created.add(agent_id)
        self._outbox.tell("created", agent_id)

    def refuse(self, user_ids: Collection[str]) -> None:
        self._refused = sorted(user_ids)
        self._woken.set()  # it is told at the look that follows, and again where the database is away

    def forgot_person(self, user_ids: Collection[str]) -> None:
        self._outbox.tell("forgot_person", self._leases.worker, *user_ids)

    def take_request(self, caller: str, per_second: float, most: float) -> float:
        return self._sharing.take_request(caller, per_second, most)

    async def take(self, agent_id: str) -> None:
        given = self._given[agent_id]
        until = asyncio.get_running_loop().time() + TAKE_SECONDS
        while not self.serves(agent_id):
            if asyncio.get_running_loop().time() > until:
                raise AgentElsewhere(agent_id)
            given.clear()
            self._outbox.tell("give", agent_id, self._leases.worker)
            await _at_most(given.wait(), LOOK_SECONDS)

    async def ask(self, agent_id: str, request: str, repeatable: bool) -> str:
        asked = self._outbox.ask(agent_id, request, repeatable)
        reply = self._replies[asked] = asyncio.get_running_loop().create_future()
        try:
            given = await asyncio.wait_for(reply, ASK_SECONDS)
        except TimeoutError:
            raise AgentElsewhere(agent_id) from None
        finally:
            del self._replies[asked]
        # It is "" where the owner by now was not there yet when this was sealed.
        return given or await self.ask(agent_id, request, repeatable)

    # -- the rooms

    async def wait_for_rooms(self) -> None:
        """Wait until the rooms belong to this worker."""
        while not self._asked(self._leases.claim):
            await self._until_left()
        self._told_refused = None  # whoever had them before deletes nobody any more

    async def keep_rooms(self) -> None:
        """Answer for the rooms until they belong to another worker, as after a pause of this one."""
        self._has_rooms = True
        try:
            while self._asked(self._leases.verify) is not False:
                await self._until_left()
        finally:
            self._has_rooms = False

    async def _until_left(self) -> None:
        """Wait until another worker ends, but no longer than until the next look."""
        self._left.clear()
        await _at_most(self._left.wait(), LOOK_SECONDS)

    def _asked(self, ask: Callable[[str], bool]) -> bool | None:
        """What the database says of the rooms; None while it cannot be reached."""
        try:
            return ask(ROOMS)
        except StoreError as error:
            log.warning("it is not known whose the rooms are: %s", error)
            return None

    # -- among the others

    @asynccontextmanager
    async def running(self, answer: Answer) -> AsyncIterator[None]:
        """Answer what other workers ask, until the end of the block."""
        loop = asyncio.get_running_loop()
        looking = asyncio.create_task(self._look_on(answer), name="looking into the outbox")
        unwatch = self._society.watch(self._happened)
        with self._sharing.waking(loop, self._hear):
            try:
                yield
            finally:
                unwatch()
                looking.cancel()
                await asyncio.gather(looking, *self._tasks, return_exceptions=True)

    def _happened(self, turn_event: TurnEvent) -> None:
        """Tell the others of a finished turn, for those who follow the agent there."""
        if turn_event.step == "turn" and self._leases.holds(turn_event.agent_id):
            self._outbox.tell("turn", turn_event.agent_id, str(turn_event.entry_id))

    def _hear(self, words: list[str]) -> None:
        try:
            self._take_in(words)
        except Exception:
            log.exception("what a worker told was not taken in")

    def _take_in(self, words: list[str]) -> None:
        """What a worker told all, this one included."""
        match words:
            case ["listening"]:
                self._catch_up()
            case ["asked" | "replied", _]:
                self._woken.set()
            case ["left"]:
                self._woken.set()
                self._left.set()
            case ["give", agent_id, worker] if agent_id != ROOMS and worker != self._leases.worker:
                if self.serves(agent_id):  # by the database, as after a pause it holds nothing here
                    self._begin(self._give(agent_id, worker))
            case ["given", agent_id] if agent_id in self._given:
                self._given[agent_id].set()
                self._woken.set()
            case ["created", agent_id]:
                self._know({agent_id})
            case ["began", worker] if worker != self._leases.worker:
                for agent_id in self._created:
                    self._outbox.tell("created", agent_id)
                if self._refused:
                    self._told_refused = None
            case ["forgot", agent_id, worker] if worker != self._leases.worker:
                self._society.forgot_elsewhere(agent_id)
                if not self._leases.holds(agent_id):
                    self._society.agents[agent_id].forgot_elsewhere()
            case ["refused", worker, *user_ids]:
                self._society.refused_elsewhere(() if worker == self._leases.worker else user_ids)
            case ["forgot_person", worker, *user_ids] if worker != self._leases.worker:
                self._society.forgot_person(user_ids)
                self._begin(asyncio.to_thread(strike_out, *self._logged_of(user_ids)))
            case ["changed", key] if key == NAMES_KEY:
                self._society.read_names()
            case ["turn", agent_id, entry_id] if not self._leases.holds(agent_id):
                for watcher in self._society.watchers_elsewhere:
                    watcher(agent_id, int(entry_id))

    def _catch_up(self) -> None:
        """Learn what was told while this worker could not hear it."""
        self._society.read_names()
        self._society.refused_elsewhere(())  # whoever deletes somebody says so again
        stored = self._society.store.agents()
        self._know(stored)
        for agent_id in stored:
            self._society.forgot_elsewhere(agent_id)
        for agent in self._society.agents.awake:
            if not self._leases.holds(agent.id):
                agent.forgot_elsewhere()
        self._outbox.tell("began", self._leases.worker)

    def _logged_of(self, user_ids: Collection[str]) -> tuple[Path, Marks]:
        """The data folder of this worker, and what marks a line of its logs as being about a person."""
        settings, names = self._society.settings, self._society.names()
        called = (*user_ids, *(names[one] for one in user_ids if one in names))
        types_here = user_id_of(settings.world.player) in user_ids
        return settings.data_dir, Marks.of(called, (), (), types_here)

    def _know(self, agent_ids: Iterable[str]) -> None:
        """Get to know agents that were made elsewhere, or have a recipe by now."""
        found = recipes(self._society.settings.data_dir)
        for agent_id in {*found, *agent_ids} - self._society.personas.keys():
            self._society.know(found.get(agent_id) or kept_persona(agent_id))

    async def _look_on(self, answer: Answer) -> None:
        tidied = 0.0
        while True:
            await _at_most(self._woken.wait(), LOOK_SECONDS)
            self._woken.clear()
            try:
                self._look(answer)
                if time.monotonic() - tidied > TIDY_SECONDS:
                    tidied = time.monotonic()
                    self._sharing.tidy()
            except StoreError as error:
                log.warning("the outbox cannot be read: %s", error)
            except Exception:
                log.exception("a look into the outbox failed")

    def _look(self, answer: Answer) -> None:
        """Hand out the replies that are there, and begin to answer what is due."""
        if self._refused != self._told_refused:
            self._outbox.tell("refused", self._leases.worker, *self._refused)
            self._told_refused = self._refused
        if self._replies:
            asked = self._outbox.take_replies()
            for number, waiting in self._replies.items():
                if waiting.done():
                    continue
                if number not in asked:
                    waiting.set_exception(TimeoutError())
                elif (reply := asked[number]) is not None:
                    waiting.set_result(reply)
        for request in self._outbox.due():
            if request.id not in self._answering and self.serves(request.agent_id):
                self._answering.add(request.id)
                self._begin(self._reply(request, answer))

    async def _reply(self, request: ForwardedRequest, answer: Answer) -> None:
        try:
            self._outbox.begin(request)
            unread = not request.request and not request.begun
            reply = "" if unread else await answer(request)
            if reply is not None:
                self._outbox.reply(request, reply)
        finally:
            self._answering.discard(request.id)

    async def _give(self, agent_id: str, worker: str) -> None:
        self._leaving.add(agent_id)
        try:
            await self._society.at_rest(agent_id)
            self._leases.give(agent_id, worker)
        finally:
            self._leaving.discard(agent_id)

    def _begin(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("what another worker asked for failed: %s", error, exc_info=error)


def worker_of(society: Society) -> Worker | None:
    """This process as one of the workers that share a database; None where it has a store of its own."""
    sharing = society.store.sharing if isinstance(society.store, SqlStore) else None
    return None if sharing is None else Worker(society, sharing)


async def _at_most(work: Awaitable[object], seconds: float) -> None:
    """Wait for something, but only so long.

    `asyncio.wait_for` of Python 3.11 loses a cancellation that comes just when the wait is over. A loop
    would go on for ever then, and the process would not end.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await work
