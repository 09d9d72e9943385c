"""`noodlings mcp`: memories as tools for a language model, over stdio or HTTP.

On stdio only the protocol writes to standard output; the log goes to its file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from noodlings.cli.options import Config, Data, settings_of

if TYPE_CHECKING:
    import socket

    from api.mcp.access import Access, Asker
    from noodlings.config import Settings
    from noodlings.host.server import Address, Serving


def mcp(
    user: Annotated[
        str | None,
        typer.Option("--user", metavar="NAME", help="Act as this player, who sees only what they shared."),
    ] = None,
    agent: Annotated[
        str,
        typer.Option("--agent", metavar="NAME", help="The character that is meant when a call names none."),
    ] = "",
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP instead of standard input and output.")
    ] = False,
    host: Annotated[
        str,
        typer.Option(help="The address to listen on with --http; beyond this machine only with api.tokens."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="The port for --http; 0 picks a free one.")
    ] = 8766,
    data: Data = None,
    config: Config = None,
) -> None:
    """Offer memories to a language model as tools (Model Context Protocol).

    A client starts it and speaks over standard input and output. Whoever owns the data folder may do
    everything; with --user it may do what that player may. With --http tokens say who asks. See docs/mcp.md.
    """
    import asyncio
    import signal

    settings = settings_of(data, config)
    if http:
        asyncio.run(_serve_http(settings, user, agent, host, port))
        return
    from api.mcp.stdio import serve

    # The thread that waits for input cannot be woken, so that an orderly end would wait for another line.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(serve(lambda: _access(settings, user, agent)))


async def _serve_http(settings: Settings, user: str | None, agent: str, host: str, port: int) -> None:
    from api.audit import auditing_to
    from api.mcp.http import PATH, run
    from noodlings.errors import UserError
    from noodlings.host import server

    if user is not None:
        raise UserError(
            "--user does not work with --http: there a token says who asks; see api.tokens in docs/api.md"
        )

    async def run_tools(
        serving: Serving, where: Address, bound: socket.socket, started: Callable[[], None]
    ) -> None:
        def say() -> None:
            address, number = bound.getsockname()[:2]
            shown = f"[{address}]" if ":" in address else address
            typer.echo(f"noodlings offers memories at http://{shown}:{number}{PATH}. Press Ctrl-C to stop.")

        await run(serving.society, agent, bound, serving.connections, say)

    await server.serve(settings, server.Address(host, port), run_tools, auditing_to, typer.echo)


@contextmanager
def _access(settings: Settings, user: str | None, agent: str) -> Iterator[Access]:
    """What one client on this machine can use, until it disconnects.

    Where another process writes to the data folder, it can still be read; each call opens it again.
    """
    from threading import Thread

    from api.audit import auditing_to
    from api.mcp.access import Access
    from api.turns import Turns
    from noodlings.errors import StoreBusy
    from noodlings.host.visit import opened

    asker, name = _asker(settings, user)
    with ExitStack() as stack:
        try:
            society = stack.enter_context(opened(settings))
        except StoreBusy as busy:
            with opened(settings, read_only=True) as seen:
                meant = seen.find(agent).id if agent else ""
            yield Access(asker, lambda: opened(settings, read_only=True), None, str(busy), meant)
            return
        stack.enter_context(auditing_to(settings.data_dir))
        meant = society.find(agent).id if agent else ""
        if user is None or asker.user not in society.names():
            society.introduce(asker.user, name)
        warming = Thread(target=society.warm, name="loading models")
        warming.start()
        stack.callback(warming.join)  # native code that loads must not see the interpreter go
        yield Access(asker, lambda: nullcontext(society), Turns(society), "", meant)


def _asker(settings: Settings, user: str | None) -> tuple[Asker, str]:
    """The owner of the data folder, or the player that was named; and their name."""
    from api.authentication import AccessToken
    from api.mcp.access import Asker
    from noodlings.errors import UserError
    from noodlings.host.visit import owner
    from noodlings.text import clean
    from noodlings.values.caller import Role, user_id_of

    if user is None:
        me = owner(settings)
        return Asker(AccessToken(Role.ADMIN, key="stdio"), me.user_id), me.name
    name = clean(user)
    if not name:  # as an unset variable gives it, which must not make somebody the owner
        raise UserError("--user is empty: name the player, or leave it out to act as the owner")
    user_id = user_id_of(name)
    # Whoever can start this owns the folder, and may be whoever is in it.
    return Asker(AccessToken(Role.PLAYER, user_id, "stdio", lambda user_id: False), user_id), name
