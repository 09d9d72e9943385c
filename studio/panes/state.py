"""The state of a mind over its last turns: 40 numbers, surprise, and mood."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult

from noodlings.drawing.marks import ACCENT, LOUD, QUIET, cut, level, number
from noodlings.inspect import questions
from studio.panes.base import Answers, Ask, Pane
from studio.widgets.heat import HeatStrip
from studio.widgets.lines import Remark
from studio.widgets.marks import Drawing, plot, signed_number

if TYPE_CHECKING:
    from noodlings.inspect.mood import MoodView, ObserveView

GROUPS = (("fast", 16), ("medium", 16), ("slow", 8))
KEPT = 100
"""States of one agent that are held: more turns than any terminal has lines."""
BESIDE = 90
"""Cells from which the two plots stand beside one another."""


class State(Pane):
    """40 numbers as a heat strip, two plots."""

    TITLE = "State"
    ABOUT: ClassVar[str] = (
        "The state of the mind: sixteen fast, sixteen medium and eight slow numbers between −1 and 1, a row "
        "for each turn since the studio looks on, the latest on top; high and yellow is above 0, low and "
        "blue below. Left and right, or a click, choose a number. Beneath, how surprised it was in its "
        "latest turns, and how pleasant its mood."
    )
    DEFAULT_CSS = """
    State { padding: 0 1; }
    State #plots { height: 12; }
    State.-wide #plots { height: 40%; }
    """

    def compose(self) -> ComposeResult:
        """The strip over the plots."""
        yield HeatStrip(GROUPS)
        yield Remark()
        yield Drawing(id="plots")

    def on_mount(self) -> None:
        """No state is known yet. Only that of now is stored anywhere, so they are collected by agent."""
        self._states: dict[str, deque[tuple[float, ...]]] = {}
        self._agent = ""

    def on_resize(self) -> None:
        """Plots beside or below one another."""
        self.set_class(self.size.width >= BESIDE, "-wide")

    def asks(self) -> Sequence[Ask]:
        """State and mood of now."""
        return [Ask(questions.OBSERVE), Ask(questions.MOOD)]

    def observed(self, mind: ObserveView) -> None:
        """Keep the state of an agent, in sight or not, where it is another than before."""
        state = (*mind.fast, *mind.medium, *mind.slow)
        kept = self._states.setdefault(mind.agent, deque(maxlen=KEPT))
        if not kept or kept[0] != state:
            kept.appendleft(state)

    def update_from(self, answers: Answers) -> None:
        """Draw what is known."""
        if answers.refused:
            self.query_one(Remark).say(answers.refused, warning=True)
            return
        mind, mood = answers.view(questions.OBSERVE), answers.view(questions.MOOD)
        self.observed(mind)
        self._agent = mind.agent
        self.query_one(HeatStrip).show(list(self._states[self._agent]))
        self.query_one("#plots", Drawing).show(partial(_plots, mind, mood))
        self._tell_chosen()

    def clear(self) -> None:
        """Nothing of the agent before stays in sight."""
        self._agent = ""
        self.query_one(HeatStrip).show(())
        self.query_one("#plots", Drawing).show(_nothing)
        self.query_one(Remark).say("")

    @on(HeatStrip.Chosen)
    def chosen(self, event: HeatStrip.Chosen) -> None:
        """Tell its number."""
        self._tell_chosen()

    def _tell_chosen(self) -> None:
        states = self._states.get(self._agent)
        if not states:
            return
        strip = self.query_one(HeatStrip)
        values = [state[strip.chosen] for state in reversed(states)]
        drawn = "".join(level((value + 1) / 2) for value in values[-12:])
        seen = f"{len(values)} states seen" if len(values) > 1 else "only the state of now is known so far"
        self.query_one(Remark).say(
            f"{strip.name_of(strip.chosen)} {signed_number(values[-1])} {drawn} · {seen}"
        )


def _plots(mind: ObserveView, mood: MoodView, width: int, height: int) -> Text:
    """Surprise and valence, as high as there is room."""
    surprises, valences = mind.surprises, mood.valences
    if not surprises:
        return Text("no turn yet", style=QUIET)
    beside = width >= BESIDE
    each = (width - 3) // 2 if beside else width
    rows = max((height if beside else height // 2) - 1, 2)
    first = plot(_title("surprise", number(surprises[-1]), len(surprises)), surprises, 0, 1, each, rows)
    pleasant = _title("mood, valence", signed_number(valences[-1]), len(valences))
    second = plot(pleasant, valences, -1, 1, each, rows, "yellow")
    if not beside:
        return Text("\n").join([*first, *second])
    pairs = zip_longest(first, second, fillvalue=Text())
    return Text("\n").join([Text.assemble(cut(one, each, pad=True), "   ", two) for one, two in pairs])


def _title(name: str, figure: str, turns: int) -> Text:
    return Text.assemble((name, ACCENT), (f"  {figure} at the last turn", LOUD), (f", of {turns}", QUIET))


def _nothing(width: int, height: int) -> Text:
    return Text()
