"""Speaking to the agent: what was said so far, and beside it why each answer was given, as it comes about."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from noodlings.drawing.marks import ACCENT, LOUD, QUIET, ago
from noodlings.errors import NoodlingsError
from noodlings.text import MAX_LINE, clean
from studio.panes.base import Answers, Ask
from studio.panes.conversation import ConversationPane
from studio.panes.memory_pane import ROOMY
from studio.panes.why_lines import why_text
from studio.source import FOUND, Action, Deed, Refused, Sign, Unreachable
from studio.widgets.lines import Remark
from studio.widgets.marks import Draw, Drawing, folded
from studio.widgets.rows import Rows

if TYPE_CHECKING:
    from noodlings.inspect.views import EntryView
    from noodlings.inspect.why import WhyView

STEPS = {
    "perceived": "heard and kept",
    "appraise": "what it feels about that",
    "mood": "its mood moves",
    "predict": "how surprising it is",
    "remember": "how important it is",
    "commit": "written down",
    "refine": "a second look at the feeling",
    "recall": "what comes to mind",
    "think": "a thought",
    "modulate": "transistors colour it",
    "thinking": "thinking …",
    "speech": "speaks",
    "respond": "the answer",
    "turn": "done",
}
"""The steps of a turn in words; one that is not here is shown by its own name."""
HERE = "▸"
"""Before the line that is looked at."""


class Line(Input):
    """What is said; escape leaves it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "In the line: leave it", show=False)]

    def action_leave(self) -> None:
        """Give the keys back."""
        self.screen.query_one("#lines").focus()


class Talk(ConversationPane):
    """What was said, why, and a line to type in."""

    TITLE = "Talk"
    ABOUT: ClassVar[str] = (
        "What was said to the agent and what it answered, the latest last. Beside it stands why: what it "
        "felt, which memories came to mind and for what reason (▸ was put into words), its first thought, "
        "and what coloured that. Up and down walk from line to line; tab goes over to the why, to scroll "
        "it. While it answers, each step is shown as it is done."
    )
    DEFAULT_CSS = """
    Talk #halves { height: 1fr; layout: vertical; }
    Talk Rows { height: 1fr; width: 1fr; }
    Talk #why { height: 50%; padding: 0 1; border-top: solid $panel;
                scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    Talk #why:focus { border-top: solid $primary; }
    Talk.-roomy #halves { layout: horizontal; }
    Talk.-roomy #why { height: 1fr; width: 50%; border-top: none; border-left: solid $panel; }
    Talk.-roomy #why:focus { border-top: none; border-left: solid $primary; }
    Talk Line.-textual-compact { padding: 0 1; background: $surface; }
    Talk Line.-textual-compact:focus { background: $primary 25%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "speak", "Speak", key_display="/"),
        Binding("enter", "app.pane(1)", "Why, memory by memory"),
    ]

    def compose(self) -> ComposeResult:
        """What was said, why, the line."""
        with Container(id="halves"):
            yield Rows(id="lines")
            with VerticalScroll(id="why"):
                yield Drawing(id="told")
        yield Remark()
        yield Line(placeholder="/ to speak, enter to say it", compact=True, max_length=MAX_LINE)

    def on_mount(self) -> None:
        """Nothing goes on."""
        self._steps: list[str] = []
        self._entry: int | None = None
        self._said = ""
        self._drawn: dict[str, tuple[Text, int]] = {}
        self._unheard = False

    def on_resize(self) -> None:
        """Beside or below."""
        self.set_class(self.size.width >= ROOMY, "-roomy")

    @on(Rows.Resized)
    def resized(self) -> None:
        """Lines are folded to the width."""
        self._draw_lines()

    @property
    def _listed(self) -> Rows:
        return self.query_one("#lines", Rows)

    def asks(self) -> Sequence[Ask]:
        """What was said, and why."""
        return self.conversation.asks()

    def update_from(self, answers: Answers) -> None:
        """The lines, and the why of the one that is looked at."""
        told = self.told_of(answers)
        if isinstance(told, Refused):
            self._say(told.words, warning=True)
            return
        self._draw_lines()
        if not self.conversation.lines:
            empty = Text(f"{clean(self.conversation.name)} has heard nothing yet.", style=QUIET)
            self._show(lambda width, height: empty)
        elif told is not None and not (self._steps and self.conversation.at is None):
            self._show(partial(_why, told))
        if not self._said:
            self._say(self.conversation.place)

    def happened(self, sign: Sign) -> None:
        """Another step of a turn, or one is heard again."""
        if sign.step == FOUND:
            self._steps = []  # what was under way has ended with the server
            if self._unheard:
                self._unheard = False
                self._say("")
        if sign.turn_event is None:
            return
        if sign.turn_event.entry != self._entry:
            self._entry, self._steps = sign.turn_event.entry, []
        if sign.step not in self._steps:
            self._steps.append(sign.step)
        turn = sign.turn_event.turn
        if turn is None:
            if self.conversation.at is None:
                self._show(partial(_under_way, tuple(self._steps)))
            return
        self._entry, self._steps = None, []
        percept = turn.turn.percept if turn.turn else None
        if turn.turn and percept and percept.text == self._said:
            self._said = ""
            if not turn.turn.response:  # whoever spoke wants to know why there is silence
                self.conversation.at = percept.id
        if self.conversation.at is None or (percept and self.conversation.at == percept.id):
            self._show(partial(_why, turn))

    def refused(self, error: NoodlingsError) -> None:
        """It was not heard: the words go back into the line."""
        self._unheard = isinstance(error, Unreachable)
        self._say(str(error), warning=True)
        line = self.query_one(Line)
        line.value, self._said = line.value or self._said, ""

    def clear(self) -> None:
        """Nothing of the agent before stays."""
        self._entry, self._steps, self._said, self._drawn = None, [], "", {}
        self._listed.clear_options()
        self._show(None)
        self._say("")

    @on(OptionList.OptionHighlighted, "#lines")
    def walked(self, event: OptionList.OptionHighlighted) -> None:
        """Look at the line that one walked to; from the first one on, at earlier ones."""
        event.stop()
        if event.option_index == 0 and self.conversation.more:
            self.conversation.read_more()
            self.want(self.conversation.asks()[0])
        self.look_at(int(event.option.id or 0))

    @on(OptionList.OptionSelected, "#lines")
    async def opened(self, event: OptionList.OptionSelected) -> None:
        """Show each memory of the answer."""
        event.stop()
        await self.run_action("app.pane(1)")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Say it, and wait for the answer to it."""
        said = clean(event.value)
        if said:
            self._said = said
            event.input.value = ""
            self.conversation.at = None
            self._say("said; waiting for the answer …")
            self.do(Deed(Action.SAY, {"text": said}))

    def action_speak(self) -> None:
        """Type something."""
        self.screen.set_focus(self.query_one(Line))  # at once: the next key is for it

    def _say(self, what: str, warning: bool = False) -> None:
        self.query_one(Remark).say(what, warning)

    def _show(self, draw: Draw | None) -> None:
        self.query_one("#told", Drawing).show(draw)

    def _draw_lines(self) -> None:
        talk, listed = self.conversation, self._listed
        rows: dict[str, tuple[Text, int]] = {}
        before = ""
        for line in talk.lines:
            when = ago(line.age)
            said = _exchange(talk.name, line, line.id == talk.chosen, "" if when == before else when)
            rows[str(line.id)] = said, listed.room
            before = when
        drawn, self._drawn = self._drawn, rows
        moved = list(rows) != list(drawn)
        changed = {key: _folded(*row) for key, row in rows.items() if moved or drawn[key] != row}
        with self.prevent(OptionList.OptionHighlighted):  # nobody moved
            if moved:
                listed.clear_options()
                listed.add_options(Option(row, key) for key, row in changed.items())
            else:
                for key, row in changed.items():
                    listed.replace_option_prompt(key, row)
            listed.highlighted = list(rows).index(str(talk.chosen)) if str(talk.chosen) in rows else None
        if moved and talk.at is None:
            listed.scroll_end(animate=False)
            self.call_after_refresh(listed.scroll_to_highlight)


def _exchange(name: str, line: EntryView, here: bool, when: str) -> Text:
    """What was said, and the answer."""
    how = {"thought": "thinks ", "whisper": "whispers "}.get(line.kind, "")
    said = Text.assemble(
        (f"{HERE if here else ' '} {clean(line.name)} ", LOUD), (how, QUIET), clean(line.text)
    )
    said.append(f"  {when}", style=QUIET)
    if line.response:
        said.append(f"\n{clean(name)} ", style=f"{LOUD} {ACCENT}").append(clean(line.response))
    return said


def _folded(said: Text, room: int) -> Text:
    return Text.assemble(said[:2], folded(said[2:], room, 2))


def _under_way(steps: Sequence[str], width: int, height: int) -> Text:
    """The steps of a turn so far."""
    return Text("\n").join(
        [
            Text.assemble(("… " if step == "thinking" else "✓ ", ACCENT), STEPS.get(step, clean(step)))
            for step in steps
        ]
    )


def _why(told: WhyView, width: int, height: int) -> Text:
    return why_text(told, width)
