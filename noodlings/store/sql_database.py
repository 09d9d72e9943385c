"""What the store needs of a database, SQLite or PostgreSQL, and how both change the keys that seal it."""

from __future__ import annotations

import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, ClassVar

from noodlings.errors import StoreError, UserError
from noodlings.store.tables import SCHEMA
from noodlings.store.transaction import Transaction
from noodlings.store.vault import TABLES, Vault

if TYPE_CHECKING:
    from noodlings.store.sharing import Sharing

log = logging.getLogger(__name__)


class SqlDatabase(ABC):
    """An open database. Safe to use from any thread.

    Attributes:
        name: what it is called in messages; never with a password.
        setting: what says which it is.
        read_only: whether nothing is written.
        vault: the keys.
        opens_sealed: whether its statements can open what is sealed.
    """

    name: str
    setting: ClassVar[str]
    read_only: bool
    vault: Vault
    opens_sealed: ClassVar[bool] = True

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Transaction]:
        """All of the block is written, or nothing of it.

        Raises:
            StoreError: the database refused or cannot be reached, or it is closed.
        """

    def renewal(self) -> AbstractContextManager[Transaction]:
        """A transaction beside which nobody writes. Raises `StoreError` as `transaction` does."""
        return self.transaction()

    def snapshot(self) -> AbstractContextManager[Transaction]:
        """What is read in the block is as of one moment. Raises `StoreError` as `transaction` does."""
        return self.transaction()

    @abstractmethod
    def mark_for_erasure(self, transaction: Transaction) -> None:
        """The bytes of what the transaction deletes must leave the disk, even if we are killed after it."""

    @abstractmethod
    def erase(self) -> bool:
        """Let no byte be left of what was deleted. True when that is done."""

    @abstractmethod
    def empty_log(self) -> bool:
        """Let the log hold nothing that was replaced. True when that is done, or is not ours to do."""

    def sharing(self) -> Sharing:
        """How this process shares the database with others. Raises `UserError`."""
        raise UserError("several workers need a PostgreSQL database: set store.url, see docs/scale.md")

    @abstractmethod
    def close(self) -> None:
        """Let go of it. A second time it does nothing."""

    def outdated(self, schema: str) -> bool:
        """Whether tables of this revision are to be migrated.

        Raises:
            StoreError: they are foreign or newer, or older and it is read-only.
        """
        if not re.fullmatch("[0-9]{4}", schema):
            raise StoreError(
                f"{self.name} is not a noodlings database (schema {schema!r}); check {self.setting}"
            )
        if schema > SCHEMA:
            raise StoreError(
                f"{self.name} was made by a newer noodlings (schema {schema}; this one knows {SCHEMA});"
                f" update noodlings, or use another database ({self.setting})"
            )
        if self.read_only and schema != SCHEMA:
            raise StoreError(f"{self.name} is from an older version; update it with noodlings play")
        return schema != SCHEMA

    def renew_keys(self) -> bool:
        """Read the user's keys again; whether `reseal` has something to do.

        Raises:
            UserError, StoreError: they are no keys, or not those of this database. The old ones stay in use.
        """
        with self.renewal() as transaction:
            self.vault.load()
            if not self.read_only:
                self.vault.renew(transaction)
        return not self.read_only and self.vault.due

    def reseal(self, stopped: Callable[[], bool] = lambda: False) -> int:
        """Seal with the newest key whatever is plain or sealed with an older one, and erase what was there.

        Others who use the database wait for some hundred rows at most. If it is stopped or killed, the next
        call continues. Returns how many rows were written.

        Args:
            stopped: asked now and then.
        """
        written, newest = 0, self.vault.key_id
        for table in TABLES:
            after, some = None, 1
            while some:
                if stopped():
                    return written
                with self.transaction() as transaction:
                    after, some = self.vault.reseal_some(transaction, table, after)
                written += some
        with self.transaction() as transaction:
            if self.vault.key_id != newest:  # another process made a newer one meanwhile, and seals with it
                return written
            dropped = self.vault.settle(transaction)
            if written or dropped:
                self.mark_for_erasure(transaction)
        if written or dropped:
            self.erase()
            log.info("%s: %d records were encrypted with the newest key", self.name, written)
        return written
