"""`@forget`, `@correct`, `@pin`, `@unpin`, `@importance`, `@undo`: changing what a character remembers."""

from __future__ import annotations

from functools import partial

from rich.text import Text

from commands.parse import ID, Flag, Parsed, Spec, memory_number
from commands.registry import CommandContext, Reply, looking_inside
from noodlings.agent.agent import Agent
from noodlings.errors import Forbidden, NotFound, UserError
from noodlings.inspect.changes import Corrected, Forgot, Reworded
from noodlings.ports import Forgotten
from noodlings.text import clean, counted, shorten
from noodlings.values.memory import MemoryEntry


@looking_inside(Spec("@forget NAME --id N | --user WHO [--yes]", (ID, Flag("user", "WHO"), Flag("yes"))))
async def forget(context: CommandContext, parsed: Parsed) -> Reply:
    """Make a character forget, for good.

    Name one memory by its number, as @memories shows it, or everything from somebody; "me" is you. Without
    --yes you only see what would be forgotten. With it, every trace this character keeps is deleted, and
    nobody can bring it back. Others who heard it still remember it.

    You can delete what you told a character yourself; an admin can delete everything.

    Examples:
      @forget servnak --id 12
      @forget servnak --id 12 --yes
      @forget phi --user me --yes
    """
    if parsed.has("id") == parsed.has("user"):
        raise UserError(f"One memory by its number, or all from one user: {parsed.usage}")
    agent, corrections = context.society.find(parsed.name), context.society.corrections
    if parsed.has("id"):
        await corrections.turn()
        (entry,) = corrections.own(context.caller, parsed.name, [memory_number(parsed)])
        what = f"memory {entry.id}, {_quoted(entry)},"

        async def delete() -> Forgotten:
            return await corrections.erased(corrections.forget(context.caller, parsed.name, [entry.id]))

    else:
        with context.society.long_answers.admitted(context.caller.user_id):  # as many memories may be read
            user = await _user(context, parsed)
            count = await corrections.count_of(context.caller, parsed.name, user)
        who = "you" if user == context.caller.user_id else shorten(clean(parsed.text("user")), 30)
        what = f"{counted(count, 'memory', 'memories')} from {who}"
        if not count:
            raise NotFound(f"{_name(agent)} remembers nothing from {who}.")
        delete = partial(corrections.forget_user_in_parts, context.caller, parsed.name, user)
    if not parsed.has("yes"):
        raise UserError(f"{_name(agent)} would forget {what} for good. If you mean it, add --yes.")
    forgotten = await delete()
    done = f"{_name(agent)} has forgotten {_told(forgotten)}"
    return Reply(Forgot.of(agent.id, forgotten).as_dict(), Text(done))


@looking_inside(Spec("@correct NAME --id N = WHAT", (ID,), text="WHAT"))
async def correct(context: CommandContext, parsed: Parsed) -> Reply:
    """Correct the words of a memory.

    From then on the character remembers WHAT, from the same person and moment. The former memory is kept and
    can be found, but whenever it would come to mind for an answer, the corrected one does. For admins.

    Examples:
      @correct servnak --id 12 = my sister is called Ruth
    """
    number, text = memory_number(parsed), parsed.rest.removeprefix("=").strip()
    if not text:
        raise UserError(f"What was really said? Type it like this: {parsed.usage}")
    entry = context.society.corrections.correct(context.caller, parsed.name, number, text)
    agent = context.society.find(parsed.name)
    former = agent.entry(number)
    instead = f", in place of {number}" + (f": {_quoted(former)}" if former else "")
    said = f"{_name(agent)} now remembers {_quoted(entry)} as memory {entry.id}{instead}."
    return Reply(Reworded(agent.id, entry.id, number).as_dict(), Text(said))


@looking_inside(Spec("@pin NAME --id N", (ID,)))
async def pin(context: CommandContext, parsed: Parsed) -> Reply:
    """Pin a memory, so that it never fades.

    A pinned memory stays in episodic memory whatever else happens, until @unpin lets it go.

    Examples:
      @pin servnak --id 12
    """
    entry = context.society.corrections.pin(context.caller, parsed.name, memory_number(parsed))
    agent = context.society.find(parsed.name)
    return _changed(agent, entry, f"{_name(agent)} will hold on to memory {entry.id}: {_quoted(entry)}")


@looking_inside(Spec("@unpin NAME --id N", (ID,)))
async def unpin(context: CommandContext, parsed: Parsed) -> Reply:
    """Let a pinned memory fade like any other.

    Examples:
      @unpin servnak --id 12
    """
    entry = context.society.corrections.pin(context.caller, parsed.name, memory_number(parsed), pinned=False)
    agent = context.society.find(parsed.name)
    still = " It was asked to remember it, so it keeps it anyway." if entry.held else ""
    return _changed(
        agent, entry, f"{_name(agent)} no longer holds on to memory {entry.id}: {_quoted(entry)}{still}"
    )


@looking_inside(
    Spec("@importance NAME --id N --to X | --reset", (ID, Flag("to", "X", float, 0, 1), Flag("reset")))
)
async def importance(context: CommandContext, parsed: Parsed) -> Reply:
    """Set by hand how important a memory is.

    0 is trivial, and 1 means that nothing matters more. The original importance is kept, and --reset
    restores it.

    Examples:
      @importance servnak --id 12 --to 0.9
      @importance servnak --id 12 --reset
    """
    number = memory_number(parsed)
    if parsed.has("to") == parsed.has("reset"):
        raise UserError(f"How important? Give --to X, from 0 to 1, or --reset: {parsed.usage}")
    value = None if parsed.has("reset") else parsed.number("to", 0.0)
    entry = context.society.corrections.set_importance(context.caller, parsed.name, number, value)
    agent = context.society.find(parsed.name)
    at_first = f" (at first {entry.encoded_importance:.2f})" if value is not None else ""
    weight = f"has importance {entry.importance:.2f} now{at_first}"
    return _changed(agent, entry, f"Memory {number} of {_name(agent)} {weight}: {_quoted(entry)}")


@looking_inside(Spec("@undo NAME"))
async def undo(context: CommandContext, parsed: Parsed) -> Reply:
    """Take back the last @pin, @unpin or @importance.

    This works for ten minutes, the latest change first. Forgetting cannot be undone.

    Examples:
      @undo servnak
    """
    entry, what = context.society.corrections.undo(context.caller, parsed.name)
    agent = context.society.find(parsed.name)
    said = f"Memory {entry.id} of {_name(agent)} is as it was before it was {what}: {_quoted(entry)}"
    return _changed(agent, entry, said)


async def _user(context: CommandContext, parsed: Parsed) -> str:
    """The id of whoever is meant; for somebody who is no longer in mind, the id itself must be given."""
    who = parsed.text("user")
    try:
        return context.inspector.user_id(context.caller, parsed.name, who)
    except Forbidden:
        return who  # so that the refusal is about forgetting and not about reading
    except NotFound:
        if await context.society.corrections.count_of(context.caller, parsed.name, who):
            return who
        raise


def _name(agent: Agent) -> str:
    return clean(agent.persona.name)


def _changed(agent: Agent, entry: MemoryEntry, said: str) -> Reply:
    return Reply(Corrected.of(agent.id, entry).as_dict(), Text(said))


def _told(forgotten: Forgotten) -> str:
    memories, answers = counted(forgotten.count, "memory", "memories"), len(forgotten.redacted)
    and_answers = f", and {answers} of its answers that repeated it" if answers else ""
    later = " Their last bytes are wiped from the disk later: at the next start, or by the database server."
    return f"{memories}{and_answers}.{'' if forgotten.erased else later}"


def _quoted(entry: MemoryEntry) -> str:
    return f'"{shorten(clean(entry.user_text), 40)}"'
