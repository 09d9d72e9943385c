"""`@agents`, `@mood` and `@observe`: who there is, how they feel, and the state of their minds."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from commands.parse import Parsed, Spec
from commands.registry import CommandContext, Reply, looking_inside
from commands.render import BLANK, Flowing, TextColumn, TextRows, heading, quiet, stacked
from commands.scales import MARK, Course, Scale, Scales, columns
from noodlings.drawing.marks import ACCENT, LOUD, QUIET, feeling_style, feeling_text, words
from noodlings.inspect.mood import MoodView, ObserveView
from noodlings.inspect.views import AgentsView, AgentView, FeltView
from noodlings.text import counted
from noodlings.values.affect import AXES


@looking_inside(Spec("@agents [NAME]", named=False))
async def agents(context: CommandContext, parsed: Parsed) -> Reply:
    """List the characters: who they are, how they feel, how much they remember.

    Give a name to see only that one. If more live here than fit in memory, only those who are awake are
    listed.

    Examples:
      @agents
      @agents servnak
    """
    if parsed.name:
        one = context.inspector.agent(context.caller, parsed.name)
        return Reply(one.as_dict(), agent_view(one))
    view = await context.inspector.agents(context.caller)
    return Reply(view.as_dict(), agents_view(view))


def agents_view(view: AgentsView) -> RenderableType:
    if not view.agents and not view.asleep:
        return quiet("Nobody lives here yet.")
    some = "1 more is" if view.asleep == 1 else f"{view.asleep:,} more are"
    asleep = quiet(f"{some} asleep until named.") if view.asleep else None
    return stacked(_rows(view.agents) if view.agents else None, asleep)


def agent_view(view: AgentView) -> RenderableType:
    return stacked(heading(view.name, view.species), quiet(view.description), BLANK, _rows((view,)))


def _rows(agents: tuple[AgentView, ...]) -> TextRows:
    columns = (
        TextColumn("who", 14),
        TextColumn("feels"),
        TextColumn("just felt", optional=True),
        TextColumn("working", align="right"),
        TextColumn("episodic", align="right"),
        TextColumn("perceived", align="right"),
        TextColumn("what", None),
    )
    rows = [
        (
            words(one.name, LOUD),
            feeling_text(one.mood),
            feeling_text(one.affect),
            Text(f"{one.working:,}"),
            Text(f"{one.episodic:,}"),
            Text(f"{one.perceived:,}"),
            words(one.species, QUIET),
        )
        for one in agents
    ]
    return TextRows(columns, rows, least=10)


_ENDS = {
    "valence": ("unpleasant", "pleasant"),
    "arousal": ("asleep", "frantic"),
    "fear": ("no fear", "terror"),
    "sorrow": ("no sorrow", "grief"),
    "boredom": ("no boredom", "tedium"),
}
_REACHES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
"""The scale on which the 40 numbers are drawn ends at the first of these that is far enough."""


@looking_inside(Spec("@mood NAME"))
async def mood(context: CommandContext, parsed: Parsed) -> Reply:
    """Show what a character feels: its mood, the mood it returns to, and what it just felt.

    Everything it perceives pushes the mood a little, and time pulls it back. If a game sent events, their
    effect is shown beside it: one of four moods and, for admins, what the voice is told about the game.

    Examples:
        @mood servnak
    """
    view = context.inspector.mood(context.caller, parsed.name)
    return Reply(view.as_dict(), mood_view(view))


@looking_inside(Spec("@observe NAME"))
async def observe(context: CommandContext, parsed: Parsed) -> Reply:
    """Show the state of a character's mind: 40 numbers, what it expects, its surprises and what it wants.

    The 40 numbers are three layers: the fast one follows every percept, the medium one the scene, the slow
    one the long run.

    Examples:
        @observe servnak
    """
    view = context.inspector.observe(context.caller, parsed.name)
    return Reply(view.as_dict(), observe_view(view))


def mood_view(view: MoodView) -> RenderableType:
    """The mood on its five axes, beside where it returns to and what was just felt; its course; the game."""
    felt = (view.mood, view.baseline, view.affect)
    style = feeling_style(view.mood.family) or ACCENT
    scales = [
        Scale(
            axis,
            getattr(view.mood.affect, axis),
            getattr(view.baseline.affect, axis),
            [_number(axis, getattr(one.affect, axis)) for one in felt],
            _ENDS[axis],
            signed=axis == "valence",
            style=style,
        )
        for axis in AXES
    ]
    course = None
    if view.valences:
        now = view.mood.affect.valence
        shares = [(value + 1.0) / 2.0 for value in view.valences]
        course = Course("valence", shares, _signed(now), _ENDS["valence"], since=(now + 1.0) / 2.0)
    return stacked(
        heading(view.name, "mood"),
        BLANK,
        Flowing([_felt("feels", view.mood), _felt("just felt", view.affect)]),
        Flowing(
            [
                Text.assemble(_felt("returns to", view.baseline), (f" ({MARK}),", QUIET)),
                Text(f"half of the way in {duration(view.half_life)}", style=QUIET),
            ],
            gap=1,
        ),
        BLANK,
        Scales(scales, ("now", "returns to", "just felt")),
        BLANK,
        course,
        *_game(view),
    )


def observe_view(view: ObserveView) -> RenderableType:
    layers = (("fast", view.fast), ("medium", view.medium), ("slow", view.slow))
    furthest = max(abs(number) for _, numbers in layers for number in numbers)
    reach = next(reach for reach in _REACHES if furthest <= reach)
    scale = f"▁ {-reach:g} … █ +{reach:g}"
    strips = TextRows(
        (
            TextColumn("layer"),
            TextColumn(scale, most=16),
            TextColumn("least", align="right"),
            TextColumn("most", align="right"),
        ),
        [
            (
                Text(name),
                Text(columns([(number / reach + 1.0) / 2.0 for number in numbers]), style=ACCENT),
                Text(_signed(min(numbers))),
                Text(_signed(max(numbers))),
            )
            for name, numbers in layers
        ],
    )
    appetites = [
        Scale(name.replace("_", " "), value, view.usual[name], (f"{value:.2f}", f"{view.usual[name]:.2f}"))
        for name, value in view.appetites.items()
    ]
    surprises = view.surprises
    return stacked(
        heading(view.name, "state of mind"),
        BLANK,
        Flowing(
            [_felt("feels", view.mood), _felt("just felt", view.affect), _felt("expects", view.expected)]
        ),
        Course("surprise", surprises, f"{surprises[-1]:.2f}", ("none", "utter")) if surprises else None,
        BLANK,
        strips,
        BLANK,
        Scales(appetites, ("now", f"usual {MARK}"), ("sated", "starving")),
        quiet(f"wants to {'; '.join(view.goals)}") if view.goals else None,
    )


def _game(view: MoodView) -> list[RenderableType]:
    """The effect of a game's events; empty in a world without a game."""
    if not view.game and view.named_left <= 0.0 and not view.hidden:
        return []
    lasts = f", chill again in {duration(view.named_left)}" if view.named_left > 0.0 else ""
    notable = counted(view.hidden, "notable event")
    hidden = [quiet(f"not yours to read: {notable} of the game")] if view.hidden else []
    named = Text.assemble(("in the game ", QUIET), words(view.named), (lasts, QUIET))
    return [BLANK, Flowing([named]), *map(quiet, view.game), *hidden]


def _felt(what: str, felt: FeltView) -> Text:
    return Text.assemble((f"{what} ", QUIET), feeling_text(felt))


def _number(axis: str, value: float) -> str:
    return _signed(value) if axis == "valence" else f"{value:.2f}"


def _signed(value: float) -> str:
    """With its sign; zero is never negative."""
    return f"{value:+.2f}".replace("-0.00", "+0.00")


def duration(seconds: float) -> str:
    """World time in words: "45 s", "4 min"."""
    return f"{seconds:.0f} s" if seconds < 60.0 else f"{seconds / 60.0:.0f} min"
