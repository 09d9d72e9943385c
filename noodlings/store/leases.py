"""Leases: which worker each agent belongs to, where several processes share a PostgreSQL database.

Each worker counts its heartbeats in the database. Whoever sees that a count has not changed for
`LEASE_SECONDS`, by a clock that nobody sets, strikes the worker out, and what belonged to it is free.
Whenever an agent changes hands its fencing token rises, and each commit checks the token in its own
transaction. So a worker that was only slow cannot write any more, whatever it believes (Kleppmann, "How to do
distributed locking", 2016).
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import Counter

from sqlalchemy import BigInteger, Column, MetaData, Table, Text, bindparam, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from noodlings.errors import AgentElsewhere, StoreError
from noodlings.store.rows import Row
from noodlings.store.sql_database import SqlDatabase
from noodlings.store.transaction import Transaction
from noodlings.store.worker_key import WorkerKey

CHANNEL = "noodlings:"
"""Begins the name of the channel; what follows stands for the schema, as there may be a world in each."""
LEASE_SECONDS = 5.0
"""For so long a worker may be silent; then others serve its agents."""
BEAT_SECONDS = 1.0
_UNKNOWN = -1

log = logging.getLogger(__name__)

shared = MetaData()
"""The tables by which workers share agents; without workers nothing in them is needed."""

workers = Table(
    "workers",
    shared,
    Column("worker", Text, primary_key=True),
    Column("beats", BigInteger, nullable=False),
)
leases = Table(
    "leases",
    shared,
    Column("agent_id", Text, primary_key=True),
    Column("worker", Text, nullable=False),
    # Rises whenever the agent changes hands.
    Column("token", BigInteger, nullable=False),
    # Rises with every commit.
    Column("version", BigInteger, nullable=False),
)

living = select(workers.c.worker)

_of_agent = leases.c.agent_id == bindparam("of_agent")
_ours = _of_agent & (leases.c.worker == bindparam("of_worker")) & (leases.c.token == bindparam("of_token"))
_beat = insert(workers).values(beats=0)
BEAT = _beat.on_conflict_do_update(index_elements=["worker"], set_={"beats": workers.c.beats + 1}).returning(
    workers.c.beats
)
BEATS = select(workers)
STRIKE_OUT = delete(workers).where(
    workers.c.worker == bindparam("of_worker"), workers.c.beats == bindparam("of_beats")
)
LEFT = delete(workers).where(workers.c.worker == bindparam("of_worker"))
LEASE = select(leases.c.worker, leases.c.token, leases.c.version).where(_of_agent)
_claim = insert(leases).values(token=1, version=0)
CLAIM = _claim.on_conflict_do_update(
    index_elements=["agent_id"],
    set_={"worker": _claim.excluded.worker, "token": leases.c.token + 1},
    where=leases.c.worker.not_in(living),
)
GIVE = update(leases).where(_ours).values(worker=bindparam("to_worker"), token=leases.c.token + 1)
LOCK = select(func.pg_advisory_xact_lock(func.hashtext(bindparam("of_key", type_=Text))))
NOTIFY = select(func.pg_notify(func.concat(CHANNEL, func.md5(func.current_schema())), bindparam("told")))
COMMITTED = update(leases).where(_ours).values(version=leases.c.version + 1)


class Leases:
    """The agents of one worker. Safe to use from any thread; close it before the database.

    Args:
        apart: the same database over a connection of its own, for the heartbeat.

    Attributes:
        key: what others seal with for this worker alone.
        worker: its id, which no other process has.
        claims: how often each agent came to this worker.
    """

    def __init__(self, database: SqlDatabase, apart: SqlDatabase) -> None:
        self.key = WorkerKey()
        self.worker = self.key.worker
        self._database, self._apart = database, apart
        self.claims: Counter[str] = Counter()
        self._tokens: dict[str, int] = {}
        self._loaded: dict[str, int] = {}
        """The version of each agent as it was last loaded here."""
        self._stale: set[str] = set()
        """Agents that became ours after another worker had changed them, and were not loaded since."""
        self._closing = threading.Event()
        self._beats: dict[str, tuple[int, float]] = {}
        """The count of each worker, and since when it has not changed."""
        self._looked = time.monotonic()
        self._beat()
        self._beating = threading.Thread(target=self._keep_beating, name="heartbeat", daemon=True)
        self._beating.start()

    def holds(self, agent_id: str) -> bool:
        """Whether an agent belongs to this worker, as far as it knows."""
        return agent_id in self._tokens

    def claim(self, agent_id: str) -> bool:
        """Take an agent that belongs to nobody alive. Returns whether it is this worker's now."""
        if agent_id in self._tokens:
            return True
        with self._database.transaction() as transaction:
            transaction.run(CLAIM, {"agent_id": agent_id, "worker": self.worker})
            (lease,) = transaction.rows(LEASE, {"of_agent": agent_id})
        if lease["worker"] != self.worker:
            return False
        if self._loaded.get(agent_id, lease["version"]) != lease["version"]:
            self._stale.add(agent_id)
        self._tokens[agent_id] = lease["token"]
        self.claims[agent_id] += 1
        return True

    def verify(self, agent_id: str) -> bool:
        """Whether an agent still belongs to this worker, by the database."""
        with self._database.snapshot() as transaction:
            held = transaction.rows(LEASE, {"of_agent": agent_id})
        if not held or self._tokens.get(agent_id) != held[0]["token"]:
            self._lose(agent_id)
        return agent_id in self._tokens

    def give(self, agent_id: str, worker: str) -> None:
        """Hand over an agent, at which nothing is under way, to another worker, and tell all."""
        ours = self._ours(agent_id)
        self._lose(agent_id)
        with self._database.transaction() as transaction:
            transaction.run(GIVE, ours | {"to_worker": worker})
            tell(transaction, "given", agent_id)

    def fence(self, transaction: Transaction, agent_id: str) -> None:
        """Let a transaction write to an agent only if that is this worker's, and as it was loaded here.

        Raises:
            AgentElsewhere: it is another worker's, or another changed it since it was loaded.
        """
        if agent_id in self._stale:
            raise AgentElsewhere(agent_id)
        if not transaction.run(COMMITTED, self._ours(agent_id)):
            self._lose(agent_id)
            raise AgentElsewhere(agent_id)

    def will_change(self, transaction: Transaction, key: str) -> None:
        """Let nobody else change the world data under a key in this transaction; then all are told."""
        transaction.value(LOCK, {"of_key": key})
        tell(transaction, "changed", key)

    def will_load(self, agent_id: str) -> None:
        """Note the version of an agent that is about to be loaded."""
        self._loaded[agent_id] = self._version(agent_id)
        self._stale.discard(agent_id)

    def outdated(self, agent_id: str) -> bool:
        """Whether another worker has changed an agent since it was last loaded here."""
        if agent_id in self._tokens or agent_id not in self._loaded:
            return agent_id in self._stale
        return self._version(agent_id) != self._loaded[agent_id]

    def close(self) -> None:
        """Let go of everything, so that others need not wait. A second time it does nothing."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._beating.join()
        self._tokens.clear()
        try:
            with self._database.transaction() as transaction:
                transaction.run(LEFT, {"of_worker": self.worker})
                tell(transaction, "left")
        except StoreError as error:
            log.warning("the agents of this worker are free only in %d s: %s", LEASE_SECONDS, error)

    def _ours(self, agent_id: str) -> Row:
        return {"of_agent": agent_id, "of_worker": self.worker, "of_token": self._tokens.get(agent_id, 0)}

    def _lose(self, agent_id: str) -> None:
        self._tokens.pop(agent_id, None)
        self._loaded[agent_id] = _UNKNOWN

    def _version(self, agent_id: str) -> int:
        with self._database.snapshot() as transaction:
            lease = transaction.rows(LEASE, {"of_agent": agent_id})
        return lease[0]["version"] if lease else 0

    def _keep_beating(self) -> None:
        while not self._closing.wait(BEAT_SECONDS):
            try:
                self._beat()
            except StoreError as error:
                log.warning("this worker cannot say that it is alive: %s", error)
            except Exception:
                log.exception("a heartbeat failed")

    def _beat(self) -> None:
        """Say that this worker is alive, and strike out those that are not."""
        with self._apart.transaction() as transaction:
            if transaction.value(BEAT, {"worker": self.worker}) == 0:
                for agent_id in list(self._tokens):  # this worker was struck out, and others may have them
                    self._lose(agent_id)
            now, before = time.monotonic(), self._beats
            # While the database was away, or this process stood still, nobody could be seen alive.
            before = before if now - self._looked < LEASE_SECONDS else {}
            self._looked, self._beats = now, {}
            for row in transaction.rows(BEATS, {}):
                worker, beats = row["worker"], row["beats"]
                known, since = before.get(worker, (beats, now))
                self._beats[worker] = beats, since if known == beats else now
                if known == beats and now - since > LEASE_SECONDS:
                    transaction.run(STRIKE_OUT, {"of_worker": worker, "of_beats": beats})


def tell(transaction: Transaction, *words: str) -> None:
    """Tell all workers something short when the transaction is committed."""
    transaction.value(NOTIFY, {"told": json.dumps(words)})
