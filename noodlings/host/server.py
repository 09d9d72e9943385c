"""`noodlings serve`: one process with a society, its rooms, the API and the MUSH ports.

When it is stopped, it accepts nothing new, finishes the turns under way, and releases the data folder.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
)
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from noodlings.agent.society import Society
from noodlings.config import Settings
from noodlings.connections import Connections, listening, most_connections
from noodlings.errors import StoreError, UserError
from noodlings.host.backups import ScheduledBackups
from noodlings.host.nights import reflect_within
from noodlings.host.visit import Connect, opened, rooms_of, shown_in, shown_model, to_rest
from noodlings.host.workers import Answer, Worker, worker_of
from noodlings.lookalikes import is_mistakable
from noodlings.ports import ROOMS
from noodlings.store.opening import name_of
from noodlings.store.vault import Encryption
from noodlings.text import counted, folded
from noodlings.values.caller import account_id_of, user_id_of
from noodlings.worlds.accounts import Account, Accounts
from noodlings.worlds.login_guard import LoginGuard, Timer
from noodlings.worlds.rooms import Scrollback, World
from noodlings.worlds.telnet import telnet_port
from noodlings.worlds.visitors import Visitors, VisitSettings
from noodlings.worlds.websocket import websocket_port

Note = Callable[..., None]
"""Writes facts about a change, as keyword arguments, to the audit log."""


REOPEN_SECONDS = 2.0
"""How long to wait until the rooms' address is tried again."""
PATIENCE = 30.0
"""Real seconds that unfinished turns may take when the server stops."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen; port 0 is any free one. Certificate and key are PEM files, both or none."""

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None


@dataclass(slots=True)
class Serving:
    """A running server, with the connections of all its ports."""

    society: Society
    world: World
    scrollback: Scrollback
    connections: Connections
    loaded: bool = False
    stopping: bool = False
    worker: Worker | None = None

    def answering(self, answer: Answer) -> AbstractAsyncContextManager[None]:
        """Answer meanwhile what other workers ask."""
        return nullcontext() if self.worker is None else self.worker.running(answer)

    def has_rooms(self) -> bool:
        """Whether the rooms, and the people in them, are at this worker."""
        return self.worker is None or self.worker.serves(ROOMS)

    def ready(self) -> bool:
        """Whether requests should be sent here."""
        return self.loaded and not self.stopping


@asynccontextmanager
async def mush_open(
    serving: Serving, connect: Connect | None, note: Note, tls: ssl.SSLContext | None
) -> AsyncIterator[list[str]]:
    """Open the MUSH ports of the settings; yields a line about each.

    Args:
        tls: the certificate, or None for plain text.

    Raises:
        UserError: a port cannot be used.
    """
    if connect is None:
        yield []
        return
    settings, connections = serving.society.settings.mush, serving.connections
    visitors = Visitors(visit_settings(serving, connect, note))
    lines: list[str] = []
    async with AsyncExitStack() as stack:
        if settings.port:
            host, port = await stack.enter_async_context(
                telnet_port(settings.host, settings.port, visitors.receive, connections, tls)
            )
            over = "" if tls is None else " over TLS"
            lines.append(f"People can connect by telnet{over} to {host}, port {port}; see docs/mush.md.")
        if settings.websocket_port:
            origins = serving.society.settings.api.origins
            host, port = await stack.enter_async_context(
                websocket_port(
                    settings.host, settings.websocket_port, visitors.receive, origins, connections, tls
                )
            )
            scheme = "ws" if tls is None else "wss"
            lines.append(f"People can connect by WebSocket to {scheme}://{host}:{port}.")
        stack.push_async_callback(visitors.close)
        yield lines


def visit_settings(serving: Serving, connect: Connect, note: Note) -> VisitSettings:
    """What the MUSH ports need to let people in."""
    society, world, timer = serving.society, serving.world, Timer()
    settings = society.settings

    def created(account: Account, address: str) -> None:
        role, user = account.role.value, account.user_id
        note(role=role, user=user, address=address, method="MUSH", path="create")

    accounts = Accounts(settings.data_dir)
    return VisitSettings(
        world=world,
        scrollback=serving.scrollback,
        login_guard=LoginGuard(accounts, lambda name: known(society, name), timer, created),
        connect=lambda caller: connect(society, world, caller).dispatch,
        introduce=lambda caller: society.introduce(caller.user_id, caller.name),
        greeting=lambda: greeting(being.name for being, _ in world.who() if being.persona),
        timer=timer,
        idle_seconds=settings.mush.idle_seconds,
        lines_per_second=settings.mush.lines_per_second,
    )


def greeting(characters: Iterable[str]) -> RenderableType:
    """The text before signing in. Anybody may see it, so it says nothing about the machine."""
    names = ", ".join(characters) or "nobody"
    return Group(
        Text("noodlings", style="bold cyan"),
        Text("A small world of characters who remember what matters to them."),
        Text(f"In its rooms: {names}."),
        Text(""),
    )


def known(society: Society, name: str) -> bool:
    """Whether this name belongs to, or looks like that of, a character or somebody they know or will know.

    A stranger with such a name would have another id, and yet be mistaken for them.
    """
    settings, names = society.settings, society.names()
    user_id = user_id_of(name)
    ids = {user_id, account_id_of(folded(name))}
    users = (settings.world.player, *(token.user for token in settings.api.all_tokens()))
    if user_id in map(user_id_of, users) or names.keys() & ids:
        return True
    others = {*names.values()}.union(*((one.id, *one.aliases) for one in society.personas.values()))
    if is_mistakable(name, others):
        return True
    return any(society.store.told_by(agent, one) for agent in society.store.agents() for one in ids)


Run = Callable[[Serving, Address, socket.socket, Callable[[], None]], Awaitable[None]]
"""Serves on a bound socket until the process should end; calls its last argument when it takes requests."""


async def serve(
    settings: Settings,
    address: Address,
    run: Run,
    audited: Callable[[Path, int], AbstractContextManager[object]],
    say: Callable[[str], None],
    connect: Connect | None = None,
    note: Note = lambda **facts: None,
    worker: int = 0,
    bound: socket.socket | None = None,
) -> None:
    """Serve until a signal ends it.

    Args:
        audited: opens the audit log of a worker in a folder.
        say: shows one line to the person who started it.
        connect: gives each visitor over a MUSH port the commands; without it there are no such ports.
        note: writes to the audit log.
        worker: see `noodlings.host.visit.opened`.
        bound: the socket that it shares with them, instead of one for the address.

    Raises:
        UserError: the address cannot be used, or not without tokens; the certificate cannot be used.
        StoreBusy: another process writes to the data folder.
    """
    _refuse_openness(settings, address)
    tls = _tls(address) if settings.mush.tls else None
    connections = Connections(most_connections())
    with (
        _bound(address, connections, bound) as listening,
        opened(settings, worker=worker) as society,
        audited(settings.data_dir, worker),
    ):
        async with (
            _living(society, connections) as serving,
            _rooms_open(serving, lambda: mush_open(serving, connect, note, tls), say) as ports,
        ):
            scheme = "https" if address.certificate else "http"
            host, port = listening.getsockname()[:2]
            where = f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

            def started() -> None:
                for line in (*banner(settings, society, where), *ports):
                    say(line)
                society.watch_model(lambda _, status: say(status.sentence))

            await run(serving, address, listening, started)
    say("Stopped; everything is kept.")


def banner(settings: Settings, society: Society, where: str) -> list[str]:
    """What is shown when the server takes requests."""
    names = ", ".join(sorted(persona.name for persona in society.personas.values()))
    tokens = len(settings.api.all_tokens())
    rights = "No tokens are configured: anyone on this machine can read and change everything."
    if tokens:
        rights = f"{counted(tokens, 'token')} configured."
    elif settings.api.token_file:
        rights = "There are no tokens in api.tokens_file yet, so nobody is let in."
    return [
        f"noodlings serves {where} (open it in a browser)",  # a line that wraps would break an address
        f"Documentation: {where}/docs",
        f"Data: {name_of(settings.database)}",
        f"Characters: {names}",
        society.model_status.sentence,
        *(f"Skipped: {why}" for why in society.skipped_recipes),
        rights,
        "Press Ctrl-C to stop; what is under way is finished first.",
    ]


@asynccontextmanager
async def _rooms_open(
    serving: Serving, ports: Callable[[], AbstractAsyncContextManager[list[str]]], say: Callable[[str], None]
) -> AsyncIterator[list[str]]:
    """Keep the rooms' ports open while the rooms are at this worker; yields the lines of those open now."""
    worker = serving.worker
    if worker is None:
        async with ports() as lines:
            yield lines
        return

    async def open_ports() -> None:
        while True:
            try:
                async with ports() as lines:
                    for line in lines:
                        say(line)
                    await asyncio.Event().wait()
            except UserError as error:  # the worker before may still hold the address, as when it is paused
                log.warning("nobody can enter the rooms yet: %s", error)
                await asyncio.sleep(REOPEN_SECONDS)

    async def keep() -> None:
        while True:
            await worker.wait_for_rooms()
            try:
                serving.society.store.will_load(ROOMS)
                serving.world.resume(serving.society.world_state, serving.society.personas.values())
            except StoreError as error:
                log.warning("the rooms cannot be read: %s", error)
                await asyncio.sleep(REOPEN_SECONDS)
                continue
            opening = asyncio.create_task(open_ports(), name="opening the rooms")
            try:
                await worker.keep_rooms()
            finally:
                opening.cancel()
                await asyncio.gather(opening, return_exceptions=True)
                serving.scrollback.clear()  # from here on others forget what was said

    keeping = asyncio.create_task(keep(), name="keeping the rooms")
    try:
        yield []
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


@asynccontextmanager
async def _living(society: Society, connections: Connections) -> AsyncIterator[Serving]:
    """The society and its rooms while they are served, with everything that runs in the background."""
    scrollback = Scrollback()
    society.scrollbacks.append(scrollback.clear)
    world = rooms_of(society, shown=scrollback.note)
    serving = Serving(society, world, scrollback, connections, worker=worker_of(society))
    society.ownership = serving.worker
    unwatch = society.watch(shown_in(world))
    society.watch_model(shown_model(world))
    background = [
        asyncio.create_task(_load(serving), name="loading models"),
        asyncio.create_task(_idle_life(serving), name="idle life"),
        asyncio.create_task(society.meet_model(), name="asking the model"),
    ]
    if window := society.settings.reflection.window:
        background.append(asyncio.create_task(reflect_within(society, window), name="nights"))
    if society.settings.backup.folder:
        settings = society.settings
        backups = ScheduledBackups(settings.data_dir, settings.backup, Encryption.of(settings.store))
        background.append(asyncio.create_task(backups.run(), name="backups"))
    try:
        yield serving
    finally:
        serving.stopping = True
        unwatch()
        for task in background:
            task.cancel()
        await asyncio.gather(*background, return_exceptions=True)
        await to_rest(society, world, PATIENCE)


async def _load(serving: Serving) -> None:
    """Load on another thread what the first percept would otherwise wait for.

    All objects that exist by then stay. Frozen, they are left out of garbage collections, which would stop
    everybody for some hundred milliseconds, every few seconds under load.
    """
    await asyncio.to_thread(serving.society.warm)
    await asyncio.to_thread(gc.collect)
    gc.freeze()
    serving.loaded = True


async def _idle_life(serving: Serving) -> None:
    """Let characters act on their own between messages; errors are logged and do not end it."""
    seconds = serving.society.settings.world.idle_seconds
    while seconds > 0:
        await asyncio.sleep(seconds)
        if not serving.has_rooms():
            continue
        try:
            await serving.world.live(serving.society.clock.now())
        except Exception:
            log.exception("the idle act of a character failed")


def _refuse_openness(settings: Settings, address: Address) -> None:
    if not settings.api.all_tokens() and not _is_loopback(address.host):
        raise UserError(
            f"{address.host} can be reached by others, and no tokens are configured, so anybody could read "
            "and change everything. Set NOODLINGS_API__TOKENS="
            '\'[{"role": "admin", "token": "at least 16 characters"}]\' or listen on 127.0.0.1.'
        )
    if (address.certificate is None) != (address.key is None):
        raise UserError("--certificate and --key only work together: give both")


def _tls(address: Address) -> ssl.SSLContext:
    """The certificate for the MUSH ports."""
    if address.certificate is None:
        raise UserError("mush.tls needs a certificate: noodlings serve --certificate FILE --key FILE")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(address.certificate, address.key)
    except (OSError, ssl.SSLError) as error:
        raise UserError(f"the TLS certificate or key cannot be used: {error}") from None
    return context


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def bound_to(address: Address) -> socket.socket:
    """A socket that listens there. Raises `UserError`."""
    return listening(address.host, address.port, "try --port 0")


def _bound(address: Address, connections: Connections, shared: socket.socket | None = None) -> socket.socket:
    """The socket, bound before anything is loaded, so that a port in use is reported at once."""
    bound = connections.adopt(shared or bound_to(address))
    # Every connection inherits this. Without it, the second part of each answer would wait 40 ms until the
    # first is acknowledged; asyncio sets it only on sockets that it made itself.
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return bound
