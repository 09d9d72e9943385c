"""Talking to the agent: what was said so far, and why each answer was given, as it comes about."""

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

from noodlings.drawing.marks import ACCENT, LOUD, QUIET, ago
from noodlings.errors import NoodlingsError
from noodlings.text import MAX_LINE, clean
from studio.panes.base import Query, Results
from studio.panes.conversation import ConversationPane
from studio.panes.why_lines import why_text
from studio.source import RECONNECTED, Action, ActionRequest, SourceEvent, Unreachable
from studio.widgets.inputs import LineInput
from studio.widgets.lines import StatusLine
from studio.widgets.marks import Draw, Drawing, folded
from studio.widgets.rows import Rows

if TYPE_CHECKING:
    from noodlings.inspect.views import EntryView

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
"""The steps of a turn in words; any other step is shown by its name."""


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
    Talk.-wide #halves { layout: horizontal; }
    Talk.-wide #why { height: 1fr; width: 50%; border-top: none; border-left: solid $panel; }
    Talk.-wide #why:focus { border-top: none; border-left: solid $primary; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "type", "Speak", key_display="/"),
        Binding("enter", "app.pane(1)", "Why, memory by memory"),
    ]

    def compose(self) -> ComposeResult:
        with Container(id="halves"):
            yield Rows(id="lines")
            with VerticalScroll(id="why"):
                yield Drawing(id="why-text")
        yield StatusLine()
        yield LineInput("/ to speak, enter to say it", "#lines", max_length=MAX_LINE)

    def on_mount(self) -> None:
        self._steps: list[str] = []  # of the turn that is under way
        self._entry: int | None = None  # and the memory that it is about
        self._said = ""  # by the user, and not answered yet
        self._undelivered = False
        self._folded: dict[str, tuple[Text, int, Text]] = {}  # text, width and result by row

    @property
    def _rows(self) -> Rows:
        return self.query_one("#lines", Rows)

    def queries(self) -> Sequence[Query]:
        return self.conversation.queries()

    def update_from(self, results: Results) -> None:
        why = self.find_turn(results)
        if isinstance(why, NoodlingsError):
            self.show_failure(why)
            return
        self._draw_lines()
        if not self.conversation.lines:
            empty = Text(f"{clean(self.conversation.name)} has heard nothing yet.", style=QUIET)
            self._show(lambda width, height: empty)
        elif why is not None and not (self._steps and self.conversation.at is None):
            self._show(partial(why_text, why))
        if not self._said:
            self.show_status(self.conversation.position)

    def source_changed(self, event: SourceEvent) -> None:
        """Show another step of a turn, or the whole turn when it is done."""
        if event.step == RECONNECTED:
            self._steps = []  # what was under way has ended with the server
            if self._undelivered:
                self._undelivered = False
                self.show_status("")
        if event.turn_event is None:
            return
        if event.turn_event.entry != self._entry:
            self._entry, self._steps = event.turn_event.entry, []
        if event.step not in self._steps:
            self._steps.append(event.step)
        why = event.turn_event.turn
        if why is None:
            if self.conversation.at is None:
                self._show(partial(_steps_text, tuple(self._steps)))
            return
        self._entry, self._steps = None, []
        percept = why.turn.percept if why.turn else None
        if why.turn and percept and percept.text == self._said:
            self._said = ""
            if not why.turn.response:  # stay at the user's own words, to explain the silence
                self.conversation.at = percept.id
        if self.conversation.at is None or (percept and self.conversation.at == percept.id):
            self._show(partial(why_text, why))

    def request_failed(self, error: NoodlingsError) -> None:
        """Put the words back into the line."""
        self._undelivered = isinstance(error, Unreachable)
        self.show_status(str(error), warning=True)
        line = self.query_one(LineInput)
        line.value, self._said = line.value or self._said, ""

    def clear(self) -> None:
        super().clear()
        self._entry, self._steps, self._said, self._folded = None, [], "", {}
        self._rows.show({})

    @on(OptionList.OptionHighlighted, "#lines")
    def moved(self, event: OptionList.OptionHighlighted) -> None:
        """Choose a line. At the first one, earlier lines are read too."""
        event.stop()
        if event.option_index == 0 and self.conversation.more:
            self.conversation.read_more()
            self.ask(self.conversation.queries()[0])
        self.choose_line(int(event.option.id or 0))

    @on(OptionList.OptionSelected, "#lines")
    async def opened(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        await self.run_action("app.pane(1)")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        said = clean(event.value)
        if said:
            self._said = said
            event.input.value = ""
            self.conversation.at = None
            self.show_status("said; waiting for the answer …")
            self.perform(ActionRequest(Action.SAY, {"text": said}))

    def only_read(self) -> None:
        """Let nobody type what could not be said."""
        line = self.query_one(LineInput)
        line.disabled, line.placeholder = True, "read-only; to speak: noodlings studio --url ADDRESS"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """Offer no key to speak where nothing can be said."""
        return action != "type" or not self.query_one(LineInput).disabled

    def _show(self, draw: Draw) -> None:
        self.query_one("#why-text", Drawing).show(draw)

    @on(Rows.Resized)
    def _draw_lines(self) -> None:
        talk, rows = self.conversation, self._rows
        before = self._folded
        self._folded = {}
        shown_age = ""
        for line in talk.lines:
            age = ago(line.age)
            text = _exchange(talk.name, line, line.id == talk.chosen, "" if age == shown_age else age)
            shown_age = age
            known = before.get(str(line.id))
            if known is None or known[:2] != (text, rows.room):
                known = text, rows.room, Text.assemble(text[:2], folded(text[2:], rows.room, 2))
            self._folded[str(line.id)] = known
        changed = rows.show({key: row for key, (_, _, row) in self._folded.items()})
        with self.prevent(OptionList.OptionHighlighted):  # the user did not move
            ids = list(self._folded)
            rows.highlighted = ids.index(str(talk.chosen)) if str(talk.chosen) in ids else None
        if changed and talk.at is None:
            rows.scroll_end(animate=False)
            self.call_after_refresh(rows.scroll_to_highlight)


def _exchange(name: str, line: EntryView, chosen: bool, age: str) -> Text:
    how = {"thought": "thinks ", "whisper": "whispers "}.get(line.kind, "")
    said = Text.assemble((f"{'▸' if chosen else ' '} {clean(line.name)} ", LOUD), (how, QUIET))
    said.append(clean(line.text)).append(f"  {age}", style=QUIET)
    if line.response:
        said.append(f"\n{clean(name)} ", style=f"{LOUD} {ACCENT}").append(clean(line.response))
    return said


def _steps_text(steps: Sequence[str], width: int, height: int) -> Text:
    return Text("\n").join(
        Text.assemble(("… " if step == "thinking" else "✓ ", ACCENT), STEPS.get(step, clean(step)))
        for step in steps
    )
