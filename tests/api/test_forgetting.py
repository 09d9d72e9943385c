"""Through whatever door somebody has something forgotten: it is off the disk when they are told so."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from itertools import pairwise
from typing import Any

import pytest

from api.authentication import AccessToken
from api.mcp.access import Access, Asker
from api.mcp.tools import call
from noodlings.ports import Forgotten
from noodlings.store.memory import MemoryStore
from noodlings.values.caller import Role
from tests.api.conftest import MakeSite, Site
from tests.api.test_chat import assistant, say, user

M = "/api/agents/servnak/memory/entries"


class Noting(MemoryStore):
    """Notes what is done with it."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []

    def forget(self, *what: Any, **how: Any) -> Forgotten:
        self.done.append("forget")
        return super().forget(*what, **how)

    def erase(self) -> bool:
        self.done.append("erase")
        return super().erase()


async def over_rest(site: Site, entry: int) -> None:
    assert (await site.ask("DELETE", f"{M}/{entry}")).json()["erased"] is True


async def all_of_theirs(site: Site, entry: int) -> None:
    assert (await site.ask("DELETE", f"{M}?user_id=user_caity")).json()["erased"] is True


async def typed(site: Site, entry: int) -> None:
    line = {"line": f"@forget servnak --id {entry} --yes", "user_id": "user_caity"}
    assert (await site.post("/api/commands", line)).json()["error"] is False


async def over_mcp(site: Site, entry: int) -> None:
    asker = Asker(AccessToken(Role.ADMIN), "user_root")
    access = Access(asker, lambda: nullcontext(site.society), site.parts.turns)
    assert not (await call("forget_memory", access, {"agent": "servnak", "memory_id": entry})).is_error


async def changed_message(site: Site, entry: int) -> None:
    first = await say(site, user("Hello"), user="user_caity")
    for text in ("I hid the zarn", "I hid nothing"):
        await say(site, user("Hello"), assistant(first), user(text), user="user_caity")


DOORS = [over_rest, typed, over_mcp]


@pytest.mark.parametrize("forget", [*DOORS, all_of_theirs, changed_message])
async def test_it_is_erased_when_it_is_said_to_be_forgotten(
    make_site: MakeSite, forget: Callable[[Site, int], Awaitable[None]]
) -> None:
    store = Noting()
    site = make_site(store=store)
    entry = await site.tell("My dog died yesterday")
    await forget(site, entry)
    assert store.done == ["forget", "erase"]


@pytest.mark.slow
async def test_between_two_that_are_forgotten_at_once_others_go_on(make_site: MakeSite) -> None:
    store = Noting()
    site = make_site(store=store)
    entries = [await site.tell(f"I have {number} dogs") for number in range(6)]

    async def others() -> None:
        while True:
            store.done.append("others")
            await asyncio.sleep(0)

    going_on = asyncio.create_task(others())
    await asyncio.gather(*(forget(site, entry) for forget, entry in zip(DOORS * 2, entries, strict=True)))
    going_on.cancel()
    assert store.done.count("forget") == 6
    assert ("forget", "forget") not in pairwise(store.done)
