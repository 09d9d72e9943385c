"""Moving: every row of one database goes into another, an empty one, and is read back and compared.

What is sealed is copied as it is, with the data keys: its place in a table does not change. Only the numbers
of rows that nothing refers to are given anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from itertools import islice, zip_longest
from pathlib import Path

from sqlalchemy import Boolean, Table, func, insert, select

from noodlings.errors import StoreError, UserError
from noodlings.store.opening import name_of, open_database, require_kept
from noodlings.store.rows import Row
from noodlings.store.statements import Spelled
from noodlings.store.tables import entries, events, metadata
from noodlings.store.transaction import Transaction
from noodlings.store.vault import TABLES, Encryption

AT_ONCE = 500
"""Rows that are held in memory."""
_OWN_NUMBERS = (entries.c.row_id, events.c.event_id)


def move(
    source: Path | str,
    target: Path | str,
    encryption: Encryption,
    progress: Callable[[int], object] = lambda hundredths: None,
) -> Mapping[str, int]:
    """Copy everything from one folder or URL into another, in one transaction, and compare it row by row.

    The source is brought up to date as at a start, and stays.

    Args:
        encryption: the keys of the source.
        progress: called with how many hundredths of it are done.

    Returns:
        Table → how many rows it has.

    Raises:
        NotFound: there is nothing in the source.
        UserError: there is something in the target already.
        StoreBusy: another process writes in one of them.
        StoreError: a row cannot be read or kept, or came out as another. Nothing is in the target then.
    """
    done = 0
    with (
        closing(open_database(require_kept(source), encryption=encryption)) as old,
        old.snapshot() as reading,
        closing(open_database(target, "full")) as new,
        new.transaction() as writing,
    ):
        if any(_count(writing, table) for table in metadata.sorted_tables):
            raise UserError(f"{name_of(target)} is not empty: move to another folder or database")
        counts = {name: _count(reading, table) for name, table in metadata.tables.items()}
        of = 2 * sum(counts.values())
        for table in metadata.sorted_tables:
            rows, added = _rows(reading, table), insert(table)
            while some := list(islice(rows, AT_ONCE)):
                writing.run_sealed(added, some)
                done += len(some)
                progress(100 * done // of)
        for table in metadata.sorted_tables:
            for row, copy in zip_longest(_rows(reading, table), _rows(writing, table)):
                if row != copy:
                    raise StoreError(
                        f"a row of {table.name} is another in {name_of(target)} than in {name_of(source)},"
                        " so nothing was moved: noodlings check says whether one of them is damaged"
                    )
                done += 1
                if done % AT_ONCE == 0:
                    progress(100 * done // of)
    progress(100)
    return counts


def _count(transaction: Transaction, table: Table) -> int:
    return int(transaction.value(select(func.count()).select_from(table), {}))


def _rows(transaction: Transaction, table: Table) -> Iterator[Row]:
    """All rows of a table, in an order that is the same in every database."""
    truths = [column.name for column in table.columns if isinstance(column.type, Boolean)]
    sealed = TABLES[table.name].names if table.name in TABLES else ()
    key = (entries.c.agent_id, entries.c.id) if table is entries else tuple(table.primary_key)
    order = [Spelled("sorted_bytes", column) if column.name in sealed else column for column in key]
    every = select(*(column for column in table.columns if column not in _OWN_NUMBERS)).order_by(*order)
    for row in transaction.each(every, {}):
        yield row | {name: bool(row[name]) for name in truths if row[name] is not None}
