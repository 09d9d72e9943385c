"""The login of the world, with a guard that makes guessing passwords very slow.

After a failure one has to wait: the longer, the more often somebody failed at that name, or the more names
were tried in vain from that address. Whether there is an account of that name makes no difference, so nothing
reveals it. No success resets the wait. Other people's failures do not keep an owner out: the first attempt
from an address does not queue behind theirs, and at an address where the password was right before, only
attempts from there count. See docs/decisions/0016-door.md.

Waiting and the limit on typing use a timer, so that a test can move time by hand.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass, field
from typing import TypeVar

from noodlings.connections import network_of
from noodlings.errors import UserError
from noodlings.text import folded
from noodlings.worlds.accounts import Account, Accounts, check_name, check_password


class Timer:
    """Real time: seconds that only ever rise, and a way to wait for some of them."""

    now = staticmethod(time.monotonic)
    sleep = staticmethod(asyncio.sleep)


FREE = 2
"""Failed attempts without a wait: everybody mistypes."""
LONGEST_WAIT = 30.0
"""Seconds before the answer to a wrong password, at most."""
FORGIVEN = 900.0
"""Seconds without an attempt after which counting begins anew."""
REMEMBERED = 30_000
"""How many addresses, names and pairs of both are remembered."""
LONGEST_NAME = 80
"""Characters by which a name is counted; no account has so many."""
AT_ONCE = 2
"""Passwords that are hashed at once, 64 MB each."""

WRONG = "That name and password do not match."

T = TypeVar("T")


@dataclass(slots=True)
class _Tries:
    """What was tried from an address, at a name, or at that name from that address.

    Attributes:
        failed: recent attempts that failed; for an address, the names that it failed at or created.
        at: time of the latest attempt.
        proved: the password was right.
        turn: lets attempts run one after another.
    """

    failed: int = 0
    at: float = 0.0
    proved: bool = False
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class LoginGuard:
    """Lets people in by name and password. Use within a running event loop.

    Args:
        reserved: tells names that nobody may take: characters, and everybody whom they know already.
        made: called with each new account and the address that it was made from.
    """

    def __init__(
        self,
        accounts: Accounts,
        reserved: Callable[[str], bool],
        timer: Timer,
        made: Callable[[Account, str], None] = lambda account, address: None,
    ) -> None:
        self.accounts = accounts
        self._reserved = reserved
        self._timer = timer
        self._made = made
        self._tried: dict[tuple[str | None, str | None], _Tries] = {}
        self._hashing = asyncio.Semaphore(AT_ONCE)

    async def connect(self, address: str, name: str, password: str) -> Account:
        """The account with this password. Raises `UserError`, after a wait that grows with each failure."""
        address, who = network_of(address), folded(name)[:LONGEST_NAME]
        here = self._tries(address, who)
        async with AsyncExitStack() as turns:
            await turns.enter_async_context(here.turn)
            proved = here.proved
            if here.failed and not proved:  # a first attempt does not queue behind everybody who guesses here
                await turns.enter_async_context(self._tries(name=who).turn)
            place = self._tries(address=address)
            async with nullcontext() if proved else place.turn:
                account = await self._slowly(lambda: self.accounts.check(name, password))
                if account is not None:
                    # Only here: it says nothing of others who fail at this name, or from this address.
                    here.proved, here.failed = True, 0
                    return account
                failed = self._failed(address, who)
                tries_names = not proved and place.failed > FREE
                if tries_names:
                    await self._wait(failed)
            if not tries_names:
                await self._wait(failed)
            raise UserError(WRONG)

    async def create(self, address: str, name: str, password: str) -> Account:
        """Make an account for a new player. Raises `UserError` when that cannot be."""
        name, password = check_name(name), check_password(password)
        place = self._tries(address=network_of(address))
        async with place.turn:
            place.failed += 1  # also when the name is taken: else one could find out all names
            try:
                if self._reserved(name) or self.accounts.gone(name):
                    raise UserError(f"{name}, or a name like it, is already taken; choose another name.")
                account = await self._slowly(lambda: self.accounts.create(name, password))
            except UserError:
                await self._wait(place.failed)
                raise
            self._made(account, address)
            self._tries(network_of(address), folded(name)).proved = True
            await self._wait(place.failed)
            return account

    async def _slowly(self, work: Callable[[], T]) -> T:
        async with self._hashing:
            return await asyncio.to_thread(work)

    def _failed(self, address: str, who: str) -> int:
        """Count a failure; returns how many there are that this one has to wait for."""
        here = self._tries(address, who)
        here.failed += 1
        if here.proved:
            return here.failed
        place, at_name = self._tries(address=address), self._tries(name=who)
        at_name.failed += 1
        if here.failed == 1:
            place.failed += 1
        return max(at_name.failed, place.failed)

    async def _wait(self, failed: int) -> None:
        over = min(failed - FREE, 10)
        if over > 0:
            await self._timer.sleep(min(2.0 ** (over - 1), LONGEST_WAIT))

    def _tries(self, address: str | None = None, name: str | None = None) -> _Tries:
        now = self._timer.now()
        tries = self._tried.get((address, name))
        if tries is None:
            if len(self._tried) >= REMEMBERED:
                self._forget_half()
            tries = self._tried[address, name] = _Tries()
        elif now - tries.at > FORGIVEN:
            tries.failed = 0
        tries.at = now
        return tries

    def _forget_half(self) -> None:
        """Whoever floods the table from many addresses loses those before the names that were tried."""

        def worth(kept: tuple[object, _Tries]) -> tuple[bool, int, float]:
            tries = kept[1]
            return tries.turn.locked(), tries.failed + (FREE + 1) * tries.proved, tries.at

        worth_most_last = sorted(self._tried.items(), key=worth)
        self._tried = dict(worth_most_last[len(worth_most_last) // 2 :])
