"""The commands one can type in the world: how they are declared, found and run.

A command is an async function, and its docstring is its help. It returns a `Reply` with data and a view of
them. It refuses by raising a `NoodlingsError`, which becomes a reply here. Nothing a person types ends in a
traceback.
"""

from __future__ import annotations

import difflib
import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text

from commands.parse import HelpAsked, Parsed, Spec, parse_flags
from commands.speech import EVERYDAY, may_be_talk, why_withheld
from noodlings.drawing.screen import render
from noodlings.errors import NoodlingsError, UserError, told
from noodlings.text import MAX_LINE, clean, shorten
from noodlings.values.caller import Caller

if TYPE_CHECKING:
    from noodlings.agent.society import Society
    from noodlings.inspect.inspector import Inspector
    from noodlings.worlds.rooms import World

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a command.

    Attributes:
        data: what the view shows, JSON-compatible.
        view: what a person sees.
        error: whether something was refused.
        leave: whether the caller wants to go.
    """

    data: dict[str, Any] = field(default_factory=dict)
    view: RenderableType = ""
    error: bool = False
    leave: bool = False

    def render(self, width: int = 80, colour: bool = False) -> str:
        return render(self.view, width, colour)


@dataclass(slots=True)
class CommandContext:
    """What a command works with: who typed it, and the parts of the program that it may use.

    `world` is None where there are no rooms, as for a command line that another server sends.
    """

    caller: Caller
    society: Society
    inspector: Inspector
    world: World | None = None

    @property
    def rooms(self) -> World:
        """The world. Raises `UserError` where there is none."""
        if self.world is None:
            raise UserError(
                "There are no rooms here; this command works only inside the world (noodlings play)."
            )
        return self.world


Run = Callable[[CommandContext, str], Awaitable[Reply]]
Look = Callable[[CommandContext, Parsed], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its names, its usage line, and the function that runs it."""

    name: str
    usage: str
    run: Run
    aliases: tuple[str, ...] = ()
    group: str = "world"

    @property
    def help(self) -> str:
        return inspect.cleandoc(self.run.__doc__ or "")

    @property
    def summary(self) -> str:
        return self.help.split("\n", 1)[0]


class Registry:
    """The commands of one world, by name."""

    def __init__(self) -> None:
        self._by_name: dict[str, Command] = {}
        self._prefixes: dict[str, Command] = {}

    def command(
        self, name: str, usage: str = "", aliases: tuple[str, ...] = (), group: str = "world"
    ) -> Callable[[Run], Run]:
        """Declare a command. An alias of one punctuation mark needs no space after it (`"hello`)."""

        def declare(run: Run) -> Run:
            made = Command(name, usage, run, aliases, group)
            for key in (name, *aliases):
                if key in self._by_name:
                    raise ValueError(f"two commands are called {key}")
                self._by_name[key] = made
                if len(key) == 1 and not key.isalnum():
                    self._prefixes[key] = made
            return run

        return declare

    def looking_inside(self, spec: Spec) -> Callable[[Look], Look]:
        """Declare a command that looks inside a character. Its name is the first word of the usage line, and
        its arguments are read as `spec` says."""

        def declare(look: Look) -> Look:
            @wraps(look)
            async def run(context: CommandContext, arguments: str) -> Reply:
                return await look(context, parse_flags(arguments, spec))

            self.command(spec.usage.split()[0], spec.usage, group="minds")(run)
            return look

        return declare

    def all(self) -> list[Command]:
        """Every command once, in the order of declaration."""
        return list(dict.fromkeys(self._by_name.values()))

    def find(self, name: str) -> Command:
        """The command with this name, alias or unambiguous beginning. Raises `UserError` with near names."""
        name = name.lower()
        if name in self._by_name:
            return self._by_name[name]
        begun = {c.name: c for key, c in self._by_name.items() if len(name) > 1 and key.startswith(name)}
        if len(begun) == 1:
            return next(iter(begun.values()))
        near = sorted(begun) or difflib.get_close_matches(name, self._by_name, n=3, cutoff=0.6)
        hint = f"did you mean {' or '.join(near)}?" if near else "help lists the commands."
        raise UserError(f"There is no command {shorten(name, 30)}; {hint}")

    def split(self, line: str) -> tuple[Command, str]:
        mark = self._prefixes.get(line[0])
        if mark is not None:
            return mark, line[1:].strip()
        name, _, rest = line.partition(" ")
        return self.find(name), rest.strip()

    def read(self, line: str, world: World | None, user_id: str) -> tuple[Command, str]:
        """As `split`, but in a room bare text is speech; the rules are in `speech.py`."""
        if world is None:
            return self.split(line)
        first, space, _ = line.lower().partition(" ")
        if may_be_talk(line) and (first in EVERYDAY or (first == "who" and space)):
            return self._by_name["say"], line
        try:
            return self.split(line)
        except UserError as error:
            if world.leads_out(user_id, line):
                return self._by_name["go"], line
            why = why_withheld(line, self._by_name, world)
            if why is None:
                return self._by_name["say"], line
            if line.startswith("@"):
                raise
            raise UserError(f"{why or error} Nothing was said; to say it, put say in front.") from None

    def name_of(self, line: str, world: World | None = None, user_id: str = "") -> str:
        """The name of a line's command, or ""; for logs, which must hold no word that somebody typed."""
        line = clean(line)
        try:
            return self.read(line, world, user_id)[0].name if line else ""
        except UserError:
            return ""

    async def dispatch(self, line: str, context: CommandContext) -> Reply:
        """Run one line as typed. A refusal is a reply with `error`; an empty line has an empty reply."""
        if len(line) > MAX_LINE * 4:
            return _too_long(line)
        line = clean(line)
        if not line:
            return Reply()
        if len(line) > MAX_LINE:
            return _too_long(line)
        try:
            command, rest = self.read(line, context.world, context.caller.user_id)
            if rest in ("--help", "-h"):
                command, rest = self.find("help"), command.name
            elif command.name.startswith("@"):
                rest = _with_name_quoted(rest, context.society)
            try:
                return await context.society.with_agents(lambda: command.run(context, rest))
            except HelpAsked:
                return await self.find("help").run(context, command.name)
        except NoodlingsError as error:
            if not isinstance(error, UserError):
                log.error("%s failed: %s", self.name_of(line), error)
            return refused(told(error))
        except Exception:
            log.exception("%s failed", self.name_of(line))
            return refused("That command failed; the log has the details. You can go on playing.")


def _with_name_quoted(rest: str, society: Society) -> str:
    """`old tom 2` becomes `"old tom" 2`: a character's name at the beginning counts as one word."""
    folded = rest.casefold()
    long = (name for persona in society.personas.values() for name in persona.names if " " in name)
    fits = [
        name for name in long if folded.startswith(name) and not folded[len(name) : len(name) + 1].isalnum()
    ]
    size = max(map(len, fits), default=0)
    return f'"{rest[:size]}"{rest[size:]}' if size and len(folded) == len(rest) else rest


def _too_long(line: str) -> Reply:
    return refused(f"That line has {len(line):,} characters; split it into parts of at most {MAX_LINE:,}.")


def refused(why: str) -> Reply:
    """A reply that says why something was refused, as a sentence with a capital letter."""
    if why.partition(" ")[0].isalpha():  # else it begins with a setting or a flag
        why = why[0].upper() + why[1:]
    return Reply(data={"error": why}, view=Text(why, style="yellow"), error=True)


registry = Registry()
command, looking_inside = registry.command, registry.looking_inside
