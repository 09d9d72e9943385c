"""`@recipes`, `@rez`, `@derez`: who could live here, and who does."""

from __future__ import annotations

from commands.parse import Parsed, Spec
from commands.registry import CommandContext, Reply, looking_inside
from commands.render import TextColumn, TextRows, quiet, stacked
from noodlings.app import read_recipes
from noodlings.drawing.marks import LOUD, QUIET, words
from noodlings.errors import NotFound, UserError, there_are
from noodlings.text import clean, shorten
from noodlings.values.persona import Persona


@looking_inside(Spec("@recipes", named=False))
async def recipes(context: CommandContext, parsed: Parsed) -> Reply:
    """List the recipes: who could live here, and who is in the rooms.

    These are the recipes in the data folder (in its folder recipes) and those that come with noodlings. They
    are read again each time.
    """
    if parsed.name:
        raise UserError("@recipes stands alone")
    world = context.rooms
    where = {being.id: room.name for being, room in world.who()}
    known = read_recipes(context.society.settings.data_dir).personas | context.society.personas
    all_of_them = sorted(known.values(), key=lambda persona: persona.id)
    data = [
        {"id": one.id, "name": one.name, "species": one.species, "room": where.get(one.id, "")}
        for one in all_of_them
    ]
    rows = [
        (words(one.name, LOUD), words(where.get(one.id, "at rest"), QUIET), words(one.species, QUIET))
        for one in all_of_them
    ]
    view = TextRows((TextColumn("who", 14), TextColumn("where"), TextColumn("what", None)), rows, least=10)
    return Reply({"recipes": data}, stacked(view, quiet("@rez NAME brings one to life.")))


@looking_inside(Spec("@rez NAME"))
async def rez(context: CommandContext, parsed: Parsed) -> Reply:
    """Bring the character of a recipe to life in the rooms. For admins.

    A character that was here before returns to where it was, with everything it remembers.

    Examples:
      @rez lotta
    """
    context.caller.require_admin("bring characters to life")
    world = context.rooms
    persona = _one(context, parsed.name)
    if persona.id not in context.society.personas:
        persona.require_unused_names(context.society.personas.values())
        context.society.create(persona)
    room = world.wake(context.society.personas[persona.id])
    return Reply(
        {"agent": persona.id, "room": room.name}, words(f"{clean(persona.name)} lives in {room.inline}.")
    )


@looking_inside(Spec("@derez NAME"))
async def derez(context: CommandContext, parsed: Parsed) -> Reply:
    """Take a character out of the rooms, until @rez brings it back. For admins.

    It keeps everything it remembers, even after a restart.

    Examples:
      @derez phi
    """
    context.caller.require_admin("take characters out of the rooms")
    persona = context.society.persona_of(parsed.name)
    context.rooms.rest(persona.id)
    return Reply(
        {"agent": persona.id}, words(f"{clean(persona.name)} has left the rooms, and keeps its memories.")
    )


def _one(context: CommandContext, name: str) -> Persona:
    """The character with this id, name or alias.

    Raises:
        UserError: the recipe of that name was skipped, with what is wrong in it.
        NotFound: there is none.
    """
    wanted, found = name.casefold(), read_recipes(context.society.settings.data_dir)
    for path, why in found.skipped:
        if path.stem.casefold() == wanted:
            raise UserError(clean(why))
    there = found.personas | context.society.personas
    for persona in there.values():
        if wanted in persona.names:
            return persona
    raise NotFound(f"There is no recipe {shorten(name, 30)}; {there_are(sorted(there))}.")
