"""Speaking to the agent, and its trace as it comes about, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Input, Static

from noodlings.drawing.marks import ACCENT, LOUD, QUIET, bar, feeling_style, number
from noodlings.errors import NoodlingsError
from noodlings.inspect import questions
from noodlings.text import MAX_LINE, clean
from studio.panes.base import Answers, Ask, Pane
from studio.source import FOUND, Action, Deed, Sign, Unreachable
from studio.widgets.lines import Remark

if TYPE_CHECKING:
    from noodlings.inspect.views import EntryView
    from noodlings.inspect.why import WhyView

LATEST = 12
"""Exchanges that are shown."""
STEPS = {
    "perceived": "heard and kept",
    "appraise": "what is felt about it",
    "mood": "mood moves",
    "predict": "how surprising it is",
    "remember": "how important it is",
    "commit": "written down",
    "refine": "feeling looked at again",
    "recall": "what comes to mind",
    "think": "a thought",
    "modulate": "transistors colour it",
    "thinking": "it takes a moment …",
    "speech": "it is said",
    "respond": "the answer",
    "turn": "done",
}
"""The steps of a turn in words; one that is not here is shown by its own name."""


class Line(Input):
    """What is said; escape leaves it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def action_leave(self) -> None:
        """Give the keys back."""
        self.screen.query_one("#talk-log").focus()


class Talk(Pane):
    """The latest exchanges, the steps of the turn under way, a line to type in."""

    TITLE = "Talk"
    ABOUT: ClassVar[str] = (
        "Speak to the agent: type after / and press enter, escape leaves the line. As it perceives, each "
        "step appears when it is done; at the end the whole turn: what was felt, how surprising and "
        "important it was, what came to mind, and how long each step took. It remembers what you say."
    )
    DEFAULT_CSS = """
    Talk #talk-log { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
    Talk #talk-log:focus { background: $surface; }
    Talk #steps { margin-top: 1; padding-left: 1; border-left: solid $primary; }
    Talk Line.-textual-compact { padding: 0 1; background: $surface; }
    Talk Line.-textual-compact:focus { background: $primary 25%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash,enter", "speak", "Speak", key_display="/"),
    ]

    def compose(self) -> ComposeResult:
        """What was said, what is going on, the line."""
        with VerticalScroll(id="talk-log"):
            yield Static(id="exchanges", markup=False)
            yield Static(id="steps", markup=False)
        yield Remark()
        yield Line(placeholder="/ to speak, enter says it", compact=True, max_length=MAX_LINE)

    def on_mount(self) -> None:
        """Nothing goes on."""
        self._entry: int | None = None
        self._steps: list[str] = []
        self._said = ""
        self._unheard = self._unread = False
        self._heard: list[tuple[int, str | None]] = []
        self.query_one("#steps").display = False

    def focus_first(self) -> None:
        """The page; the line has a key of its own, so that every other key works."""
        self.query_one("#talk-log").focus()

    def asks(self) -> Sequence[Ask]:
        """What was said last."""
        return [Ask(questions.WORKING, {"limit": LATEST})]

    def update_from(self, answers: Answers) -> None:
        """The latest exchanges."""
        if answers.refused:
            self._unread = True
            self.query_one(Remark).say(answers.refused, warning=True)
            return
        working = answers.view(questions.WORKING)
        if self._unread:
            self._unread = False
            self.query_one(Remark).say("")
        shown = Text("\n").join([_exchange(working.name, entry) for entry in working.entries])
        empty = Text(f"{clean(working.name)} has heard nothing yet.", style=QUIET)
        self.query_one("#exchanges", Static).update(shown if working.entries else empty)
        heard = [(entry.id, entry.response) for entry in working.entries]
        if heard != self._heard:  # else one may be reading further up
            self._heard = heard
            self._to_the_end()

    def happened(self, sign: Sign) -> None:
        """Another step of a turn, or one is heard again."""
        if sign.step == FOUND and self._unheard:
            self._unheard = False
            self.query_one(Remark).say("")
        if sign.turn_event is None:
            return
        if sign.turn_event.entry != self._entry:
            self._entry, self._steps = sign.turn_event.entry, []
        if sign.step not in self._steps:
            self._steps.append(sign.step)
        turn = sign.turn_event.turn
        steps = self.query_one("#steps", Static)
        steps.display = True
        steps.update(_under_way(self._steps) if turn is None else _whole(turn))
        if turn is not None:
            self.query_one(Remark).say("")
        self._to_the_end()

    def refused(self, error: NoodlingsError) -> None:
        """It was not heard: the words go back into the line."""
        self._unheard = isinstance(error, Unreachable)
        self.query_one(Remark).say(str(error), warning=True)
        line = self.query_one(Line)
        line.value = line.value or self._said

    def clear(self) -> None:
        """Nothing of the agent before stays."""
        self._entry, self._steps, self._heard = None, [], []
        self.query_one("#steps").display = False
        self.query_one("#exchanges", Static).update("")
        self.query_one(Remark).say("")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Say it."""
        said = clean(event.value)
        if said:
            self._said = said
            event.input.value = ""
            self.query_one(Remark).say("said; listening …")
            self.do(Deed(Action.SAY, {"text": said}))

    def action_speak(self) -> None:
        """Type something."""
        self.screen.set_focus(self.query_one(Line))  # at once: the next key is for it

    def _to_the_end(self) -> None:
        self.query_one("#talk-log", VerticalScroll).scroll_end(animate=False)


def _exchange(name: str, entry: EntryView) -> Text:
    line = Text.assemble((f"{clean(entry.name)}  ", LOUD), clean(entry.text))
    if entry.response:
        line.append(f"\n{clean(name)}  ", style=f"{LOUD} {ACCENT}").append(clean(entry.response))
    return line


def _under_way(steps: Sequence[str]) -> Text:
    line = Text()
    for step in steps:
        sign = "…" if step == "thinking" else "✓"
        line.append("\n" if line else "").append(f"{sign} ", style=ACCENT).append(
            STEPS.get(step, clean(step))
        )
    return line


def _whole(turn: WhyView) -> Text:
    """The turn at its end: what each step came to, and how long it took."""
    felt, told = turn.affect, turn.turn
    lines = [
        Text.assemble(("felt       ", QUIET), (felt.feeling, feeling_style(felt.family)) if felt else "—"),
        _measured("surprise", turn.surprise),
        _measured("important", turn.importance),
        Text.assemble(("in mind    ", QUIET), f"{len(turn.recalled) + turn.hidden} memories"),
    ]
    if turn.thought:
        lines.append(Text.assemble(("thought    ", QUIET), clean(turn.thought)))
        changed = [one.transistor for one in turn.modulations if one.how not in ("passed", "off")]
        coloured = ", ".join(map(clean, changed)) or "nothing"
        lines.append(Text.assemble(("coloured   ", QUIET), f"by {coloured}"))
    said = "—"
    if told is not None and told.percept is not None:
        said = clean(told.response) if told.response else f"nothing: {clean(told.decision)}"
    lines.append(Text.assemble(("said       ", QUIET), (said, LOUD)))
    took = "  ".join(f"{clean(one.step)} {one.milliseconds:.1f}" for one in turn.steps)
    lines.append(Text(f"took ms    {took}", style=QUIET))
    return Text("\n").join(lines)


def _measured(name: str, value: float) -> Text:
    return Text.assemble((name.ljust(11), QUIET), bar(value, 12), f" {number(value)}")
