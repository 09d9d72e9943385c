"""`@mood NAME` and `@observe NAME`: what a character feels, and the state of its mind."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from commands.parse import Spec, parse_flags
from commands.registry import Context, Reply, command
from commands.render import (
    ACCENT,
    BLANK,
    LOUD,
    QUIET,
    Column,
    Flowing,
    Rows,
    bar,
    feeling_style,
    feeling_text,
    heading,
    level,
    measure,
    quiet,
    stacked,
    words,
)
from noodlings.inspect.views import FeltView, MoodView, ObserveView
from noodlings.values.affect import AXES

_MOOD = Spec("@mood NAME")
_OBSERVE = Spec("@observe NAME")
BAR = 16


@command("@mood", _MOOD.usage, group="minds")
async def mood(context: Context, arguments: str) -> Reply:
    """Show what a character feels: its mood, where that returns to, and what it just felt.

    Examples:
      @mood servnak
    """
    view = context.inspector.mood(context.caller, parse_flags(arguments, _MOOD).name)
    return Reply(view.as_dict(), mood_view(view))


@command("@observe", _OBSERVE.usage, group="minds")
async def observe(context: Context, arguments: str) -> Reply:
    """Show the state of a character's mind: 40 numbers, what it expects, its surprises and what it wants.

    Examples:
      @observe servnak
    """
    view = context.inspector.observe(context.caller, parse_flags(arguments, _OBSERVE).name)
    return Reply(view.as_dict(), observe_view(view))


def mood_view(view: MoodView) -> RenderableType:
    """Mood, baseline and latest affect side by side, and how the mood went."""
    felt = (("mood", view.mood), ("returns to", view.baseline), ("just felt", view.affect))
    rows: list[Sequence[Text]] = [
        (Text(""), *(feeling_text(one.feeling, one.family) for _, one in felt)),
        *(
            (Text(axis), *(_axis(getattr(one.affect, axis), axis, one) for _, one in felt))
            for axis in AXES
        ),
    ]
    columns = (Column(), *(Column(title, most=BAR + 6) for title, _ in felt))
    return stacked(
        heading(view.name, "mood", view.named),
        BLANK,
        Rows(columns, rows),
        BLANK,
        _line("valence", [(value + 1.0) / 2.0 for value in view.valences], view.valences, "of the mood, turn by turn"),
        _goals(view.goals),
    )


def observe_view(view: ObserveView) -> RenderableType:
    """The layers as strips, the expectation, the surprises as a line, the appetites as bars."""
    layers = (("fast", view.fast), ("medium", view.medium), ("slow", view.slow))
    strips = Rows(
        (Column("layer"), Column("−1 ▁ … █ 1", most=None), Column("from", align="right"), Column("to", align="right")),
        [
            (
                Text(name),
                Text("".join(level((value + 1.0) / 2.0) for value in numbers), style=ACCENT),
                Text(f"{min(numbers):+.2f}"),
                Text(f"{max(numbers):+.2f}"),
            )
            for name, numbers in layers
        ],
        least=16,
    )
    appetites = Rows(
        (Column("appetite", most=14), Column(most=BAR + 6)),
        [(Text(name.replace("_", " ")), measure(value, BAR)) for name, value in view.appetites.items()],
    )
    return stacked(
        heading(view.name, "state of mind"),
        BLANK,
        strips,
        BLANK,
        Flowing([
            Text.assemble("felt ", feeling_text(view.affect.feeling, view.affect.family)),
            Text.assemble("expects ", feeling_text(view.expected.feeling, view.expected.family)),
        ]),
        BLANK,
        _line("surprise", view.surprises, view.surprises, "turn by turn"),
        BLANK,
        appetites,
        _goals(view.goals),
    )


def _axis(value: float, axis: str, felt: FeltView) -> Text:
    share = (value + 1.0) / 2.0 if axis == "valence" else value
    shown = f" {value:+.2f}" if axis == "valence" else f"  {value:.2f}"
    return bar(share, BAR - 4, feeling_style(felt.family) or ACCENT).append(shown)


def _line(name: str, shares: Sequence[float], values: Sequence[float], what: str) -> RenderableType:
    """Values of 0…1 as a line of small columns, with the latest as a number."""
    if not values:
        return quiet(f"no {name} {what} yet")
    return Flowing([
        Text(name, style=QUIET),
        Text("".join(level(share) for share in shares), style=ACCENT),
        Text(f"{values[-1]:.2f}", style=LOUD),
        Text(what, style=QUIET),
    ])


def _goals(goals: Sequence[str]) -> RenderableType | None:
    return Flowing([Text("wants to", style=QUIET), *(words(goal) for goal in goals)]) if goals else None
