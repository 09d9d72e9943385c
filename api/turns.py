"""Percepts on their way to agents. With a client's key, each is perceived once, however often it is sent.

A key is stored with the percept, so a retry finds it even after a crash. The answer to a retry is read anew,
so that it repeats nothing that was forgotten meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from http import HTTPStatus

from api.problem import RefusedRequest
from noodlings.agent.society import Society
from noodlings.ports import Repository
from noodlings.scheduling import FairScheduler
from noodlings.values.memory import CLIENT_BODY, CLIENT_KEY, CLIENT_WORLD
from noodlings.values.percept import Kind, Percept
from noodlings.values.trace import Trace

KNOWN_KEYS = 10_000
"""How many keys are kept in memory, of all agents together."""
LOOKED_BACK = 500
"""How many of an agent's latest percepts are searched for keys, once."""
UNFINISHED = 64
"""The most turns of one agent under way."""
SHARE = 8
"""The most of these for one user, so that nobody can monopolize a character."""
LINE = 1_000
"""Characters of a line that count as one turn of a user: a turn on a long line takes long."""
TOKEN_SHARE = 48
"""The most of these for one token; a world speaks for many users."""
FINISH_SECONDS = 30.0
"""How long turns under way may take when the server stops; by then any call to a model has timed out."""
CANCEL_SECONDS = 2.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class IdempotentTurn:
    """The turn of a key: its entry, a hash of what was sent, and whether it was cut off unanswered."""

    entry_id: int
    fingerprint: str
    cut_off: bool = False


Place = tuple[str, str, str]
"""Agent, user and key. Keys are per user, so that they reveal nothing to others."""
Hear = Callable[[Percept], Awaitable[Trace]]
"""Lets an agent perceive something, to the end of its turn."""
_Share = tuple[str, str, str]
"""Agent, "user" or "token", and its id; the last two are empty for all turns of the agent."""


class Turns:
    """All turns that were sent to this server. Use within a running event loop."""

    def __init__(self, society: Society) -> None:
        self._society = society
        self._known: OrderedDict[Place, IdempotentTurn] = OrderedDict()
        self._under_way: dict[Place, tuple[str, asyncio.Task[Trace]]] = {}
        self._tasks: set[asyncio.Task[Trace]] = set()
        self._unfinished: Counter[_Share] = Counter()
        self._read_back: set[tuple[str, int]] = set()
        self._scheduler = FairScheduler()
        self._closed = False
        society.watch_forgotten(self.forget)

    @property
    def unfinished(self) -> int:
        return len(self._tasks)

    async def perceive(
        self, agent_id: str, percept: Percept, key: str = "", token: str = "", hear: Hear | None = None
    ) -> tuple[int, bool, bool]:
        """Let an agent perceive something, once. The turn goes on even if the client stops waiting.

        Args:
            key: the client's key, or "".
            token: the sender, as `api.authentication.AccessToken.key`.
            hear: handles the percept instead of `Society.perceive`.

        Returns:
            The entry, whether this was a retry, and whether the original turn was cut off by a crash or a
            full disk: then the percept is stored, but will never be answered.

        Raises:
            RefusedRequest: 422, the key was used for something else; 429, too many turns of this agent,
                user or token are waiting; 503, the server is stopping.
        """
        # Before keys are looked up: another process may have kept some.
        await self._society.take(agent_id, percept.user_id)
        begin = partial(self._begin, agent_id, token, hear or partial(self._society.perceive, agent_id))
        if not key:
            return (await asyncio.shield(begin(percept))).entry_id, False, False
        place = (agent_id, percept.user_id, key)
        sent = _fingerprint(percept, self._society.find(agent_id).without_personal)
        under_way = self._under_way.get(place)
        if under_way is not None:
            _require_same(under_way[0], sent)
            return (await asyncio.shield(under_way[1])).entry_id, True, False
        once = self._once(place)
        if once is not None:
            _require_same(once.fingerprint, sent)
            return once.entry_id, True, once.cut_off
        marked = replace(percept, data=dict(percept.data) | {CLIENT_KEY: key, CLIENT_BODY: sent})
        task = begin(marked)
        self._under_way[place] = sent, task
        task.add_done_callback(lambda done: self._remember(place, sent, done))
        return (await asyncio.shield(task)).entry_id, False, False

    def forget(self, user_ids: Collection[str]) -> None:
        """Forget the keys of these users."""
        for place in [place for place in self._known if place[1] in user_ids]:
            del self._known[place]

    async def close(self) -> None:
        """Refuse new turns and wait for those under way, then cancel the rest."""
        self._closed = True
        if not self._tasks:
            return
        _, left = await asyncio.wait(set(self._tasks), timeout=FINISH_SECONDS)
        for task in left:
            log.warning("%s did not finish within %g s and is abandoned", task.get_name(), FINISH_SECONDS)
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=CANCEL_SECONDS)

    def _begin(self, agent_id: str, token: str, hear: Hear, percept: Percept) -> asyncio.Task[Trace]:
        if self._closed:
            raise RefusedRequest(HTTPStatus.SERVICE_UNAVAILABLE, "The server is stopping; try later.")
        shares: dict[_Share, int] = {(agent_id, "", ""): 1, (agent_id, "token", token): 1}
        if percept.kind is not Kind.EVENT:  # game events belong to no user; they count for the token
            shares[agent_id, "user", percept.user_id] = min(1 + len(percept.text) // LINE, SHARE)
        for share, count in shares.items():
            self._require_room(share, count)
        task = asyncio.create_task(self._turn(agent_id, hear, percept), name=f"turn of {agent_id}")
        release = self._society.hold(agent_id)
        task.add_done_callback(lambda done: release())
        self._tasks.add(task)
        self._unfinished.update(shares)
        task.add_done_callback(lambda done: self._finished(agent_id, shares, done))
        return task

    def _require_room(self, share: _Share, count: int) -> None:
        agent_id, whose, _ = share
        most = {"token": TOKEN_SHARE, "user": SHARE}.get(whose, UNFINISHED)
        if self._unfinished[share] + count > most:
            behind = f" for this {whose}" if whose else ""
            if whose == "user":
                behind += " (a long line counts as several)"
            raise RefusedRequest(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"{agent_id} has {self._unfinished[share]} turns waiting{behind}; send it again in a moment.",
            )

    async def _turn(self, agent_id: str, hear: Hear, percept: Percept) -> Trace:
        # Else readers would wait for all turns that were sent at once. Agents take turns, and each hears
        # what it is told in the order in which it came.
        await self._scheduler.turn(agent_id)
        return await hear(percept)

    def _finished(self, agent_id: str, shares: Mapping[_Share, int], task: asyncio.Task[Trace]) -> None:
        self._tasks.discard(task)
        self._unfinished.subtract(shares)
        self._unfinished = +self._unfinished  # drops the zeros: a world has many users
        if not task.cancelled() and task.exception() is not None:
            self._read_back.discard(self._held(agent_id))  # its percept may be stored, with the key
            log.warning("a turn of %s failed: %s", agent_id, task.exception())

    def _remember(self, place: Place, sent: str, task: asyncio.Task[Trace]) -> None:
        del self._under_way[place]
        if not task.cancelled() and task.exception() is None:
            self._keep(place, IdempotentTurn(task.result().entry_id, sent))

    def _keep(self, place: Place, once: IdempotentTurn) -> None:
        self._known[place] = once
        self._known.move_to_end(place)
        if len(self._known) > KNOWN_KEYS:
            self._known.popitem(last=False)

    def _held(self, agent_id: str) -> tuple[str, int]:
        """An agent, and how often it came to this process: meanwhile another may have kept keys."""
        ownership = self._society.ownership
        return agent_id, 0 if ownership is None else ownership.claims(agent_id)

    def _once(self, place: Place) -> IdempotentTurn | None:
        agent_id = place[0]
        held = self._held(agent_id)
        if held not in self._read_back:
            for user_id, key, once in _kept_keys(self._society.store, agent_id):
                self._keep((agent_id, user_id, key), once)
            self._read_back.add(held)  # not before, as the store may be away
        return self._known.get(place)


def _kept_keys(store: Repository, agent_id: str) -> list[tuple[str, str, IdempotentTurn]]:
    """User, key and turn of the latest percepts that were sent with a key, oldest first."""
    record = store.load(agent_id)
    if record is None:
        return []
    found, traced = [], {trace.entry_id for trace in store.traces(agent_id, LOOKED_BACK)}
    for entry in store.archive(agent_id, max(record.last_id - LOOKED_BACK, -1), LOOKED_BACK):
        data = entry.extra.get("data", {})
        key, sent = data.get(CLIENT_KEY), data.get(CLIENT_BODY)
        if isinstance(key, str) and isinstance(sent, str):
            found.append((entry.user_id, key, IdempotentTurn(entry.id, sent, entry.id not in traced)))
    return found


def _fingerprint(percept: Percept, without_personal: Callable[[str], str]) -> str:
    """A hash of everything in a percept but its time. What is masked could be guessed from a hash of it."""
    told = (
        percept.kind.value,
        percept.text,
        percept.addressed,
        sorted(percept.present),
        percept.place,
        sorted(fact for fact in percept.data.items() if fact[0] != CLIENT_WORLD),
        # Left out if empty, as the sender is, so that hashes of older versions stay valid.
        *((percept.depth,) if percept.depth else ()),
        *((percept.affect.as_list(),) if percept.affect else ()),
        *((("salience", percept.identity_salience),) if percept.identity_salience else ()),
        *((("actions", percept.actions),) if percept.actions else ()),
        *((("things", percept.things),) if percept.things else ()),
        *((("tier", int(percept.tier)),) if percept.tier else ()),
    )
    return sha256(without_personal(repr(told)).encode("utf-8", "replace")).hexdigest()[:32]


def _require_same(before: str, now: str) -> None:
    if before != now:
        raise RefusedRequest(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "This Idempotency-Key was used for another request; use a new one.",
        )
