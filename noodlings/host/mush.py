"""The MUSH port of `noodlings serve`: the rooms, the people at its door, and the wires they come by."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from noodlings.connections import Connections
from noodlings.host.visit import Connect
from noodlings.text import folded
from noodlings.values.caller import account_id_of, user_id_of
from noodlings.worlds.accounts import Account, Accounts
from noodlings.worlds.door import Door
from noodlings.worlds.pace import RealTimer, Timer
from noodlings.worlds.scrollback import Scrollback
from noodlings.worlds.telnet import telnet_port
from noodlings.worlds.visitors import House, Visitors
from noodlings.worlds.websocket import websocket_port

if TYPE_CHECKING:
    from noodlings.agent.society import Society
    from noodlings.worlds.rooms import World

Note = Callable[..., None]
"""Writes down facts of a change, by name."""


@asynccontextmanager
async def mush_open(
    society: Society,
    world: World,
    scrollback: Scrollback,
    connect: Connect | None,
    connections: Connections,
    note: Note,
) -> AsyncIterator[list[str]]:
    """The ports of the settings while the block lasts; yields where they are, one line each.

    `note` writes down what is changed, see `noodlings.host.serve.serve`.

    Raises:
        UserError: a port cannot be used.
    """
    if connect is None:
        yield []
        return
    settings = society.settings.mush
    accounts = Accounts(society.settings.data_dir)
    visitors = Visitors(house(society, world, scrollback, connect, accounts, RealTimer(), note))
    said: list[str] = []
    async with AsyncExitStack() as stack:
        if settings.port:
            host, port = await stack.enter_async_context(
                telnet_port(settings.host, settings.port, visitors.receive, connections)
            )
            said.append(f"People come in by telnet at {host}, port {port}; see docs/mush.md.")
        if settings.websocket_port:
            origins = society.settings.api.origins
            host, port = await stack.enter_async_context(
                websocket_port(settings.host, settings.websocket_port, visitors.receive, origins, connections)
            )
            said.append(f"People come in by WebSocket at ws://{host}:{port}.")
        stack.push_async_callback(visitors.close)
        yield said


def house(
    society: Society,
    world: World,
    scrollback: Scrollback,
    connect: Connect,
    accounts: Accounts,
    timer: Timer,
    note: Note,
) -> House:
    """What visits are made in."""
    settings = society.settings

    def made(account: Account, address: str) -> None:
        note(
            at=round(time.time(), 3),
            role=account.role.value,
            user=account.user_id,
            address=address,
            method="MUSH",
            path="create",
        )

    return House(
        world=world,
        scrollback=scrollback,
        door=Door(accounts, lambda name: known(society, name), timer, made),
        connect=lambda caller, screen: connect(society, world, caller, screen).dispatch,
        introduce=lambda caller: society.introduce(caller.user_id, caller.name),
        greeting=lambda: greeting(being.name for being, _ in world.who() if being.persona),
        timer=timer,
        idle_seconds=settings.mush.idle_seconds,
        lines_per_second=settings.mush.lines_per_second,
    )


def greeting(characters: Iterable[str]) -> RenderableType:
    """What one sees at the door: it says nothing about the machine, for anybody may stand there."""
    names = ", ".join(characters) or "nobody"
    return Group(
        Text("noodlings", style="bold cyan"),
        Text("A small world of characters who remember what matters to them."),
        Text(f"In its rooms: {names}."),
        Text(""),
    )


def known(society: Society, name: str) -> bool:
    """Whether characters know somebody of this name, or will, or are called so.

    Whoever took such a name over the wire would be somebody else by id, and yet be taken for them.
    """
    settings, names = society.settings, society.names()
    user_id, called = user_id_of(name), folded(name)
    expected = {user_id_of(settings.world.player)} | {user_id_of(token.user) for token in settings.api.tokens}
    if user_id in expected or names.keys() & {user_id, account_id_of(called)}:
        return True
    others = {*names.values()}.union(*((one.id, *one.aliases) for one in society.personas.values()))
    if called in map(folded, others):
        return True
    ids = (user_id, account_id_of(called))
    return any(society.store.told_by(agent, one) for agent in society.store.agents() for one in ids)
