"""What workers share in a PostgreSQL database beside its records: leases, the outbox, and rate limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Boolean, Column, DateTime, Float, Table, Text, bindparam, case, delete, func, text
from sqlalchemy.dialects.postgresql import insert

from noodlings.store.leases import Leases, shared
from noodlings.store.outbox import DROP_OLD, Listener, Outbox
from noodlings.store.sql_database import SqlDatabase

if TYPE_CHECKING:
    from noodlings.store.postgres import PostgresDatabase

# Not worth a write to the log: after a crash every bucket is full again.
rates = Table(
    "rates",
    shared,
    Column("caller", Text, primary_key=True),
    Column("held", Float, nullable=False),
    Column("granted", Boolean, nullable=False),
    Column("since", DateTime(timezone=True), nullable=False),
    prefixes=["UNLOGGED"],
)
_now = func.clock_timestamp()
_most, _per_second = bindparam("most", type_=Float), bindparam("per_second", type_=Float)
_seconds = func.greatest(func.extract("epoch", _now - rates.c.since), 0)
_filled = func.least(rates.c.held + _seconds * _per_second, _most)
_new = insert(rates).values(held=_most - 1, granted=True, since=_now)
TAKE = _new.on_conflict_do_update(
    index_elements=["caller"],
    set_={"held": case((_filled >= 1, _filled - 1), else_=_filled), "granted": _filled >= 1, "since": _now},
).returning(case((rates.c.granted, -1.0), else_=rates.c.held))
DROP_FULL = delete(rates).where(rates.c.since < _now - text("interval '10 minutes'"))


class SharedRates:
    """A token bucket for each caller of any worker. Safe to use from any thread."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def take(self, caller: str, per_second: float, most: float) -> float:
        """Count one request. Returns 0 if it is allowed, else the seconds to wait.

        Args:
            per_second: how many requests each caller may make.
            most: what a full bucket holds, 1 at least.
        """
        with self._database.transaction() as transaction:
            held: float = transaction.value(TAKE, {"caller": caller, "most": most, "per_second": per_second})
        return 0.0 if held < 0 else (1.0 - held) / per_second


class Sharing:
    """What one worker takes part in. Close it before the database."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        database.add_tables(shared)
        self._apart = database.apart()
        self.leases = Leases(database, self._apart)
        self.outbox = Outbox(database, self.leases.key)
        self.rates = SharedRates(database)
        self.listener = Listener(database.notifications)

    def tidy(self) -> None:
        """Delete requests that nobody waits for any more, and buckets that are full by now."""
        with self._database.transaction() as transaction:
            transaction.run(DROP_OLD, {})
            transaction.run(DROP_FULL, {})

    def close(self) -> None:
        """Let go of everything. A second time it does nothing."""
        self.leases.close()
        self._apart.close()
