"""What workers share in a PostgreSQL database beside its records: leases, the outbox, and rate limits."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import Boolean, Column, DateTime, Float, Table, Text, bindparam, case, delete, func, text
from sqlalchemy.dialects.postgresql import insert

from noodlings.errors import StoreError
from noodlings.store.leases import CHANNEL, Leases, shared
from noodlings.store.outbox import DROP_OLD, Outbox

if TYPE_CHECKING:
    from noodlings.store.postgres import PostgresDatabase

LISTEN_SECONDS = 0.5
"""How long a listener that is to end waits for the next notification."""

log = logging.getLogger(__name__)

# A token bucket for each caller of any worker.
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


class Sharing:
    """What one worker takes part in. Safe to use from any thread; close it before the database."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        database.add_tables(shared)
        self._apart = database.apart()
        self.leases = Leases(database, self._apart)
        self.outbox = Outbox(database, self.leases.key)

    def take_request(self, caller: str, per_second: float, most: float) -> float:
        """Count a request to any worker, see `noodlings.ports.Ownership`."""
        with self._database.transaction() as transaction:
            held: float = transaction.value(TAKE, {"caller": caller, "most": most, "per_second": per_second})
        return 0.0 if held < 0 else (1.0 - held) / per_second

    @contextmanager
    def waking(self, loop: asyncio.AbstractEventLoop, hear: Callable[[list[str]], None]) -> Iterator[None]:
        """Call `hear` in the loop with what any worker tells all, until the end of the block.

        It is heard on a connection of its own. Where that broke it is opened anew, and what was told
        meanwhile is not heard. So `hear` is called with "listening" whenever it begins.
        """
        ended = threading.Event()

        def listen() -> None:
            while not ended.is_set():
                try:
                    with closing(self._database.notifications(CHANNEL, LISTEN_SECONDS)) as notifications:
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

        threading.Thread(target=listen, name="hearing other workers", daemon=True).start()
        try:
            yield
        finally:
            ended.set()  # it ends within half a second; to join it would hold up the loop

    def tidy(self) -> None:
        """Delete requests that nobody waits for any more, and buckets that are full by now."""
        with self._database.transaction() as transaction:
            transaction.run(DROP_OLD, {})
            transaction.run(DROP_FULL, {})

    def close(self) -> None:
        """Let go of everything. A second time it does nothing."""
        self.leases.close()
        self._apart.close()
