"""The state of a mind in words, over its last turns as curves, and on demand as its forty numbers."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from itertools import zip_longest
from math import sqrt
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from noodlings.drawing.marks import ACCENT, LOUD, QUIET, bar, cut, feeling_text, level, number
from noodlings.inspect import questions
from studio.panes.base import Answers, Ask, Pane
from studio.widgets.heat import HeatStrip
from studio.widgets.lines import Remark
from studio.widgets.marks import Drawing, folded, plot, signed_number

if TYPE_CHECKING:
    from noodlings.inspect.mood import MoodView, ObserveView
    from noodlings.inspect.views import FeltView

GROUPS = (("fast", 16), ("medium", 16), ("slow", 8))
LAYERS = (
    ("fast", slice(0, 16), "one line", 0.25),
    ("medium", slice(16, 32), "ten lines", 0.1),
    ("slow", slice(32, 40), "all of it", 0.05),
)
"""Name, numbers, how much of the talk they follow, and how far from 0 they are in a lively talk (root mean
square)."""
STIRRED = ((0.9, "agitated"), (0.5, "stirred"), (0.2, "ruffled"), (0.0, "at rest"))
MOVED = ((0.5, "moved a lot"), (0.1, "moved a little"), (0.0, "hardly moved"))
"""At the last line; both as shares of how far they are from 0 in a lively talk."""
KEPT = 100
"""States of one agent that are held: more turns than any terminal has lines."""
BESIDE = 90
"""Cells from which the two plots stand beside one another."""
NAMES = 10
"""Cells of the name of a row."""
UNUSUAL = 0.15
"""So far from its usual level an appetite, or surprise, is worth a word."""


class State(Pane, can_focus=True):
    """Words or 40 numbers, over two plots."""

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
        """Words, or the strip, over the plots."""
        yield Drawing(id="in-words")
        yield HeatStrip(GROUPS)
        yield Remark()
        yield Drawing(id="plots")

    def on_mount(self) -> None:
        """No state is known yet. Only that of now is stored anywhere, so they are collected by agent."""
        self._states: dict[str, deque[tuple[float, ...]]] = {}
        self._agent = ""

        self._show_numbers(False)

    def focus_first(self) -> None:
        """The numbers where they are in sight; else the pane has all the keys."""
        if self.query_one(HeatStrip).display:
            self.query_one(HeatStrip).focus()
        else:
            self.focus()

    def action_numbers(self) -> None:
        """The forty numbers, or words again."""
        self._show_numbers(not self.query_one(HeatStrip).display)
        self._tell_chosen()
        self.focus_first()

    def _show_numbers(self, numbers: bool) -> None:
        self.query_one(HeatStrip).display = numbers
        self.query_one("#in-words").display = not numbers

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
        self.query_one("#in-words", Drawing).show(partial(_in_words, mind, mood, self._states[self._agent]))
        self.query_one("#plots", Drawing).show(partial(_plots, mind, mood))
        self._tell_chosen()

    def clear(self) -> None:
        """Nothing of the agent before stays in sight."""
        self._agent = ""
        self.query_one(HeatStrip).show(())
        self.query_one("#in-words", Drawing).show(None)
        self.query_one("#plots", Drawing).show(None)
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
        if not strip.display:
            self.query_one(Remark).say("v shows the forty numbers themselves")
            return
        values = [state[strip.chosen] for state in reversed(states)]
        drawn = "".join(level((value + 1) / 2) for value in values[-12:])
        seen = f"{len(values)} states seen" if len(values) > 1 else "only the state of now is known so far"
        self.query_one(Remark).say(
            f"{strip.name_of(strip.chosen)} {signed_number(values[-1])} {drawn} · {seen}"
        )


def _in_words(
    mind: ObserveView, mood: MoodView, states: Sequence[Sequence[float]], width: int, height: int
) -> Text:
    """What it feels and wants, and what each layer has done lately."""
    back = mood.baseline.feeling
    lines = [
        _row("felt", _felt(mind.affect), "about the last line", width),
        _row(
            "mood", _felt(mind.mood), "" if back == mood.mood.feeling else f"wears off towards {back}", width
        ),
        _row("expects", _felt(mind.expected), "of the next line", width),
    ]
    if mind.surprises:
        last, usual = mind.surprises[-1], sum(mind.surprises) / len(mind.surprises)
        how = (
            "more than usual"
            if last > usual + UNUSUAL
            else "less than usual"
            if last < usual - UNUSUAL
            else "as usual"
        )
        lines.append(_row("surprised", Text(how), f"{number(last)} at the last line", width))
    lines.append(_row("wants to", Text("; ".join(mind.goals) or "nothing in particular"), "", width))
    away = {name: level - mind.usual.get(name, level) for name, level in mind.appetites.items()}
    told = [
        f"{'more' if by > 0 else 'less'} {name.replace('_', ' ')}"
        for name, by in sorted(away.items(), key=lambda one: -abs(one[1]))
        if abs(by) > UNUSUAL
    ]
    lines.append(_row("needs", Text(", ".join(told) or "as much of everything as ever"), "", width))
    lines.append(Text("\nState of mind, and how much talk each layer follows", style=ACCENT))
    return Text("\n").join([*lines, *(_layer(states, *layer, width) for layer in LAYERS)])


def _felt(felt: FeltView) -> Text:
    return feeling_text(felt.feeling, felt.family)


def _row(name: str, told: Text, remark: str, width: int) -> Text:
    line = Text.assemble(told, (f"  {remark}" if remark else "", QUIET))
    return Text.assemble((name.ljust(NAMES), QUIET), folded(line, width, NAMES))


def _layer(
    states: Sequence[Sequence[float]], name: str, numbers: slice, follows: str, lively: float, width: int
) -> Text:
    """How far a layer is from rest, and how much it moved at the last line, where that was seen."""
    stirred = _length(states[0][numbers]) / lively
    told = next(words for least, words in STIRRED if stirred >= least)
    if len(states) > 1:
        by = (
            _length([new - old for new, old in zip(states[0][numbers], states[1][numbers], strict=True)])
            / lively
        )
        told += f", {next(words for least, words in MOVED if by >= least)}"
    drawn = Text.assemble((name.ljust(NAMES), QUIET), bar(stirred, 6), (f" {follows:<10}", QUIET), told)
    return cut(drawn, width)


def _length(numbers: Sequence[float]) -> float:
    return sqrt(sum(value * value for value in numbers) / len(numbers))


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
    return Text("\n").join(
        [Text.assemble(cut(one, each, pad=True), "   ", cut(two, each)) for one, two in pairs]
    )


def _title(name: str, figure: str, turns: int) -> Text:
    return Text.assemble((name, ACCENT), (f"  {figure}", LOUD), (f" at the last of {turns} turns", QUIET))
