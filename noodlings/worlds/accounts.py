"""Accounts of players: names, roles, and passwords of which only a hash is kept.

They are in a file of their own (`accounts.json` in the data folder), so that the command line can change it
while a server runs: it is read again when it has changed, and written whole under a lock. Whoever makes an
account over the wire is a player and a new user; only the command line gives another role, or joins an
account to a user that a world knows.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from argon2 import Parameters, PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError, VerifyMismatchError
from argon2.profiles import RFC_9106_LOW_MEMORY
from filelock import FileLock

from noodlings.errors import NotFound, StoreError, UserError
from noodlings.files import atomic_write
from noodlings.lookalikes import is_mistakable
from noodlings.text import clean, folded, shorten
from noodlings.values.caller import API_PREFIX, Caller, Role, account_id_of, is_account_id, is_reserved_id
from noodlings.worlds.beings import require_name

FILE_NAME = "accounts.json"
VERSION = 2
MOST = 100_000
"""Accounts of one world."""
SHORTEST, LONGEST = 8, 128
"""Characters of a password."""


_NAME = re.compile(r"[^\W\d_][\w'’-]{1,19}")
_RESERVED = re.compile(r"(user|api)_.*|game|admin|world|viewer|player")
"""Names that are ids of others, or words for somebody."""
_SCRYPT = "$scrypt$"
_UNKNOWN = {_SCRYPT: f"${'0' * 32}${'0' * 64}", "$argon2id$": f"${'A' * 22}${'A' * 43}"}
"""By algorithm: a salt and hash that no password has."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody who may log in.

    Attributes:
        hash: of the password, with algorithm, cost and salt in it ("$argon2id$v=19$m=65536,t=3,p=4$…"); "" if
            the account was removed. Nobody else gets its name and id.
        user_id: as in percepts and memory entries; it never changes by itself.
        joined: an admin said that this is the user whom worlds and tokens call so.
    """

    name: str
    role: Role
    hash: str
    user_id: str
    joined: bool = False

    @property
    def caller(self) -> Caller:
        """Who this is to commands and minds."""
        return Caller(self.user_id, self.name, self.role)


@dataclass(frozen=True, slots=True)
class _Seen:
    """The file as it was last read.

    Attributes:
        version: tells one state of the file from another.
        accounts: by folded name; not to be changed.
        owned: ids of accounts that were not joined.
    """

    version: tuple[int, int, int]
    accounts: Mapping[str, Account]
    owned: frozenset[str]


_NOBODY = _Seen((0, 0, 0), {}, frozenset())


class Accounts:
    """The accounts of a data folder. Checking and making one is slow: use a thread.

    Args:
        cost: parameters of argon2id; a hash of another cost is replaced when its owner logs in.
    """

    def __init__(self, folder: Path, cost: Parameters = RFC_9106_LOW_MEMORY) -> None:
        self._path = folder / FILE_NAME
        self._hasher = PasswordHasher.from_parameters(cost)
        self._kind = _kind_made_at(cost)
        self._lock = FileLock(folder / f"{FILE_NAME}.lock", thread_local=False, timeout=10)
        self._seen: _Seen | None = None

    def all(self) -> list[Account]:
        """All accounts by name, without those that were removed. Raises `StoreError`."""
        return [account for account in self.everybody() if account.hash]

    def everybody(self) -> list[Account]:
        """All accounts by name, with those that were removed. Raises `StoreError`."""
        return sorted(self._read().accounts.values(), key=lambda account: account.name.casefold())

    def find(self, name: str) -> Account:
        """By name, in any case. Raises `NotFound`."""
        return _living(self._read().accounts, name)

    def holds(self, account: Account) -> bool:
        """Whether an account has still the same id, role and password. Raises `StoreError`."""
        return self._read().accounts.get(folded(account.name)) == account

    def check(self, name: str, password: str) -> Account | None:
        """The account, if the password is right; an outdated hash is replaced.

        Each kind of hash in the file is computed for every name, so that the time taken reveals no name.
        """
        accounts = self._read().accounts
        account = accounts.get(folded(name))
        mine = _kind(account.hash) if account is not None and account.hash else ""
        right = False
        for kind in {self._kind, *(_kind(one.hash) for one in accounts.values() if one.hash)}:
            hashed = account.hash if account is not None and kind == mine else _unknown(kind)
            right |= self._fits(hashed, password)
        if account is None or not right:
            return None
        return account if mine == self._kind else self._renewed(account, password)

    def create(self, name: str, password: str, role: Role = Role.PLAYER) -> Account:
        """Make an account, or a removed one again. Raises `UserError`: name or password will not do."""
        name = check_name(name)
        hashed = self._hash(check_password(password))
        with self._changing() as accounts:
            before = accounts.get(folded(name))
            if before is not None and before.hash:
                raise UserError(f"the name {name} is taken; choose another name")
            if before is None:
                if is_mistakable(name, (other.name for other in accounts.values())):
                    raise UserError(f"{name} looks like the name of another account; choose another name")
                if len(accounts) >= MOST:
                    raise UserError("no more accounts can be created here")
            account = Account(name, role, hashed, account_id_of(folded(name)))
            if before is not None:
                account = replace(account, user_id=before.user_id, joined=before.joined)
            accounts[folded(name)] = account
        return account

    def change(self, name: str, *, role: Role | None = None, password: str | None = None) -> Account:
        """Give an account another role or password. Raises `UserError`."""
        changes: dict[str, Any] = {} if role is None else {"role": role}
        if password is not None:
            changes["hash"] = self._hash(check_password(password))
        return self._replaced(name, **changes)

    def join(self, name: str, user_id: str) -> Account:
        """Say that an account is the user whom worlds and tokens call `user_id`, from its next visit.

        What it told before stays with its old id. Joining it to the id it was made with undoes this.

        Raises:
            UserError: no world can have such a user, or that is somebody else's account.
        """
        if not user_id or clean(user_id) != user_id:
            raise UserError("a user's id is one printable line, such as user_caity")
        with self._changing() as accounts:
            before = _living(accounts, name)
            own = account_id_of(folded(before.name))
            if user_id != own and (is_reserved_id(user_id) or user_id.startswith(API_PREFIX)):
                what = "no user of a world; name one such as user_caity"
                if is_account_id(user_id):
                    what = "an account, not a user of another world"
                raise UserError(f"{shorten(user_id, 30)} is {what}")
            for one in accounts.values():
                if one.user_id == user_id and one != before:
                    raise UserError(f"{user_id} already belongs to the account {one.name}")
            after = replace(before, user_id=user_id, joined=user_id != own)
            accounts[folded(name)] = after
        return after

    def remove(self, name: str) -> None:
        """Remove an account; what the characters remember of it stays. Raises `NotFound`."""
        self._replaced(name, hash="")

    def erase(self, name: str) -> None:
        """Delete every trace of an account; from then on anybody may take the name."""
        with self._changing() as accounts:
            accounts.pop(folded(name), None)

    def gone(self, name: str) -> bool:
        """Whether there was an account of this name that was removed."""
        account = self._read().accounts.get(folded(name))
        return account is not None and not account.hash

    def id_of(self, name: str) -> str:
        """The user whose account has or had this name; "" if there was none."""
        account = self._read().accounts.get(folded(name))
        return account.user_id if account is not None else ""

    def owns(self, user_id: str) -> bool:
        """Whether a user is an account, now or formerly, that was not joined to a world's user of that id."""
        return is_reserved_id(user_id) or user_id in self._read().owned

    def _replaced(self, name: str, **changes: Any) -> Account:
        with self._changing() as accounts:
            after = accounts[folded(name)] = replace(_living(accounts, name), **changes)
        return after

    def _hash(self, password: str) -> str:
        return self._hasher.hash(_typed(password))

    def _fits(self, hashed: str, password: str) -> bool:
        typed = _typed(password)
        if hashed.startswith(_SCRYPT):
            return _fits_scrypt(hashed, typed)
        try:
            return self._hasher.verify(hashed, typed)
        except VerifyMismatchError:
            return False
        except (InvalidHashError, VerificationError) as error:
            raise StoreError(f"{self._path} holds a password that cannot be checked: {error}") from None

    def _renewed(self, account: Account, password: str) -> Account:
        """With an up-to-date hash, unless somebody changed the account meanwhile."""
        after = replace(account, hash=self._hash(password))
        try:
            with self._changing() as accounts:
                if accounts.get(folded(account.name)) == account:
                    accounts[folded(account.name)] = after
                    return after
        except StoreError as error:  # the password was right all the same
            log.error("the password of %s keeps its old hash: %s", account.name, error)
        return account

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Account]]:
        """The accounts to change; they are written at the end."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._lock:
                accounts = dict(self._read().accounts)
                yield accounts
                kept = {"version": VERSION, "accounts": [asdict(one) for one in accounts.values()]}
                with atomic_write(self._path) as aside:
                    aside.write_text(json.dumps(kept, ensure_ascii=False, indent=1), encoding="utf-8")
        except OSError as error:
            raise StoreError(f"{self._path} cannot be written: {error}") from None

    def _read(self) -> _Seen:
        try:
            there = self._path.stat()
            version = (there.st_mtime_ns, there.st_size, there.st_ino)
            seen = self._seen  # other threads read too
            if seen is None or seen.version != version:
                accounts = self._parsed(json.loads(self._path.read_text(encoding="utf-8")))
                owned = frozenset(one.user_id for one in accounts.values() if not one.joined)
                seen = self._seen = _Seen(version, accounts, owned)
            return seen
        except FileNotFoundError:
            return _NOBODY
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(f"{self._path} cannot be read: {error}") from None

    def _parsed(self, kept: dict[str, Any]) -> dict[str, Account]:
        if kept["version"] == 1:
            accounts = [_account_of_version_1(who, one) for who, one in kept["accounts"].items()]
        elif kept["version"] == VERSION:
            accounts = [_account(one) for one in kept["accounts"]]
        else:
            raise StoreError(f"{self._path} is of version {kept['version']}; this program knows {VERSION}")
        return {folded(account.name): account for account in accounts}


def check_name(name: str) -> str:
    """A name as it will be shown. Raises `UserError`."""
    name = unicodedata.normalize("NFKC", clean(name))
    if not _NAME.fullmatch(name):
        raise UserError("a name is one word of 2 to 20 letters, digits, - and ', and begins with a letter")
    if _RESERVED.fullmatch(folded(name)):
        raise UserError(f"{name} has another meaning here; choose another name")
    require_name(name)
    return name


def check_password(password: str) -> str:
    """A new password. Raises `UserError`."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise UserError(f"a password must have {SHORTEST} to {LONGEST} characters")
    return password


def _living(accounts: Mapping[str, Account], name: str) -> Account:
    account = accounts.get(folded(name))
    if account is None or not account.hash:
        raise NotFound(f"there is no account {shorten(clean(name), 30)}")
    return account


def _typed(password: str) -> bytes:
    """A password in the same form from any keyboard (NFKC)."""
    return unicodedata.normalize("NFKC", password[:LONGEST]).encode("utf-8", "replace")


def _kind(hashed: str) -> str:
    """Algorithm and cost of a hash: all but salt and hash."""
    return hashed.rsplit("$", 2)[0]


def _kind_made_at(cost: Parameters) -> str:
    """The kind of a hash of this cost, without making one, which is slow and takes 64 MB."""
    return (
        f"$argon2{cost.type.name.lower()}$v={cost.version}"
        f"$m={cost.memory_cost},t={cost.time_cost},p={cost.parallelism}"
    )


def _unknown(kind: str) -> str:
    """A hash of this kind that matches no password."""
    return next(kind + rest for algorithm, rest in _UNKNOWN.items() if kind.startswith(algorithm))


def _fits_scrypt(hashed: str, typed: bytes) -> bool:
    """scrypt (RFC 7914), as accounts were kept in version 1: "$scrypt$ln=15,r=8,p=1$salt$key"."""
    cost, salt, key = hashed.removeprefix(_SCRYPT).split("$")
    n = 2 ** int(cost.split(",")[0].removeprefix("ln="))
    made = hashlib.scrypt(typed, salt=bytes.fromhex(salt), n=n, r=8, p=1, maxmem=2 * 128 * 8 * n, dklen=32)
    return hmac.compare_digest(made.hex(), key)


def _account(kept: dict[str, Any]) -> Account:
    account = Account(**kept | {"role": Role(kept["role"])})
    if account.hash and not account.hash.startswith(tuple(_UNKNOWN)):
        raise ValueError(
            f"the password of {account.name} is stored in an unknown form; set a new one with "
            "noodlings account password"
        )
    return account


def _account_of_version_1(user_id: str, kept: dict[str, Any]) -> Account:
    hashed = f"{_SCRYPT}ln={int(kept['cost'])},r=8,p=1${kept['salt']}${kept['key']}"
    return Account(kept["name"], Role(kept["role"]), hashed, user_id)
