"""The door of the world: who is whom, and that guessing passwords takes for ever.

One attempt of an address at a time; after each that fails the next ones wait longer. Making accounts counts
like failing, so that nobody makes thousands. Somebody else's failures never keep an account's owner out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from noodlings.errors import UserError
from noodlings.worlds.accounts import Account, Accounts, check_name
from noodlings.worlds.pace import Timer

FREE = 2
"""Attempts that nobody waits after: everybody mistypes."""
LONGEST_WAIT = 30.0
"""Seconds before the answer to a wrong password, at most."""
FORGIVEN = 900.0
"""Seconds without an attempt after which an address begins anew."""
ADDRESSES = 10_000
"""Addresses that are remembered."""
AT_ONCE = 2
"""Passwords that are hashed at once, 32 MB each."""

WRONG = "Either there is no such name, or that is not its password."

T = TypeVar("T")


@dataclass(slots=True)
class _Visitor:
    """An address that somebody tried from."""

    failed: int = 0
    at: float = 0.0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class Door:
    """Lets people in by name and password. Use within a running event loop.

    Args:
        accounts: who there is.
        reserved: names that nobody may take over the wire: characters, and whoever they know already.
        timer: real time.
    """

    def __init__(self, accounts: Accounts, reserved: Callable[[str], bool], timer: Timer) -> None:
        self._accounts = accounts
        self._reserved = reserved
        self._timer = timer
        self._visitors: dict[str, _Visitor] = {}
        self._hashing = asyncio.Semaphore(AT_ONCE)

    async def connect(self, address: str, name: str, password: str) -> Account:
        """Whoever has this password. Raises `UserError`, after a while that grows with each failure."""
        visitor = self._visitor(address)
        async with visitor.turn:
            account = await self._slowly(lambda: self._accounts.check(name, password))
            if account is None:
                await self._wait(visitor)
                raise UserError(WRONG)
            visitor.failed = 0
            return account

    async def create(self, address: str, name: str, password: str) -> Account:
        """A new player. Raises `UserError` when that cannot be."""
        name = check_name(name)
        visitor = self._visitor(address)
        async with visitor.turn:
            if self._reserved(name):
                raise UserError(f"{name} is known here already; choose another name.")
            account = await self._slowly(lambda: self._accounts.create(name, password))
            await self._wait(visitor)
            return account

    async def _slowly(self, work: Callable[[], T]) -> T:
        async with self._hashing:
            return await asyncio.to_thread(work)

    async def _wait(self, visitor: _Visitor) -> None:
        """Count one more, and make whoever it was wait."""
        visitor.failed += 1
        visitor.at = self._timer.now()
        over = min(visitor.failed - FREE, 10)
        if over > 0:
            await self._timer.sleep(min(2.0 ** (over - 1), LONGEST_WAIT))

    def _visitor(self, address: str) -> _Visitor:
        now = self._timer.now()
        visitor = self._visitors.get(address)
        if visitor is None:
            if len(self._visitors) >= ADDRESSES:
                self._visitors = {who: one for who, one in self._visitors.items() if one.turn.locked()}
            visitor = self._visitors[address] = _Visitor(at=now)
        elif now - visitor.at > FORGIVEN:
            visitor.failed = 0
        visitor.at = now
        return visitor
