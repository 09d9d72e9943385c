"""`@agents`: who there is, how they feel, and how much they remember."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from commands.parse import Spec, parse_flags
from commands.registry import Context, Reply, command
from commands.render import BLANK, LOUD, QUIET, Column, Rows, feeling_text, heading, quiet, stacked, words
from noodlings.inspect.views import AgentsView, AgentView

_SPEC = Spec("@agents [NAME]", named=False)


@command("@agents", _SPEC.usage, group="minds")
async def agents(context: Context, arguments: str) -> Reply:
    """List the characters: who they are, how they feel, how much they remember.

    With a name, one of them.

    Examples:
      @agents
      @agents servnak
    """
    name = parse_flags(arguments, _SPEC).name
    if name:
        one = context.inspector.agent(context.caller, name)
        return Reply(one.as_dict(), agent_view(one))
    view = context.inspector.agents(context.caller)
    return Reply(view.as_dict(), agents_view(view))


def agents_view(view: AgentsView) -> RenderableType:
    """One a line."""
    return _rows(view.agents) if view.agents else quiet("Nobody lives here yet.")


def agent_view(view: AgentView) -> RenderableType:
    """One, with what one sees when looking."""
    return stacked(heading(view.name, view.species), quiet(view.description), BLANK, _rows((view,)))


def _rows(agents: tuple[AgentView, ...]) -> Rows:
    columns = (
        Column("who", 14),
        Column("feels"),
        Column("just felt", optional=True),
        Column("working", align="right"),
        Column("episodic", align="right"),
        Column("perceived", align="right"),
        Column("what", None),
    )
    return Rows(
        columns,
        [
            (
                words(one.name, LOUD),
                feeling_text(one.mood.feeling, one.mood.family),
                feeling_text(one.affect.feeling, one.affect.family),
                Text(f"{one.working:,}"),
                Text(f"{one.episodic:,}"),
                Text(f"{one.perceived:,}"),
                words(one.species, QUIET),
            )
            for one in agents
        ],
        least=10,
    )
