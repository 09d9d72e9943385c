"""`@forget`, `@pin`, `@unpin`, `@importance`, `@undo`: changing what a character remembers."""

from __future__ import annotations

from rich.text import Text

from commands.parse import Flag, Parsed, Spec, parse_flags
from commands.registry import Context, Reply, command
from noodlings.errors import UserError
from noodlings.text import clean, shorten
from noodlings.values.memory import MemoryEntry

_HIGHEST_ID = 2**53
_NUMBER = Flag("id", "N", int, 1, _HIGHEST_ID)

_FORGET = Spec("@forget NAME (--id N | --user WHO) --yes", (_NUMBER, Flag("user", "WHO"), Flag("yes")))
_PIN = Spec("@pin NAME --id N", (_NUMBER,))
_UNPIN = Spec("@unpin NAME --id N", (_NUMBER,))
_IMPORTANCE = Spec(
    "@importance NAME --id N (--to 0…1 | --reset)", (_NUMBER, Flag("to", "X", float, 0, 1), Flag("reset"))
)
_UNDO = Spec("@undo NAME")


@command("@forget", _FORGET.usage, group="minds")
async def forget(context: Context, arguments: str) -> Reply:
    """Make a character forget, for good.

    One memory by its number (@memories shows numbers), or everything from one user; "me" is you. It is
    deleted wherever anything of it is kept, and cannot be taken back, so --yes must be there.

    Anybody may have forgotten what they themselves told a character; whoever runs the world, everything.

    Examples:
      @forget servnak --id 12 --yes
      @forget phi --user me --yes
    """
    parsed = parse_flags(arguments, _FORGET)
    if parsed.has("id") == parsed.has("user"):
        raise UserError(f"What? One memory or one user: {_FORGET.usage}")
    agent = context.society.find(parsed.name)
    who = context.inspector.user_id(context.caller, parsed.name, parsed.text("user")) if parsed.has("user") else ""
    if not parsed.has("yes"):
        what = f"everything from {clean(parsed.text('user'))}" if who else f"memory {parsed.whole('id', 0)}"
        raise UserError(f"{agent.persona.name} would forget {what} for good. Add --yes if that is meant.")
    corrections = context.society.corrections
    if who:
        count = corrections.forget_user(context.caller, parsed.name, who)
    else:
        count = corrections.forget(context.caller, parsed.name, [parsed.whole("id", 0)])
    memories = "1 memory" if count == 1 else f"{count} memories"
    return Reply({"agent": agent.id, "forgotten": count}, Text(f"{agent.persona.name} has forgotten {memories}."))


@command("@pin", _PIN.usage, group="minds")
async def pin(context: Context, arguments: str) -> Reply:
    """Hold a memory: it never leaves episodic memory. @unpin lets it go again.

    Examples:
      @pin servnak --id 12
    """
    parsed = parse_flags(arguments, _PIN)
    entry = context.society.corrections.pin(context.caller, parsed.name, _id(parsed, _PIN))
    return _changed(entry, "is held now")


@command("@unpin", _UNPIN.usage, group="minds")
async def unpin(context: Context, arguments: str) -> Reply:
    """Let a memory go that was held with @pin.

    Examples:
      @unpin servnak --id 12
    """
    parsed = parse_flags(arguments, _UNPIN)
    entry = context.society.corrections.pin(context.caller, parsed.name, _id(parsed, _UNPIN), pinned=False)
    return _changed(entry, "is held no more")


@command("@importance", _IMPORTANCE.usage, group="minds")
async def importance(context: Context, arguments: str) -> Reply:
    """Set how important a memory is, from 0 to 1. What it was at first stays on record; --reset goes back to it.

    Examples:
      @importance servnak --id 12 --to 0.9
      @importance servnak --id 12 --reset
    """
    parsed = parse_flags(arguments, _IMPORTANCE)
    if parsed.has("to") == parsed.has("reset"):
        raise UserError(f"To what? It goes like this: {_IMPORTANCE.usage}")
    value = parsed.number("to", 0.0) if parsed.has("to") else None
    entry = context.society.corrections.set_importance(
        context.caller, parsed.name, _id(parsed, _IMPORTANCE), value
    )
    return _changed(entry, f"has importance {entry.importance:.2f} now")


@command("@undo", _UNDO.usage, group="minds")
async def undo(context: Context, arguments: str) -> Reply:
    """Take back the last @pin, @unpin or @importance, within ten minutes. Forgetting cannot be taken back.

    Examples:
      @undo servnak
    """
    entry, what = context.society.corrections.undo(context.caller, parse_flags(arguments, _UNDO).name)
    return _changed(entry, f"is as it was before it was {what}")


def _id(parsed: Parsed, spec: Spec) -> int:
    if not parsed.has("id"):
        raise UserError(f"Which memory? @memories shows their numbers. It goes like this: {spec.usage}")
    return parsed.whole("id", 0)


def _changed(entry: MemoryEntry, what: str) -> Reply:
    data = {
        "id": entry.id,
        "pinned": entry.pinned,
        "importance": round(entry.importance, 6),
        "encoded_importance": round(entry.encoded_importance, 6),
    }
    words = shorten(clean(entry.user_text), 40)
    return Reply(data, Text(f'Memory {entry.id} ("{words}") {what}.'))
