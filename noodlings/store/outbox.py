"""The outbox: requests to agents of other workers, kept until they are answered, and the replies.

A request is in the database before anybody is told of it. Notifications only wake: whoever misses one finds
the request, or the reply, at the next look. Both are sealed, see `noodlings.store.worker_key`.
"""

from __future__ import annotations

from contextlib import suppress
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

from noodlings.store.cipher import Unopened, place
from noodlings.store.leases import leases, living, shared, tell
from noodlings.store.rows import Row
from noodlings.store.sql_database import SqlDatabase
from noodlings.store.worker_key import WorkerKey

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
            sealed = self._key.sealed(request, readers, place("outbox", "request", agent_id, number))
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
        at = place("outbox", "reply", request.agent_id, request.id)
        with self._database.transaction() as transaction:
            transaction.run(REPLY, row | {"reply": self._key.sealed(reply, [request.asker], at)})
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
        return self._key.opened(row[column], place("outbox", column, row["agent_id"], row["id"]))
