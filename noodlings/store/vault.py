"""Encryption of the tables: words, and what is made of words, are sealed when written and opened when read.

The words of an entry are sealed from a tier on (`Encryption.from_tier`). What is made of several entries
(states, traces, vectors, symbols, the state of the world) is sealed wherever there is a key, because nobody
can say what it contains. Ids, times and numbers stay plain: the database sorts by them.

`Vault.renew` makes a new data key, and `Database.reseal` seals with it whatever is still plain or sealed with
an older one, some hundred rows in a transaction. If the process dies on the way nothing is lost, and the next
one continues. Older keys are deleted when nothing needs them any more.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from noodlings.config import StoreSettings
from noodlings.errors import StoreError, UserError
from noodlings.store import statements as sql
from noodlings.store.cipher import DataKey, Unopened, UserKey, header, place, sealed_with
from noodlings.store.keys import UserKeys
from noodlings.store.packing import packed_vector, unpacked_vectors
from noodlings.store.rows import WHAT, Row, Stored, Value
from noodlings.store.tables import metadata
from noodlings.values.audience import Tier

if TYPE_CHECKING:
    from noodlings.store.transaction import Transaction

KeptKeys = Sequence[tuple[int, str, bytes, int | None]]
KEPT_KEYS = "SELECT number, key_id, wrapped, sealed_from FROM keys ORDER BY number"
"""The data keys of a database, the newest last."""

log = logging.getLogger(__name__)

AT_ONCE = 200
"""Rows that are sealed anew in one transaction: an event waits for so many at most."""


@dataclass(frozen=True, slots=True)
class Encryption:
    """How the words of a data folder are encrypted.

    Attributes:
        from_tier: entries from this tier on are encrypted, secret ones in any case.
        keys: the user's keys. Without any, nothing is encrypted and nothing secret is stored.
    """

    from_tier: Tier = Tier.SECRET
    keys: UserKeys = field(default_factory=UserKeys)

    @classmethod
    def of(cls, settings: StoreSettings) -> Encryption:
        """As the settings say."""
        return cls(settings.encrypted_from, UserKeys(settings.key.get_secret_value(), settings.key_file))

    def require_key(self) -> None:
        """Raise `UserError` where entries are to be encrypted and there is no key."""
        if self.from_tier < Tier.SECRET and not self.keys.read():
            raise UserError(
                "store.encrypt asks for encryption, but there is no key: make one with noodlings key new FILE"
                " and set store.key_file to that file"
            )


@dataclass(frozen=True, slots=True)
class _Sealed:
    """The sealed columns of a table.

    Attributes:
        key: the columns that say which row it is.
        texts, blobs: the columns, by what they hold when they are open.
        names: columns of the key that hold words, last in it. The same name is sealed to the same bytes.
    """

    key: tuple[str, ...]
    texts: tuple[str, ...]
    blobs: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them, the names first: with them the others are opened."""
        return (*self.names, *self.texts, *self.blobs)

    def place(self, table: str, name: str, key: Sequence[int | str]) -> bytes:
        """Where a value of the row with this key belongs. A name goes with what stands before it there."""
        return place(table, name, *(key[: self.key.index(name)] if name in self.names else key))


TABLES: Mapping[str, _Sealed] = {
    "entries": _Sealed(("agent_id", "id"), ("user_text", "response", "extra", "place", "source")),
    "traces": _Sealed(("agent_id", "entry_id"), ("document",), ("packed",)),
    "vectors": _Sealed(("agent_id", "entry_id"), ("reason",), ("vector",)),
    "symbols": _Sealed(("agent_id", "id"), ("literal_event", "symbolic_encoding")),
    "source_records": _Sealed(
        ("agent_id", "source", "record_id"),
        ("record", "reason", "digest"),
        names=("source", "record_id"),
    ),
    "agents": _Sealed(("agent_id",), ("state",)),
    "world": _Sealed(("key",), ("value",)),
}
"""Every column that may hold words. An empty value is not sealed."""


class Vault:
    """The data keys of one open database. Safe to use from any thread.

    Args:
        kept: reads the rows of `KEPT_KEYS`.
        encryption: the user's keys, and what they are for.

    Raises:
        StoreError: the database needs a key, or another one. Nothing was changed.
    """

    def __init__(self, kept: Callable[[], KeptKeys], encryption: Encryption) -> None:
        self._kept = kept
        self._encryption = encryption
        self._keys: dict[int, DataKey] = {}
        self._current: DataKey | None = None
        self._read: tuple[UserKey, ...] = ()
        self._stamp: object = None
        self.key_id = ""
        """The id of the user's key in use: not yet their newest one if that was not taken up."""
        self.due = False
        """Whether something is still to be sealed; `reseal` does it."""
        self.behind = False
        """Whether `renew` has something to do."""
        self.load()

    @property
    def encrypts(self) -> bool:
        """Whether there is a key. Without one nothing secret can be kept."""
        return self._current is not None

    def fingerprint(self, value: bytes) -> bytes:
        """A hash, with the key if there is one; it changes with the key."""
        return hashlib.sha256(value).digest() if self._current is None else self._current.fingerprint(value)

    @property
    def newest(self) -> int:
        """The number of the data key that new values are sealed with; 0 where there is none."""
        return 0 if self._current is None else self._current.number

    @property
    def _key(self) -> DataKey:
        """The key that new values are sealed with."""
        if self._current is None:
            raise StoreError("there is no key to encrypt with")
        return self._current

    def load(self) -> KeptKeys:
        """Read the keys, the user's and those of the database, which are returned."""
        self._stamp = self._encryption.keys.stamp()
        self._read = self._encryption.keys.read()
        by_id = {key.id: key for key in self._read}
        kept = self._kept()
        for number, key_id, wrapped, _ in kept:
            if key_id not in by_id:
                if number in self._keys:
                    continue
                raise StoreError(_other_key(key_id, list(by_id)))
            try:
                self._keys[number] = by_id[key_id].unwrap(wrapped, number)
            except Unopened:
                raise StoreError(
                    f"data key {number} of the database is damaged; put a backup in its place"
                ) from None
        from_tier, newest = self._encryption.from_tier, self._read[0].id if self._read else ""
        if kept:
            number, self.key_id, _, sealed_from = kept[-1]
            self._current = self._keys[number]
            newer = newest not in ("", self.key_id)
            self.due = newer or len(kept) > 1 or sealed_from is None or sealed_from > from_tier
            self.behind = newer or (bool(newest) and sealed_from is not None and sealed_from < from_tier)
        else:
            self.behind = bool(newest)
        return kept

    def changed(self) -> bool:
        """Whether the user's keys may have changed since they were read."""
        return self._encryption.keys.stamp() != self._stamp

    def renew(self, transaction: Transaction) -> None:
        """Make a data key where the user's newest key has none yet.

        The older data keys are then wrapped with the user's newest key too, so their older key is not needed
        any more. Rows with names are sealed with the new one at once.
        """
        kept = self.load()
        if not self.behind:
            return
        newest, from_tier = self._read[0], int(self._encryption.from_tier)
        if kept and kept[-1][1] == newest.id:  # less is sealed from now on
            transaction.run(sql.CHANGE_KEYS, {"sealed_from": from_tier})
            self.behind = False
            return
        made, before = DataKey.new(kept[-1][0] + 1 if kept else 1), self._current
        try:
            for number, *_ in kept:
                wrapped = self._keys[number].wrapped(newest)
                changed = {"of_number": number, "key_id": newest.id, "wrapped": wrapped}
                transaction.run(sql.CHANGE_KEY, changed)
            added = {"number": made.number, "key_id": newest.id, "wrapped": made.wrapped(newest)}
            transaction.run(sql.ADD_KEY, added)
            self._keys[made.number] = self._current = made
            self._reseal_named(transaction)
        except BaseException:
            self._current = before
            raise
        self.due, self.behind = True, False

    def _reseal_named(self, transaction: Transaction) -> None:
        """Seal all rows with names: they are looked for under one key only."""
        for table in (table for table, columns in TABLES.items() if columns.names):
            after, some = None, 1
            while some:
                after, some = self.reseal_some(transaction, table, after)

    def sealed(self, table: str, row: Row) -> Row:
        """A row as it is written, all of it or the columns that change.

        Args:
            row: open, with its key or `of_agent` and `of_id` in place of that.

        Raises:
            StoreError: it is secret, and there is no key.
        """
        if self._current is None:
            if row.get("tier", 0) >= Tier.SECRET:
                raise StoreError("a secret memory cannot be kept without a key (noodlings key new makes one)")
            return row
        if table not in TABLES or (
            table == "entries" and row.get("tier", Tier.SEALED) < self._encryption.from_tier
        ):
            return row
        columns, changed = TABLES[table], dict(row)
        for name in columns.columns:
            value = row.get(name)
            sealed_already = name in columns.texts and isinstance(value, bytes)
            if value and not sealed_already:
                key = [row[_GIVEN_AS[part] if part not in row else part] for part in columns.key]
                plain = value.encode() if isinstance(value, str) else value
                changed[name] = self._current.seal(
                    plain, columns.place(table, name, key), name in columns.names
                )
        return changed

    def may_be_plain(self, tier: int) -> bool:
        """Whether an entry that has this tier now is to be sealed, and may have been written plain."""
        return self._current is not None and Tier.OPEN < self._encryption.from_tier <= tier

    def opened(self, table: str, row: Stored) -> Stored:
        """A row as it was before it was sealed. Raises `StoreError` where it cannot be opened."""
        columns = TABLES[table]
        open_row: dict[str, Any] | None = None
        for name in columns.columns:
            value = row.get(name)
            if isinstance(value, bytes) and (name not in columns.blobs or _is_sealed(name, value)):
                open_row = dict(row) if open_row is None else open_row
                plain = self._open(value, table, name, *(open_row[part] for part in columns.key))
                open_row[name] = plain if name in columns.blobs else _text(plain, f"{table}.{name}")
        return row if open_row is None else open_row

    def reading(self, table: str, read: Callable[[Stored], Value]) -> Callable[[Stored], Value]:
        """A function that opens a row of a table and then reads it with `read`."""
        return lambda row: read(self.opened(table, row))

    def text(self, value: Any, table: str, column: str, *key: int | str) -> Any:
        """One text of the row with this key, opened if it is sealed."""
        if not isinstance(value, bytes):
            return value
        return _text(self._open(value, table, column, *key), f"{table}.{column}")

    def opened_columns(self, agent_id: str, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Rows of `noodlings.store.statements.COLUMNS`, opened fast: a hundred thousand are read at once.

        Raises:
            StoreError: something cannot be opened; reading row by row tells what.
        """
        if self._current is None:
            return rows
        columns = [(at, name, place(table, name, agent_id, "")) for at, table, name in _SEARCHED]
        opened = []
        try:
            for row in rows:
                changed, number = list(row), str(row[0]).encode()
                for at, name, before in columns:
                    value = row[at]
                    if type(value) is bytes and (name != "vector" or _is_sealed(name, value)):
                        plain = self._keys[sealed_with(value) or 0].open(value, before + number)
                        changed[at] = plain if name == "vector" else plain.decode()
                opened.append(tuple(changed))
        except (KeyError, Unopened, UnicodeDecodeError):
            raise StoreError("part of the archive cannot be opened") from None
        return opened

    def _open(self, value: bytes, table: str, column: str, *key: int | str) -> bytes:
        number = sealed_with(value) or 0
        if number not in self._keys:
            self.load()  # another process may have changed the key since
        try:
            return self._keys[number].open(value, TABLES[table].place(table, column, key))
        except (KeyError, Unopened):
            what = WHAT[table].format_map(dict(zip(TABLES[table].key, key, strict=True)))
            raise StoreError(f"{what} is damaged: {table}.{column} cannot be read") from None

    def reseal_some(
        self, transaction: Transaction, table: str, after: tuple[Any, ...] | None
    ) -> tuple[tuple[Any, ...] | None, int]:
        """Seal the next rows of a table that are due.

        Args:
            after: the key of the row after which to go on; None to begin.

        Returns:
            The key of the last row that was looked at, and how many were; none when all are done.
        """
        columns = TABLES[table]
        names, parts, newest = columns.columns, len(columns.key), header(self._key.number)
        wanted: Row = {f"after_{name}": value for name, value in zip(columns.key, after or (), strict=False)}
        wanted |= {"limit": AT_ONCE, "text_header": newest}
        wanted |= {"bytes_header": newest} if columns.blobs else {}
        wanted |= {"from_tier": int(self._encryption.from_tier)} if table == "entries" else {}
        kept_in = metadata.tables[table]
        found = transaction.tuples(sql.due(kept_in, columns.key, names, begun=after is not None), wanted)
        alike: dict[tuple[str, ...], list[Row]] = {}  # by the columns that change
        for row in found:
            key, changed = row[:parts], Row()
            try:
                named = tuple(self.opened(table, dict(zip(columns.key, key, strict=True))).values())
            except (StoreError, ValueError) as error:
                log.warning("left as it is: %s", error)
                continue
            for name, value in zip(names, row[parts:], strict=True):
                try:
                    if value:
                        changed[name] = self._resealed(table, name, named, value)
                except (StoreError, ValueError) as error:
                    log.warning("left as it is: %s", error)
            if changed:
                same = {f"of_{name}": value for name, value in zip(columns.key, key, strict=True)}
                alike.setdefault(tuple(changed), []).append(same | changed)
        for rows in alike.values():
            transaction.run_sealed(sql.resealed(kept_in, columns.key), rows)
        return (found[-1][:parts] if found else after), len(found)

    def _resealed(self, table: str, name: str, key: tuple[Any, ...], kept: bytes | str) -> bytes:
        """The value of a column, sealed with the current key."""
        value = kept.encode() if isinstance(kept, str) else kept
        plain = self._open(value, table, name, *key) if _is_sealed(name, value) else value
        if name == "vector" and len(plain) % 2 == 0:  # sealed, it could not be told from one that is not
            plain = packed_vector(unpacked_vectors([plain])[0])
        columns = TABLES[table]
        return self._key.seal(plain, columns.place(table, name, key), name in columns.names)

    def settle(self, transaction: Transaction) -> bool:
        """Note that everything is sealed, and delete the older keys; whether there were any."""
        transaction.run(sql.CHANGE_KEYS, {"sealed_from": int(self._encryption.from_tier)})
        dropped = transaction.run(sql.DROP_KEYS, {"of_number": self._key.number})
        self.due = False
        return dropped > 0


_GIVEN_AS = {"agent_id": "of_agent", "id": "of_id", "entry_id": "of_id"}
"""How the statements that change a row name the columns that say which."""
_SEARCHED = (
    (3, "entries", "user_text"),
    (4, "entries", "response"),
    (8, "entries", "place"),
    (11, "entries", "extra"),
    (12, "vectors", "vector"),
    (14, "vectors", "reason"),
)
"""Where the sealed columns stand in `noodlings.store.statements.COLUMNS`."""


def _is_sealed(name: str, value: bytes) -> bool:
    return sealed_with(value) is not None and (name != "vector" or len(value) % 2 == 1)


def _text(value: bytes, what: str) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise StoreError(f"{what} is damaged: it is not UTF-8") from None


def _other_key(needed: str, given: Collection[str]) -> str:
    """In words, which key is missing."""
    here = f"the key given is {' and '.join(given)}" if given else "no key was given"
    return (
        f"the database is encrypted with key {needed}, but {here}: set store.key_file or"
        " NOODLINGS_STORE__KEY to that key. Nothing was changed"
    )
