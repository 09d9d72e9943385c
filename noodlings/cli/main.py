"""The command line: the only file in this package that knows commands and views.

Everything heavy is imported inside functions, so that help is there at once. Whatever goes wrong on purpose
is one line on standard error: exit code 2, or 3 when another process holds the data folder.
"""

from __future__ import annotations

import gc
import inspect
import os
import sys
from functools import cache
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.main import get_command

from noodlings.cli import chronicle as cli_chronicle
from noodlings.cli import data as cli_data
from noodlings.cli.accounts import account_app
from noodlings.cli.bridge import bridge_app
from noodlings.cli.evaluate import eval_app
from noodlings.cli.ingest import ingest
from noodlings.cli.key import key_app
from noodlings.cli.lab import scene, simulate
from noodlings.cli.mcp import mcp
from noodlings.cli.notes import notes_app
from noodlings.cli.options import AsJson, Config, Data, print_json, settings_of
from noodlings.cli.person import person
from noodlings.cli.recipe import recipe_app
from noodlings.cli.reflect import reflect
from noodlings.cli.studio import studio
from noodlings.errors import NoodlingsError, StoreBusy, UserError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Sequence

    from typer._click import Command

    from noodlings.agent.society import Society
    from noodlings.config import Settings
    from noodlings.host.server import Address
    from noodlings.host.supervisor import Told
    from noodlings.host.visit import CommandLine
    from noodlings.ports import Repository
    from noodlings.values.caller import Caller
    from noodlings.worlds.rooms import World

app = typer.Typer(
    name="noodlings",
    help="Characters who remember what matters to them. To begin, type: noodlings play",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.add_typer(eval_app, name="eval")
app.add_typer(notes_app, name="notes")
app.add_typer(key_app, name="key")
app.add_typer(account_app, name="account")
app.add_typer(bridge_app, name="bridge")
app.add_typer(recipe_app, name="recipe")


@cache
def command() -> Command:
    """All commands with their options, as read from the functions above and below, which takes a while."""
    return get_command(app)


def main() -> int:
    """Run the command line. Returns the exit code."""
    gc.set_threshold(50_000, 20, 100)  # else the start spends a tenth of its time looking for garbage
    sys.setswitchinterval(0.001)  # the event loop waits at most this long for a thread
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # before numpy is imported: our arrays are small
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # not under every test runner
            stream.reconfigure(errors="replace")
    return _exit_code(command())


def _exit_code(run: Callable[[], object], told: Told | None = None) -> int:
    """The exit code of something, which ends well or tells the user what it refuses.

    Args:
        told: of several processes that may refuse the same, whether one has told it.
    """
    try:
        run()
    except NoodlingsError as error:
        code = 3 if isinstance(error, StoreBusy) else 2
        if told is None:
            return _failed(error, code)
        with told.get_lock():
            if not told.value:
                _failed(error, code)
            told.value = True
        return code
    return 0


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        from noodlings import __version__

        typer.echo(f"noodlings {__version__}")
        raise typer.Exit


@app.command()
def play(
    player: Annotated[str | None, typer.Option("--as", metavar="NAME", help="Your name there.")] = None,
    data: Data = None,
    config: Config = None,
) -> None:
    """Walk around a small world and talk to the characters who live there.

    When standard input is not a terminal, lines are read from it, and the visit ends after the last one.
    """
    import asyncio

    from noodlings.host import visit

    settings = settings_of(data, config)
    if player is not None:
        settings = settings.model_copy(update={"world": settings.world.model_copy(update={"player": player})})
    asyncio.run(visit.play(settings, _connect))


@app.command()
def demo(data: Data = None, config: Config = None) -> None:
    """Watch a one-minute demo: a character is told something once, and remembers it 500 lines later.

    It uses a temporary folder, or the one given with --data, which is kept.
    """
    import asyncio
    import tempfile

    from noodlings.host import visit

    if data is not None:
        asyncio.run(visit.demo(settings_of(data, config), _connect))
        return
    with tempfile.TemporaryDirectory(prefix="noodlings-demo-") as folder:
        asyncio.run(visit.demo(settings_of(Path(folder), config), _connect))


@app.command()
def serve(
    host: Annotated[
        str, typer.Option(help="The address to listen on; beyond this machine only with api.tokens.")
    ] = ("127.0.0.1"),
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0 picks a free one.")] = 8765,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A TLS certificate (PEM); needs --key.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The key of the TLS certificate (PEM).")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="Processes that share the characters; needs store.url."),
    ] = None,
    data: Data = None,
    config: Config = None,
) -> None:
    """Serve the characters: a page to talk with them, REST, a live stream, chat clients and metrics.

    Unless you say otherwise, only this machine can connect, and every caller is an admin. See docs/api.md.
    Several workers, also on several machines, share a PostgreSQL database; see docs/scale.md.
    """
    from functools import partial

    from noodlings.host import server

    address = server.Address(host, port, certificate, key)
    settings = settings_of(data, config)
    if workers is not None and not settings.store.url.get_secret_value():
        raise UserError("workers share a PostgreSQL database: set store.url, or leave out --workers")
    if workers is not None and settings.world.clock_speed != 1:
        raise UserError("workers need world.clock_speed: 1, because the clock of each begins at its start")
    if workers is None or workers == 1:
        _serve(settings, address, workers or 0)
        return
    from noodlings.host.supervisor import supervise

    with server.bound_to(address) as bound:
        if code := supervise(partial(_work, data, config, address), bound, workers):
            raise typer.Exit(code)


def _work(
    data: Path | None, config: Path | None, address: Address, worker: int, bound: socket.socket, told: Told
) -> int:
    """Serve as one of the workers on this machine. Returns the exit code."""
    return _exit_code(lambda: _serve(settings_of(data, config), address, worker, bound), told)


def _serve(settings: Settings, address: Address, worker: int = 0, bound: socket.socket | None = None) -> None:
    import asyncio

    from api.audit import auditing_to, note
    from api.run import run
    from noodlings.host import server

    def say(line: str) -> None:
        if worker < 2:  # the others would say the same
            typer.echo(line)

    asyncio.run(server.serve(settings, address, run, auditing_to, say, _connect, note, worker, bound))


@app.command(context_settings={"ignore_unknown_options": True})
def memories(
    words: Annotated[
        list[str], typer.Argument(metavar="NAME", help="The character's name, then flags as in the world.")
    ],
    as_json: AsJson = False,
    data: Data = None,
    config: Config = None,
) -> None:
    """Look into a character's memory, even while somebody plays.

    This is @memories as typed in the world, with the same flags (`help @memories` lists them there).
    """
    _look_inside(settings_of(data, config), "@memories", words, as_json)


@app.command()
def chronicle(
    agent: Annotated[str, typer.Option("--agent", metavar="NAME", help="The character who remembers.")],
    repository: Annotated[
        Path | None, typer.Argument(metavar="[REPOSITORY]", help="A folder in a git repository.")
    ] = None,
    ask: Annotated[
        str | None, typer.Option("--ask", metavar="QUESTION", help="Ask about what was read before.")
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=1_000, help="With --ask: the most commits to show.")
    ] = 5,
    install_hook: Annotated[
        bool, typer.Option("--install-hook", help="Also let git run this after each commit, pull and rebase.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Replace existing hooks without asking.")] = False,
    as_json: AsJson = False,
    data: Data = None,
    config: Config = None,
) -> None:
    """Let a character read the history of a git repository, or ask about it.

    Each commit that a branch reaches becomes a memory, once; run it again to read what is new. Commits that a
    rebase or amend replaced stay stored but are no longer shown. With --ask, the commits that answer a
    question best come first; that also works while somebody plays. See docs/chronicle.md.
    """
    settings = settings_of(data, config)
    if ask is not None and repository is None:
        _look_inside(settings, "@chronicle", [agent, ask, "--limit", str(limit)], as_json)
        return
    if repository is None or ask is not None:
        raise UserError("name the folder of a git repository to read it, or ask with --ask; not both at once")
    cli_chronicle.read(settings, repository, agent, config, install_hook, yes, as_json)


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="One JSON object a line, with user and text.")],
    agent: Annotated[
        str, typer.Option("--agent", metavar="NAME", help="Send every line to this character only.")
    ] = "",
    as_json: AsJson = False,
    data: Data = None,
    config: Config = None,
) -> None:
    """Let characters live through recorded talk.

    A line may also hold timestamp, agent, affect, surprise and identity_salience; or only text ("Caity says,
    hello") and timestamp. The same file and seed give the same result. It is kept in the folder of --data
    (or of store.path or store.url in the settings); where none is given, nothing is kept.
    """
    import asyncio

    from noodlings.store.memory import MemoryStore

    settings = settings_of(data, config)
    store = None if settings.store.path or settings.store.url.get_secret_value() else MemoryStore()
    asyncio.run(_replay(settings, store, file, agent, as_json))


app.command()(cli_data.export)
app.command()(scene)
app.command("import")(cli_data.import_)
app.command()(cli_data.backup)
app.command()(cli_data.check)
app.command()(cli_data.compact)
app.command()(cli_data.move)
app.command()(person)
app.command()(reflect)
app.command()(ingest)
app.command()(simulate)
app.command()(mcp)
app.command()(studio)


def _join_lines(group: typer.Typer) -> None:
    """Join the lines of each paragraph in the help: Typer would keep the line breaks of the source."""
    for command in group.registered_commands:
        paragraphs = inspect.cleandoc(getattr(command.callback, "__doc__", None) or "").split("\n\n")
        command.help = command.help or "\n\n".join(" ".join(part.split()) for part in paragraphs)
    for subgroup in group.registered_groups:
        if subgroup.typer_instance is not None:
            _join_lines(subgroup.typer_instance)


_join_lines(app)


async def _replay(settings: Settings, store: Repository | None, file: Path, name: str, as_json: bool) -> None:
    from rich.text import Text

    from noodlings.clock import ManualClock
    from noodlings.drawing.progress import progress_over
    from noodlings.drawing.screen import Screen
    from noodlings.host.visit import opened, owner
    from noodlings.ingest.lines import count_lines
    from noodlings.lab.replay import MOST_IMPORTANT, as_dict, replay, summary

    clock, screen = ManualClock(), Screen(terminal=sys.stdout.isatty())
    with opened(settings, clock, store=store) as society:
        only = society.find(name) if name else None
        with progress_over(count_lines(file), "replaying") as done:
            report = await replay(society, clock, file, only, done)
        if as_json:
            print_json(as_dict(report, society))
            return
        line = _connect(society, None, owner(settings))
        screen.show(Text(summary(report)))
        for agent in report.listeners:
            for flags in ("", f"--important --limit {MOST_IMPORTANT}"):
                screen.show((await line.dispatch(f"@memories {agent} {flags}")).view)


def _look_inside(settings: Settings, command: str, words: Sequence[str], as_json: bool) -> None:
    """Run a command of the world on what is stored, also while somebody plays."""
    import asyncio

    from commands import registry
    from commands.parse import joined
    from commands.registry import CommandContext, Reply
    from noodlings.drawing.screen import Screen
    from noodlings.host.visit import opened, owner
    from noodlings.inspect.inspector import Inspector

    async def answer() -> Reply:
        with opened(settings, read_only=True) as society:
            context = CommandContext(owner(settings), society, Inspector(society))
            return await registry.dispatch(f"{command} {joined(words)}", context)

    reply = asyncio.run(answer())
    if as_json:
        print_json(reply.data)
    elif not reply.error:
        Screen(terminal=sys.stdout.isatty()).show(reply.view)
    if reply.error:
        raise typer.Exit(_failed(reply.data["error"], 2))


def _connect(society: Society, world: World | None, caller: Caller) -> CommandLine:
    """Connect a visit to the world, or somebody outside of it, with the commands."""
    from commands import registry
    from commands.help import completions
    from commands.registry import CommandContext
    from noodlings.host.visit import CommandLine
    from noodlings.inspect.inspector import Inspector

    context = CommandContext(caller, society, Inspector(society), world)
    return CommandLine(lambda line: registry.dispatch(line, context), lambda line: completions(context, line))


def _failed(why: object, code: int) -> int:
    typer.echo(f"noodlings: {why}", err=True)
    return code
