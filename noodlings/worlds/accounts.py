"""Who may come into the world over the wire: names, roles, and passwords of which only a hash is kept.

In a file of its own (`accounts.json` in the data folder), so that the command line can change it while a
server runs: it is read anew each time, and written whole under a lock. Whoever makes an account over the wire
is a player; only the command line gives another role.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from filelock import FileLock

from noodlings.aside import written_whole
from noodlings.errors import NotFound, StoreError, UserError
from noodlings.text import clean, shorten
from noodlings.values.caller import Caller, Role, user_id_of

FILE_NAME = "accounts.json"
VERSION = 1
MOST = 100_000
"""Accounts of one world."""
SHORTEST, LONGEST = 8, 128
"""Characters of a password."""
COST = 15
"""scrypt works 2^COST times over 8 · 128 bytes: 32 MB and about a tenth of a second."""
ROLES = (Role.PLAYER, Role.VIEWER, Role.ADMIN)

_NAME = re.compile(r"[^\W\d_][\w'’-]{1,19}")
_BLOCK = 8


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody who may come in.

    Attributes:
        name: as shown.
        role: what it may do.
        salt, key: hexadecimal; the key is scrypt of the password.
        cost: the power of two that scrypt was asked for.
    """

    name: str
    role: Role
    salt: str
    key: str
    cost: int

    @property
    def caller(self) -> Caller:
        """Who this is to commands and minds."""
        return Caller(user_id_of(self.name), self.name, self.role)


class Accounts:
    """The accounts of a data folder. Checking and making take long: on a thread of their own.

    Args:
        folder: where the file is.
        cost: see `Account`; of passwords that are set from now on.
    """

    def __init__(self, folder: Path, cost: int = COST) -> None:
        self._path = folder / FILE_NAME
        self._cost = cost
        self._lock = FileLock(folder / f"{FILE_NAME}.lock", thread_local=False, timeout=10)
        self._nobody = Account("", Role.PLAYER, secrets.token_hex(16), "", cost)

    def all(self) -> list[Account]:
        """Everybody, by name. Raises `StoreError`."""
        return sorted(self._read().values(), key=lambda account: account.name.casefold())

    def find(self, name: str) -> Account:
        """By name, in any case. Raises `NotFound`."""
        account = self._read().get(user_id_of(_folded(name)))
        if account is None:
            raise NotFound(f"there is no account {shorten(clean(name), 30)}")
        return account

    def check(self, name: str, password: str) -> Account | None:
        """The account, if the password is right. It takes as long for a name that nobody has."""
        account = self._read().get(user_id_of(_folded(name)))
        asked = account or self._nobody
        right = hmac.compare_digest(_key(password, asked.salt, asked.cost), asked.key)
        return account if account is not None and right else None

    def create(self, name: str, password: str, role: Role = Role.PLAYER) -> Account:
        """Make an account. Raises `UserError` when name or password will not do, or the name is taken."""
        name = check_name(name)
        account = _hashed(name, _good(password), role, self._cost)
        with self._changing() as accounts:
            if account.caller.user_id in accounts:
                raise UserError(f"somebody is called {name} already; choose another name")
            if len(accounts) >= MOST:
                raise UserError("there is no room for another account")
            accounts[account.caller.user_id] = account
        return account

    def change(self, name: str, *, role: Role | None = None, password: str | None = None) -> Account:
        """Give an account another role or password. Raises `UserError`."""
        before = self.find(name)
        after = before if password is None else _hashed(before.name, _good(password), before.role, self._cost)
        after = after if role is None else replace(after, role=role)
        with self._changing() as accounts:
            accounts[after.caller.user_id] = after
        return after

    def remove(self, name: str) -> None:
        """Take an account away; what the characters remember of it stays. Raises `NotFound`."""
        account = self.find(name)
        with self._changing() as accounts:
            accounts.pop(account.caller.user_id, None)

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Account]]:
        """The accounts, to be changed and kept."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._lock:
                accounts = self._read()
                yield accounts
                kept = {"version": VERSION, "accounts": {who: asdict(one) for who, one in accounts.items()}}
                with written_whole(self._path) as aside:
                    aside.write_text(json.dumps(kept, ensure_ascii=False, indent=1), encoding="utf-8")
        except OSError as error:
            raise StoreError(f"{self._path} cannot be written: {error}") from None

    def _read(self) -> dict[str, Account]:
        try:
            kept = json.loads(self._path.read_text(encoding="utf-8"))
            if kept["version"] != VERSION:
                raise StoreError(
                    f"{self._path} is of version {kept['version']}; this program knows {VERSION}"
                )
            return {who: _account(one) for who, one in kept["accounts"].items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(f"{self._path} cannot be read: {error}") from None


def check_name(name: str) -> str:
    """A name as it will be shown. Raises `UserError` when it will not do."""
    name = unicodedata.normalize("NFKC", clean(name))
    if not _NAME.fullmatch(name) or name.casefold().startswith("user_"):
        raise UserError("a name is one word of 2 to 20 letters, digits, - and ', and begins with a letter")
    return name


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", clean(name))


def _good(password: str) -> str:
    if not SHORTEST <= len(password) <= LONGEST:
        raise UserError(f"a password has {SHORTEST} to {LONGEST} characters")
    return password


def _hashed(name: str, password: str, role: Role, cost: int) -> Account:
    salt = secrets.token_hex(16)
    return Account(name, role, salt, _key(password, salt, cost), cost)


def _key(password: str, salt: str, cost: int) -> str:
    """scrypt (RFC 7914) of the password as it may be typed on any keyboard (NFKC)."""
    typed = unicodedata.normalize("NFKC", password[:LONGEST]).encode("utf-8", "replace")
    room = 2 * 128 * _BLOCK * 2**cost
    return hashlib.scrypt(
        typed, salt=bytes.fromhex(salt), n=2**cost, r=_BLOCK, p=1, maxmem=room, dklen=32
    ).hex()


def _account(kept: dict[str, Any]) -> Account:
    return Account(kept["name"], Role(kept["role"]), kept["salt"], kept["key"], int(kept["cost"]))
