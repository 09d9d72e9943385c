"""The state of a mind in words, its last turns as curves, and on demand its forty numbers."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from noodlings.drawing.marks import ACCENT, LOUD, QUIET, bar, cut, feeling_text, level, number
from noodlings.inspect import questions
from studio.panes.base import Pane, Query, Results
from studio.widgets.heat import HeatStrip
from studio.widgets.lines import StatusLine
from studio.widgets.marks import NAME_WIDTH, Drawing, named_row, plot, side_by_side, signed_number

if TYPE_CHECKING:
    from noodlings.inspect.mood import MoodView, ObserveView

LAYERS = (
    ("fast", slice(0, 16), "one line", 0.25),
    ("medium", slice(16, 32), "ten lines", 0.1),
    ("slow", slice(32, 40), "all of it", 0.05),
)
"""Name, numbers, how much of the talk they follow, and their root mean square in a lively talk."""
AGITATION = ((0.9, "agitated"), (0.5, "stirred"), (0.2, "ruffled"), (0.0, "at rest"))
MOVEMENT = ((0.5, "moved a lot"), (0.1, "moved a little"), (0.0, "hardly moved"))
"""Movement at the last line. Both are shares of the root mean square in a lively talk."""
MAX_STATES = 100
"""States that are kept of one agent: more turns than any terminal has lines."""
TWO_COLUMNS = 90
"""Cells from which the two plots stand side by side."""
UNUSUAL = 0.15
"""How far from its usual level an appetite or surprise must be to be mentioned."""


class State(Pane, can_focus=True):
    """Words or forty numbers, above two plots."""

    TITLE = "State"
    ABOUT: ClassVar[str] = (
        "What the agent feels, expects and wants, in words. Its state of mind is forty numbers in three "
        "layers: the fast one follows each line, the medium one about ten, the slow one the whole "
        "conversation. A bar says how far a layer is from rest, compared with a lively talk. Below, how "
        "surprising the latest lines were, and how pleasant the mood was. Press v for the numbers: a row "
        "for each turn since the studio was opened, the latest on top; high and yellow is above 0, low "
        "and blue below."
    )
    DEFAULT_CSS = """
    State { padding: 0 1; }
    State #plots { height: 1fr; min-height: 6; max-height: 18; margin-top: 1; }
    State HeatStrip { height: 50%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("v", "numbers", "Words or numbers")]

    def compose(self) -> ComposeResult:
        yield Drawing(id="in-words")
        yield HeatStrip([(name, numbers.stop - numbers.start) for name, numbers, *_ in LAYERS])
        yield StatusLine()
        yield Drawing(id="plots")

    def on_mount(self) -> None:
        # By agent, because only the present state is stored anywhere.
        self._states: dict[str, deque[tuple[float, ...]]] = {}
        self._agent = ""
        self._show_numbers(False)

    @property
    def _strip(self) -> HeatStrip:
        return self.query_one(HeatStrip)

    def focus_first(self) -> None:
        (self._strip if self._strip.display else self).focus()

    def action_numbers(self) -> None:
        self._show_numbers(not self._strip.display)
        self._describe_chosen()
        self.focus_first()

    def _show_numbers(self, numbers: bool) -> None:
        self._strip.display = numbers
        self.query_one("#in-words").display = not numbers

    def queries(self) -> Sequence[Query]:
        return [Query(questions.OBSERVE), Query(questions.MOOD)]

    def mind_observed(self, mind: ObserveView) -> None:
        """Keep the state of an agent if it has changed."""
        state = (*mind.fast, *mind.medium, *mind.slow)
        states = self._states.setdefault(mind.agent, deque(maxlen=MAX_STATES))
        if not states or states[0] != state:
            states.appendleft(state)

    def update_from(self, results: Results) -> None:
        mind, mood = results.view(questions.OBSERVE), results.view(questions.MOOD)
        self.mind_observed(mind)
        self._agent = mind.agent
        states = self._states[self._agent]
        self._strip.show(list(states))
        self.query_one("#in-words", Drawing).show(partial(_in_words, mind, mood, states))
        self.query_one("#plots", Drawing).show(partial(_plots, mind, mood))
        self._describe_chosen()

    def clear(self) -> None:
        super().clear()
        self._agent = ""
        self._strip.show(())

    @on(HeatStrip.Chosen)
    def _describe_chosen(self) -> None:
        """Show the name, value and history of the chosen number."""
        states = self._states.get(self._agent)
        if not states:
            return
        if not self._strip.display:
            self.show_status("v shows the forty numbers themselves")
            return
        chosen = self._strip.chosen
        values = [state[chosen] for state in reversed(states)]
        history = "".join(level((value + 1) / 2) for value in values[-12:])
        seen = f"{len(values)} states seen" if len(values) > 1 else "only the state of now is known so far"
        self.show_status(f"{self._strip.name_of(chosen)} {signed_number(values[-1])} {history} · {seen}")


def _in_words(
    mind: ObserveView, mood: MoodView, states: Sequence[Sequence[float]], width: int, height: int
) -> Text:
    """What it feels and wants, and how each layer of its state has moved."""
    baseline = mood.baseline.feeling
    wears_off = "" if baseline == mood.mood.feeling else f"wears off towards {baseline}"
    rows = [
        ("felt", feeling_text(mind.affect), "about the last line"),
        ("mood", feeling_text(mind.mood), wears_off),
        ("expects", feeling_text(mind.expected), "of the next line"),
    ]
    if mind.surprises:
        last, usual = mind.surprises[-1], sum(mind.surprises) / len(mind.surprises)
        how = "more than" if last > usual + UNUSUAL else "less than" if last < usual - UNUSUAL else "as"
        rows.append(("surprised", Text(f"{how} usual"), f"{number(last)} at the last line"))
    rows.append(("wants to", Text("; ".join(mind.goals) or "nothing in particular"), ""))
    deviations = {name: level - mind.usual.get(name, level) for name, level in mind.appetites.items()}
    needs = [
        f"{'more' if by > 0 else 'less'} {name.replace('_', ' ')}"
        for name, by in sorted(deviations.items(), key=lambda item: -abs(item[1]))
        if abs(by) > UNUSUAL
    ]
    rows.append(("needs", Text(", ".join(needs) or "as much of everything as ever"), ""))
    lines = [
        named_row(name, Text.assemble(text, (f"  {remark}" if remark else "", QUIET)), width)
        for name, text, remark in rows
    ]
    lines.append(Text("\nState of mind, and how much talk each layer follows", style=ACCENT))
    return Text("\n").join([*lines, *(_layer(states, *layer, width) for layer in LAYERS)])


def _layer(
    states: Sequence[Sequence[float]], name: str, numbers: slice, follows: str, lively: float, width: int
) -> Text:
    """How far a layer is from rest, and how much it moved at the last line if the state before is known."""
    distance = _root_mean_square(states[0][numbers]) / lively
    text = next(words for least, words in AGITATION if distance >= least)
    if len(states) > 1:
        changes = [new - old for new, old in zip(states[0][numbers], states[1][numbers], strict=True)]
        moved = _root_mean_square(changes) / lively
        text += f", {next(words for least, words in MOVEMENT if moved >= least)}"
    line = Text.assemble((name.ljust(NAME_WIDTH), QUIET), bar(distance, 6), (f" {follows:<10}", QUIET), text)
    return cut(line, width)


def _root_mean_square(numbers: Sequence[float]) -> float:
    return sqrt(sum(value * value for value in numbers) / len(numbers))


def _plots(mind: ObserveView, mood: MoodView, width: int, height: int) -> Text:
    """Surprise and valence, as high as there is room."""
    surprises, valences = mind.surprises, mood.valences
    if not surprises or not valences:  # these are two answers
        return Text("No turn yet.", style=QUIET)
    two_columns = width >= TWO_COLUMNS
    each = (width - 3) // 2 if two_columns else width
    rows = max((height if two_columns else height // 2) - 1, 2)
    title = _title("surprise", number(surprises[-1]), len(surprises))
    first = plot(title, surprises, 0, 1, each, rows)
    title = _title("mood, valence", signed_number(valences[-1]), len(valences))
    second = plot(title, valences, -1, 1, each, rows, "yellow")
    return side_by_side(first, second, each) if two_columns else Text("\n").join([*first, *second])


def _title(name: str, figure: str, turns: int) -> Text:
    return Text.assemble((name, ACCENT), (f"  {figure}", LOUD), (f" at the last of {turns} turns", QUIET))
