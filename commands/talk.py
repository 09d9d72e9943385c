"""Being in the world: speaking, acting, looking around and walking.

Each command is answered at once with what the player sees; the answers of characters come later.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from rich.console import Group
from rich.text import Text

from commands.parse import split_assignment
from commands.registry import CommandContext, Reply, command
from noodlings.errors import NotFound, UserError
from noodlings.text import clean
from noodlings.values.audience import Tier

if TYPE_CHECKING:
    from noodlings.worlds.beings import RoomLine, RoomScene
    from noodlings.worlds.rooms import World

_DIRECTIONS = {"north": "n", "south": "s", "east": "e", "west": "w", "up": "u", "down": "d"}


@command("say", "say TEXT", aliases=('"',))
async def say(context: CommandContext, rest: str) -> Reply:
    """Say something to everybody in the room.

    A line that is not a command is said as well, so you can usually just type. If a line looks like a
    command, put `say` in front of it.

    Whoever you name always answers; the others answer when they have something to say. When there are only
    two of you in the room, every word is meant for the other.

    Examples:
        good morning
        servnak, what do you remember?
        say look at the rain
        "whisper is a lovely word
    """
    return _aloud(context, context.rooms.say(context.caller.user_id, rest or _missing("say TEXT")))


@command("emote", "emote ACTION", aliases=(":", ";", "pose"))
async def emote(context: CommandContext, rest: str) -> Reply:
    """Do something that everybody in the room can see.

    Examples:
        emote sits down by the fire
        :waves
        :'s hands shake
    """
    return _aloud(context, context.rooms.emote(context.caller.user_id, rest or _missing("emote ACTION")))


@command("whisper", "whisper NAME = TEXT")
async def whisper(context: CommandContext, rest: str) -> Reply:
    """Say something to one person in the room only.

    The others only see that you whisper. It stays between the two of you: a character does not repeat it to
    anybody else.

    Examples:
        whisper phi = I am afraid of the dark
    """
    name, text = split_assignment(rest, "whisper NAME = TEXT")
    return _done(context, context.rooms.whisper(context.caller.user_id, name, text))


_MEANT_SEALED = re.compile(r"(?:^|\s)[-‐-―−]+seal(?:ed)?\b", re.IGNORECASE)
"""A flag in another place, or with the dash that a telephone makes of two."""


@command("@private", "@private NAME [--sealed] TEXT")
async def private(context: CommandContext, rest: str) -> Reply:
    """Whisper something that is kept as a secret.

    It stays between the two of you, is encrypted wherever it is kept, and no model on another machine is
    ever told of it. With --sealed the character keeps it and never thinks or speaks of it again; nobody can
    read it in the world, and only whoever has the key can get it out. Both need a key: see docs/data.md.

    Examples:
        @private phi the spare key is under the third flower pot
        @private phi --sealed my real name is Ada
    """
    quote = '"' if rest.startswith('"') else " "  # a name of several words comes in quotation marks
    name, _, text = rest.removeprefix('"').partition(quote)
    flag, _, rest_of_it = text.strip().partition(" ")
    sealed = flag == "--sealed"
    said = rest_of_it if sealed else text
    if not said.strip():
        _missing("@private NAME [--sealed] TEXT")
    if _MEANT_SEALED.search(said):
        raise UserError("Put --sealed behind the name: @private NAME --sealed TEXT. Nothing was said.")
    tier = Tier.SEALED if sealed else Tier.SECRET
    context.society.require_keepable(tier)
    return _done(context, context.rooms.whisper(context.caller.user_id, name, said, tier=tier))


@command("look", "look [NAME]", aliases=("l",))
async def look(context: CommandContext, rest: str) -> Reply:
    """Look around, or at someone or something here.

    Examples:
        look
        look servnak
        look at the clocks
    """
    world = context.rooms
    scene = world.scene(context.caller.user_id)
    wanted = rest.removeprefix("at ").strip()
    return _look_at(context, world, scene, wanted) if wanted else _scene(scene)


@command("who", "who")
async def who(context: CommandContext, rest: str) -> Reply:
    """Show who is in the world, and where."""
    _nothing_behind(rest, "who")
    beings = [(being, room.name) for being, room in context.rooms.who()]
    width = max(len(being.name) for being, _ in beings)
    view = Text("\n").join(
        Text.assemble(
            (being.name.ljust(width + 2), "bold"),
            room,
            (" (you)" if being.id == context.caller.user_id else "", "dim"),
        )
        for being, room in beings
    )
    data = [
        {"id": being.id, "name": being.name, "room": room, "character": being.persona is not None}
        for being, room in beings
    ]
    return Reply({"who": data}, view)


@command("go", "go DIRECTION")
async def go(context: CommandContext, rest: str) -> Reply:
    """Walk through an exit.

    Name an exit by its direction or by the room it leads to. You can also type just the direction, or its
    first letter.

    Examples:
        go north
        go library
        n
    """
    world = context.rooms
    world.go(context.caller.user_id, rest)
    return _scene(world.scene(context.caller.user_id))


@command("quit", "quit", aliases=("exit", "@quit"))
async def leave(context: CommandContext, rest: str) -> Reply:
    """Leave the world; everything is kept.

    That includes what the characters remember about you: come back and ask.
    """
    _nothing_behind(rest, "quit")
    return Reply({"leave": True}, Text("You leave. They will remember you.", style="dim"), leave=True)


def _declare_direction(direction: str, letter: str) -> None:
    async def walk(context: CommandContext, rest: str) -> Reply:
        _nothing_behind(rest, direction)
        return await go(context, direction)

    walk.__doc__ = f"Walk {direction}: short for `go {direction}`."
    command(direction, direction, aliases=(letter,), group="directions")(walk)


for _direction, _letter in _DIRECTIONS.items():
    _declare_direction(_direction, _letter)


def _missing(usage: str) -> NoReturn:
    raise UserError(f"Type it like this: {usage}")


def _nothing_behind(rest: str, name: str) -> None:
    if rest:
        raise UserError(f"{name} is typed alone. To say the line instead, put say in front.")


def _done(context: CommandContext, line: RoomLine) -> Reply:
    data = {"kind": str(line.kind), "text": line.text, "to": line.target}
    return Reply(data, line.view(context.caller.user_id))


def _aloud(context: CommandContext, line: RoomLine) -> Reply:
    """A line as its speaker sees it; where nobody else is, that is said, and where those it names are."""
    world, me, reply = context.rooms, context.caller.user_id, _done(context, line)
    if world.scene(me).others:
        return reply
    elsewhere = (
        f"{being.name} is in {room.inline}."
        for being, room in world.who()
        if being.id != me and being.named_in(line.text)
    )
    alone = Text(" ".join(["Nobody else is here.", *elsewhere]), style="dim")
    return replace(reply, view=Group(reply.view, alone))


def _scene(scene: RoomScene) -> Reply:
    room = scene.room
    parts = [Text(room.name, style="bold cyan"), Text(room.description)]
    if room.things:
        parts.append(
            Text.assemble(("You can look at: ", "dim"), ", ".join(thing.name for thing in room.things))
        )
    if scene.others:
        here = Text(", ").join(Text(being.name, style="bold") for being in scene.others)
        parts.append(Text.assemble(("Here with you: ", "dim"), here))
    exits = ", ".join(f"{direction} ({name})" for direction, name in scene.exits.items())
    parts.append(Text.assemble(("Exits: ", "dim"), exits or "none"))
    data = {
        "room": room.name,
        "description": room.description,
        "things": [thing.name for thing in room.things],
        "here": [being.name for being in scene.others],
        "exits": scene.exits,
    }
    return Reply(data, Group(*parts))


def _look_at(context: CommandContext, world: World, scene: RoomScene, wanted: str) -> Reply:
    thing = scene.room.thing(wanted)
    if thing is not None:
        return Reply({"thing": thing.name, "description": thing.description}, Text(thing.description))
    if wanted.casefold() in ("me", "myself", context.caller.name.casefold()):
        return Reply({"name": context.caller.name}, Text("That is you."))
    try:
        being = world.find_here(context.caller.user_id, wanted)
    except NotFound as error:
        things = ", ".join(thing.name for thing in scene.room.things)
        raise NotFound(f"{error} You can also look at: {things}." if things else str(error)) from None
    if being.persona is None:
        return Reply({"name": being.name}, Text(f"{being.name} is a traveller like you."))
    seen = context.inspector.agent(context.caller, being.id)
    persona = being.persona
    data = {"name": persona.name, "species": persona.species, "description": persona.description}
    seems = f"{clean(persona.name)} seems {seen.mood.feeling}."
    view = Group(
        Text.assemble((clean(persona.name), "bold"), f", {clean(persona.species)}"),
        Text(clean(persona.description)),
        Text(seems, style="dim"),
    )
    return Reply(data | {"mood": seen.mood.feeling}, view)
