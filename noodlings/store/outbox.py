"""The outbox: requests to agents of other workers, kept until they are answered, and the replies.

A request is in the database before anybody is told of it. Notifications only wake: whoever misses one finds
the request, or the reply, at the next look. Both are sealed, see `noodlings.store.worker_key`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from uuid import uuid4

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Identity,
    Table,
    Text,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    text,
    update,
)

from noodlings.errors import StoreError
from noodlings.store.cipher import Unopened, place
from noodlings.store.leases import CHANNEL, leases, living, shared, tell
from noodlings.store.rows import Row
from noodlings.store.sql_database import SqlDatabase
from noodlings.store.worker_key import WorkerKey

LISTEN_SECONDS = 0.5
"""How long a listener that is to end waits for the next notification."""

log = logging.getLogger(__name__)

# Not worth a write to the log: if the server dies, whoever asked is told nothing, and asks again.
outbox = Table(
    "outbox",
    shared,
    # In the order in which they were asked.
    Column("number", BigInteger, Identity(), nullable=False),
    Column("id", Text, primary_key=True),
    Column("agent_id", Text, nullable=False),
    Column("asker", Text, nullable=False),
    Column("request", Text, nullable=False),
    Column("reply", Text),
    # Whether it may be answered by a second worker, where one died that had begun to.
    Column("repeatable", Boolean, nullable=False),
    Column("begun", Boolean, nullable=False),
    Column("asked", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    prefixes=["UNLOGGED"],
)
_of_id = outbox.c.id == bindparam("of_id")
ASK = insert(outbox).values(begun=False)
DUE = (
    select(*(outbox.c[name] for name in ("id", "agent_id", "asker", "request", "repeatable", "begun")))
    .join(leases, leases.c.agent_id == outbox.c.agent_id, isouter=True)
    .where(
        outbox.c.reply.is_(None),
        or_(
            leases.c.worker.is_(None),
            leases.c.worker == bindparam("of_worker"),
            leases.c.worker.not_in(living),
        ),
    )
    .order_by(outbox.c.number)
)
BEGIN = update(outbox).where(_of_id).values(begun=True)
REPLY = update(outbox).where(_of_id, outbox.c.agent_id == bindparam("of_agent"))
ASKED = select(outbox.c.agent_id, outbox.c.id, outbox.c.reply).where(outbox.c.asker == bindparam("of_worker"))
DROP = delete(outbox).where(_of_id)
DROP_OLD = delete(outbox).where(outbox.c.asked < func.clock_timestamp() - text("interval '10 minutes'"))


@dataclass(frozen=True, slots=True)
class ForwardedRequest:
    """A request to an agent, from another worker.

    Attributes:
        agent_id: whose owner answers it.
        asker: the worker that waits for the reply.
        request: the request itself; "" where it was not sealed for this worker, or is damaged.
        repeatable: whether it may be answered twice, because it has a key.
        begun: whether a worker began to answer it, and died; it is not noted of what is repeatable.
    """

    id: str
    agent_id: str
    asker: str
    request: str
    repeatable: bool
    begun: bool


class Outbox:
    """Requests to agents of other workers. Safe to use from any thread.

    Args:
        key: the key of this worker.
    """

    def __init__(self, database: SqlDatabase, key: WorkerKey) -> None:
        self._database, self._key = database, key

    def ask(self, agent_id: str, request: str, repeatable: bool) -> str:
        """Keep a request, and wake whoever may answer it. Returns its id."""
        number = uuid4().hex
        row = {"id": number, "agent_id": agent_id, "asker": self._key.worker, "repeatable": repeatable}
        with self._database.transaction() as transaction:
            readers = transaction.column(living, {})
            sealed = self._key.sealed(request, readers, _place("request", agent_id, number))
            transaction.run(ASK, row | {"request": sealed})
            tell(transaction, "asked", agent_id)
        return number

    def due(self) -> list[ForwardedRequest]:
        """Unanswered requests to agents that belong to this worker or to nobody alive, in order."""
        with self._database.snapshot() as transaction:
            rows = transaction.rows(DUE, {"of_worker": self._key.worker})
        for row in rows:
            try:
                row["request"] = self._opened(row, "request")
            except Unopened:
                row["request"] = ""
        return [ForwardedRequest(**row) for row in rows]

    def begin(self, request: ForwardedRequest) -> None:
        """Note that a request is being answered, if it must not be answered twice."""
        if request.repeatable:
            return
        with self._database.transaction() as transaction:
            transaction.run(BEGIN, {"of_id": request.id})

    def reply(self, request: ForwardedRequest, reply: str) -> None:
        """Answer a request, and wake who asked."""
        row = {"of_id": request.id, "of_agent": request.agent_id}
        place = _place("reply", request.agent_id, request.id)
        with self._database.transaction() as transaction:
            transaction.run(REPLY, row | {"reply": self._key.sealed(reply, [request.asker], place)})
            tell(transaction, "replied", request.asker)

    def take_replies(self) -> dict[str, str | None]:
        """The requests of this worker by id, each with its reply, or None where there is none yet.

        Those that have one are dropped. What a server that died had not kept, or is damaged, is missing.
        """
        found: dict[str, str | None] = {}
        with self._database.transaction() as transaction:
            for row in transaction.rows(ASKED, {"of_worker": self._key.worker}):
                if row["reply"] is None:
                    found[row["id"]] = None
                    continue
                transaction.run(DROP, {"of_id": row["id"]})
                with suppress(Unopened):
                    found[row["id"]] = self._opened(row, "reply")
        return found

    def tell(self, *words: str) -> None:
        """Tell all workers something, see `tell`."""
        with self._database.transaction() as transaction:
            tell(transaction, *words)

    def _opened(self, row: Row, column: str) -> str:
        return self._key.opened(row[column], _place(column, row["agent_id"], row["id"]))


def _place(column: str, agent_id: str, number: str) -> bytes:
    return place("outbox", column, agent_id, number)


class Listener:
    """Hears what any worker tells all, on a connection of its own.

    Args:
        notifications: what is told on a channel, see `noodlings.store.postgres.PostgresDatabase`.
    """

    def __init__(self, notifications: Callable[[str, float], Generator[str | None, None, None]]) -> None:
        self._notifications = notifications

    @contextmanager
    def waking(self, loop: asyncio.AbstractEventLoop, hear: Callable[[list[str]], None]) -> Iterator[None]:
        """Call `hear` in the loop with what is told, until the end of the block.

        Where the connection broke it is opened anew, and what was told meanwhile is not heard. So `hear` is
        called with "listening" whenever it begins.
        """
        ended = threading.Event()

        def listen() -> None:
            while not ended.is_set():
                try:
                    with closing(self._notifications(CHANNEL, LISTEN_SECONDS)) as notifications:
                        words = ["listening"]
                        for told in notifications:
                            if ended.is_set():
                                return
                            words = words if told is None else json.loads(told)
                            if words:
                                loop.call_soon_threadsafe(hear, words)
                            words = []
                except StoreError as error:
                    log.warning("other workers cannot be heard: %s", error)
                    ended.wait(LISTEN_SECONDS)
                except Exception:
                    if not ended.is_set():  # else the loop was closed
                        log.exception("other workers cannot be heard")
                        ended.wait(LISTEN_SECONDS)

        thread = threading.Thread(target=listen, name="hearing other workers", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            # Not joined: it ends within half a second, and must not hold up the loop.
